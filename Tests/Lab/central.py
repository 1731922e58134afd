"""A central on btvirt's virtual air, written with Bumble; scripted through a Unix socket as a strap is.

In DIR its `strapN.log` has what happened to it: CLOCK_MONOTONIC seconds, a word, then key=value fields. Each value that it gets
is there as `notified`, each write as `written` once it has its response.

Commands:
    join NAME                  find the peripheral of this name, or of the heart rate service, connect and discover it
    bond                       pair, and encrypt the link from then on
    write UUID FIRST COUNT     numbers of two bytes from this one on, each after the response to the one before
    begin UUID                 the first piece of a long write, and no more
    subscribe UUID, unsubscribe UUID
    leave                      end the link
"""
import asyncio
import os

from bumble import att, hci, keys
from bumble.core import UUID
from bumble.device import Device, DeviceConfiguration, Peer
from bumble.pairing import PairingConfig, PairingDelegate

import strap
from diary import Log


class Central:
    def __init__(self, options):
        self.options = options
        self.log = Log(os.path.join(options.dir, f"strap{options.number}.log"))
        self.address = hci.Address(f"C0:DE:00:00:00:{0x10 + options.number:02X}")
        self.connection = self.peer = None

    async def start(self, transport):
        configuration = DeviceConfiguration(name="Lab Central", address=self.address)
        self.device = Device.from_config_with_hci(configuration, transport.source, transport.sink)
        self.device.keystore = keys.MemoryKeyStore()
        delegate = PairingDelegate(PairingDelegate.IoCapability.NO_OUTPUT_NO_INPUT)
        self.device.pairing_config_factory = lambda connection: PairingConfig(
            sc=True, mitm=False, bonding=True, delegate=delegate)
        await self.device.power_on()
        await asyncio.start_unix_server(self.serve, os.path.join(self.options.dir, f"strap{self.options.number}.sock"))
        self.log("ready", address=self.address)
        self.log.flush()
        await asyncio.Event().wait()

    serve = strap.Strap.serve

    async def do_join(self, name=""):
        found = asyncio.get_running_loop().create_future()

        def hear(advertisement):
            if b"\x0d\x18" in bytes(advertisement.data) and not found.done():
                found.set_result(advertisement.address)

        self.device.on("advertisement", hear)
        await self.device.start_scanning(filter_duplicates=False)
        address = await asyncio.wait_for(found, 60)
        await self.device.stop_scanning()
        self.connection = await self.device.connect(address)
        self.connection.on("disconnection", lambda reason: self.log("down", reason=reason))
        self.peer = Peer(self.connection)
        await self.peer.request_mtu(247)
        await self.discover()
        self.log("up", peer=address)

    async def discover(self):
        await self.peer.discover_services()
        await self.peer.discover_characteristics()

    async def do_bond(self):
        await self.connection.pair()
        await self.connection.encrypt()
        self.log("bonded")

    def found(self, uuid):
        return self.peer.get_characteristics_by_uuid(UUID(uuid))[0]

    async def do_write(self, uuid, first, count):
        for number in range(int(first), int(first) + int(count)):
            await self.found(uuid).write_value(number.to_bytes(2, "big"), with_response=True)
            self.log("written", number=number)

    async def do_begin(self, uuid):
        request = att.ATT_Prepare_Write_Request(
            attribute_handle=self.found(uuid).handle, value_offset=0, part_attribute_value=b"begun")
        await self.peer.gatt_client.send_request(request)
        self.log("begun")

    async def do_subscribe(self, uuid):
        def notified(value):
            self.log("notified", uuid=uuid, value=bytes(value).hex())
            self.log.flush()

        await self.found(uuid).subscribe(notified)

    async def do_unsubscribe(self, uuid):
        await self.found(uuid).unsubscribe()

    async def do_leave(self):
        await self.connection.disconnect()


def main(arguments=None):
    strap.main(arguments, Central)
