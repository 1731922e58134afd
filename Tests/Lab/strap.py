"""A heart-rate strap on btvirt's virtual air, written with Bumble; scripted through a Unix socket.

    strap.py --dir DIR [--number N] [options]

Strap N has the address C0:DE:00:00:00:10 + N, and in DIR:

    strapN.sock   its commands, one a line, each answered by one line: "ok ..." or "error ..."
    strapN.log    what happened to it: CLOCK_MONOTONIC seconds, a word, then key=value fields

Every beat is in the log, written just before it is sent, with its running number, which its value carries too (as its
RR-Interval): `notify` where the peer has subscribed, `unsubscribed` where it has not, `alone` where there is no link.
Once told to be a `heart`, its values are those of a heart at training instead, and the log has them.

Commands:
    drop                       end the link (it keeps advertising: the peer may come straight back)
    vanish, appear             drop and advertise no more; advertise
    flicker COUNT              vanish, be heard so often, gone each time before anybody can connect, and appear
    lose                       find the link dead: btvirt tells nobody when the other side's controller is switched off
    keep-cccd, forget-cccd     on a bonded peer's return, restore its subscriptions (the standard), or not
    deaf COUNT                 and ignore, while answering well, the first COUNT subscriptions on every new link
    forget-bond                lose the bond, as after a battery change
    change-services            other firmware: another service in front, all handles move, Service Changed is indicated
    ability WORD, type NUMBER  what its case has from now on (buttons.py); work its keys
    heart, contact on|off      from the next beat on be one (heart.py); whether it feels the skin then
    flood BEATS                so many, as fast as it can say them
    size BYTES (- for the usual four), battery PERCENT
"""
import argparse
import asyncio
import os
import struct
import time
import types

from bumble import att, gatt, hci, keys
from bumble.core import AdvertisingData, UUID
from bumble.device import Device, DeviceConfiguration
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.pairing import PairingConfig
from bumble.transport import open_transport

from buttons import ABILITY, Buttons
from diary import Log
from heart import Heart
from rhythm import pace

READ, WRITE, NOTIFY = (Characteristic.Properties.READ, Characteristic.Properties.WRITE,
                       Characteristic.Properties.NOTIFY)
QUIET = Characteristic.Properties.WRITE_WITHOUT_RESPONSE
CAN_READ, CAN_WRITE = Characteristic.Permissions.READABLE, Characteristic.Permissions.WRITEABLE
NOTES = "5f0f0002-1ab0-4c7a-9e33-000000000001"  # holds up to 512 bytes, written with or without response


class Strap:
    ADVERTISED = b"\x0d\x18\x0f\x18"                       # heart rate, battery
    APPEARANCE = 0x0341                                      # a heart-rate belt

    def __init__(self, options):
        self.options, self.ability = options, options.ability
        self.log = Log(os.path.join(options.dir, f"strap{options.number}.log"))
        self.address = hci.Address(f"C0:DE:00:00:00:{0x10 + options.number:02X}")
        self.name = os.fsencode(options.name)                # any bytes: names need not be UTF-8
        self.interval, self.size, self.percent = options.interval, None, options.percent
        self.keeps_cccd, self.deafness, self.deaf = not options.forget_cccd, 0, 0
        self.kept = {}                                       # peer -> {uuid: CCCD}: its flash memory
        self.notes = b"nothing yet"
        self.connection = None
        self.wants_advertising = True
        self.sent, self.firmware = 0, 1
        self.shouting, self.typed = asyncio.Lock(), asyncio.Queue()
        self.heart = None

    # What it offers.

    def services(self):
        self.measurement = Characteristic("2A37", NOTIFY, Characteristic.Permissions(0), b"")
        location = Characteristic("2A38", READ, CAN_READ, b"\x01")                     # chest
        control = Characteristic("2A39", WRITE, CAN_WRITE, CharacteristicValue(write=self.on_control))
        self.level = Characteristic("2A19", READ | NOTIFY, CAN_READ,
                                    CharacteristicValue(read=lambda peer: bytes([self.percent])))
        notes = Characteristic(NOTES, READ | WRITE | QUIET, CAN_READ | CAN_WRITE,
                               CharacteristicValue(read=lambda peer: self.notes, write=self.on_notes))
        front = [Service(UUID("5f0f0000-1ab0-4c7a-9e33-000000000001"), [
            Characteristic("2A00", READ, CAN_READ, b"x" * self.firmware)])] if self.firmware > 1 else []
        return front + [Service("180D", [self.measurement, location, control]), Service("180F", [self.level]),
                        Service(UUID("5f0f0001-1ab0-4c7a-9e33-000000000001"), [notes])]

    def on_control(self, peer, value):
        self.log("control", value=value.hex())
        if value != b"\x01":                                 # Reset Energy Expended is the only one
            raise att.ATT_Error(error_code=0x80, message="Control Point Not Supported")

    def on_notes(self, peer, value):
        self.log("notes", size=len(value))
        self.notes = bytes(value)

    def install(self):
        """Lays out the attribute table again: GAP, GATT, ours."""
        server = self.device.gatt_server
        server.services.clear()
        server.attributes.clear()
        server.attributes_by_handle.clear()
        self.device.add_default_services()
        gap = server.get_service_attribute(gatt.GATT_GENERIC_ACCESS_SERVICE)
        gap.device_name_characteristic.value = self.name
        self.device.add_services(self.services())

    # Its life.

    def shown(self):
        """What it advertises, and what it answers to who asks for more."""
        return (bytes(AdvertisingData([(AdvertisingData.FLAGS, b"\x06"),
            (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, self.ADVERTISED),
            (AdvertisingData.APPEARANCE, struct.pack("<H", self.APPEARANCE))])),
            bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, self.name[:29])])))

    async def start(self, transport):
        kinds, answer = self.shown()
        config = DeviceConfiguration(name="Strap", address=self.address, advertising_data=kinds,
            scan_response_data=answer, irk=bytes([self.options.number + 1] * 16),
            advertising_interval_min=100, advertising_interval_max=100)
        self.device = Device.from_config_with_hci(config, transport.source, transport.sink)
        self.device.keystore = keys.MemoryKeyStore()
        self.device.pairing_config_factory = lambda connection: PairingConfig(
            sc=True, mitm=self.ability != "none", bonding=True, delegate=Buttons(self, self.ability),
            identity_address_type=PairingConfig.AddressType.RANDOM)
        self.write_cccd = self.device.gatt_server.write_cccd
        self.device.gatt_server.write_cccd = self.on_cccd
        self.install()
        self.device.on(Device.EVENT_CONNECTION, self.on_connection)
        await self.device.power_on()
        await self.advertise()
        await asyncio.start_unix_server(self.serve, os.path.join(self.options.dir, f"strap{self.options.number}.sock"))
        self.log("ready", address=self.address)
        self.log.flush()
        await asyncio.gather(self.beat(), self.shout())

    async def advertise(self):
        async with self.shouting:
            if self.wants_advertising and not self.connection:
                await self.begin_advertising()

    async def begin_advertising(self):
        await self.switch_off()
        await self.device.start_advertising(own_address_type=hci.OwnAddressType.RANDOM)
        self.log("advertising")

    async def shout(self):
        """btvirt carries an advertisement only when it is switched on, and real straps repeat themselves."""
        while True:
            await pace(time.monotonic() + 0.25)
            async with self.shouting:
                if self.wants_advertising and not self.connection:
                    try:
                        await (self.switch_off_and_on() if self.device.is_advertising else self.begin_advertising())
                    except Exception as error:               # it was connected meanwhile
                        self.log("hushed", error=repr(error))

    async def switch_off_and_on(self):
        """Who connects in between would find nobody, and kernel 6.1 does not try again."""
        await self.switch(0, 1)

    async def switch(self, first, second):
        """Its advertising, twice in one write, so that nothing else can happen in between."""
        host = self.device.host
        sink = host.hci_sink
        one, other = (hci.HCI_LE_Set_Advertising_Enable_Command(advertising_enable=n) for n in (first, second))

        def both(packet):
            host.hci_sink = sink
            sink.on_packet(bytes(one) + packet)

        host.hci_sink = types.SimpleNamespace(on_packet=both)
        await self.device.send_sync_command(other)

    async def switch_off(self):
        """Whatever Bumble believes: who was connected while it was switched on again would be advertising still."""
        await self.device.send_sync_command_raw(hci.HCI_LE_Set_Advertising_Enable_Command(advertising_enable=0))

    def on_connection(self, connection):
        self.connection, self.deaf = connection, self.deafness
        self.log("connected", peer=connection.peer_address)
        connection.on(connection.EVENT_DISCONNECTION, lambda reason: self.on_disconnection(connection, reason))
        connection.on(connection.EVENT_PAIRING, lambda keys: self.log("bonded"))
        connection.on(connection.EVENT_PAIRING_FAILURE, lambda reason: self.log("pairing-failed", reason=reason))
        connection.on(connection.EVENT_CONNECTION_ENCRYPTION_CHANGE, lambda *_: self.on_encrypted(connection))

    def on_encrypted(self, connection):
        self.log("encrypted", on=bool(connection.encryption))
        kept = self.kept.get(str(connection.peer_address), {}) if self.keeps_cccd else {}
        for characteristic in (self.measurement, self.level):
            if value := kept.get(characteristic.uuid.to_hex_str()):
                self.device.gatt_server.subscribers.setdefault(connection, {})[characteristic.handle] = value
                self.log("restored", uuid=characteristic.uuid.to_hex_str(), cccd=value.hex())
                self.log.flush()

    def on_cccd(self, bearer, characteristic, value):
        uuid = characteristic.uuid.to_hex_str()
        if value[0] and self.deaf > 0 and characteristic is self.measurement:
            self.deaf -= 1
            return self.log("ignored", uuid=uuid, cccd=value.hex())
        self.log("subscription", uuid=uuid, cccd=value.hex())
        self.log.flush()                                     # who hears the next beat looks for it
        self.kept.setdefault(str(bearer.peer_address), {})[uuid] = value
        self.write_cccd(bearer, characteristic, value)

    def on_disconnection(self, connection, reason):
        self.log("disconnected", reason=f"{reason:#04x}")
        if self.connection is connection:
            self.connection = None
        asyncio.create_task(self.advertise())

    # Its heart.

    def subscribed(self, characteristic):
        table = self.device.gatt_server.subscribers.get(self.connection) or {}
        return bool((table.get(characteristic.handle) or b"\0")[0] & 1)

    def value(self):
        """Flags (contact, RR-Interval), 72 beats per minute, the running number; cut or padded to `size`."""
        if self.heart:
            return self.heart.measurement(time.monotonic())
        value = struct.pack("<BBH", 0x16, 72, self.sent & 0xFFFF)
        return value if self.size is None else value[:self.size].ljust(self.size, b"\xa5")

    async def notify(self):
        self.sent += 1
        peer = self.connection
        subscribed = bool(peer) and self.subscribed(self.measurement)
        value = self.value() if subscribed else b""
        more = {"value": value.hex()} if self.heart and subscribed else {}
        self.log("notify" if subscribed else "unsubscribed" if peer else "alone", n=self.sent, **more)
        if subscribed:
            await self.device.gatt_server.notify_subscriber(peer, self.measurement, value)

    async def beat(self):
        due = flushed = time.monotonic()
        while True:
            due += self.interval
            now = time.monotonic()
            if due < now - 1:                                # hopelessly late: do not pile up
                self.log("late", seconds=f"{now - due:.3f}")
                due = now
            await pace(due)
            try:
                await self.notify()
            except Exception as error:                       # the link went away while sending
                self.log("failed", n=self.sent, error=repr(error))
            if due - flushed > 0.2:
                self.log.flush()
                flushed = due

    # Its commands.

    async def serve(self, reader, writer):
        while line := (await reader.readline()).decode().strip():
            word, *rest = line.split()
            self.log("command", line=repr(line))
            try:
                answer = await getattr(self, "do_" + word.replace("-", "_"))(*rest)
                word = f"ok {answer or ''}".strip()
            except Exception as error:
                word = f"error {error!r}"
            self.log.flush()
            writer.write((word + "\n").encode())
            await writer.drain()
        writer.close()

    async def do_drop(self):
        """Ends the link; one that the other side has given up already can only be found dead."""
        if self.connection:
            try:
                await self.connection.disconnect()
            except Exception as error:
                self.log("undroppable", error=repr(error))
                await self.do_lose()

    async def do_vanish(self):
        self.wants_advertising = False
        async with self.shouting:
            await self.device.stop_advertising()
            await self.switch_off()
        await self.do_drop()

    async def do_lose(self):
        if self.connection:
            gone = hci.HCI_Disconnection_Complete_Event(status=0, connection_handle=self.connection.handle, reason=0x08)
            self.device.host.on_packet(bytes(gone))

    async def do_appear(self):
        self.wants_advertising = True
        await self.advertise()

    async def do_keep_cccd(self):
        self.keeps_cccd, self.deafness = True, 0

    async def do_forget_cccd(self):
        self.keeps_cccd = False

    async def do_deaf(self, count):
        self.keeps_cccd, self.deafness = False, int(count)

    async def do_forget_bond(self):
        await self.device.keystore.delete_all()
        self.kept.clear()

    async def do_change_services(self):
        self.firmware += 1
        old = self.device.gatt_server.subscribers.pop(self.connection, {}) if self.connection else {}
        wants_to_know = old.get(self.device.gatt_service.service_changed_characteristic.handle)
        self.kept.clear()
        self.install()
        if wants_to_know:
            changed = self.device.gatt_service.service_changed_characteristic
            self.device.gatt_server.subscribers[self.connection] = {changed.handle: wants_to_know}
            await self.device.indicate_subscribers(changed, struct.pack("<HH", 1, 0xFFFF))
        return "indicated" if wants_to_know else "silently"

    async def do_flicker(self, count):
        await self.do_vanish()
        for _ in range(int(count)):
            await pace(time.monotonic() + 2)                 # time to listen again
            async with self.shouting:
                self.log("flickers")
                await self.switch(1, 0)
        await pace(time.monotonic() + 1)
        await self.do_appear()

    async def do_size(self, size):
        self.size = None if size == "-" else int(size)

    async def do_battery(self, percent):
        self.percent = int(percent)
        if self.connection and self.subscribed(self.level):
            await self.device.gatt_server.notify_subscriber(self.connection, self.level)

    async def do_flood(self, beats):
        begun = time.monotonic()
        for _ in range(int(beats)):
            await self.notify()
            await pace(0)
        return f"beats={beats} seconds={time.monotonic() - begun:.3f}"

    async def do_ability(self, word):
        self.ability = ABILITY[word] and word

    async def do_type(self, number):
        self.typed.put_nowait(int(number))

    async def do_heart(self):
        self.heart = Heart()

    async def do_contact(self, word):
        self.heart.contact = word == "on"


async def live(kind, options):
    await kind(options).start(await open_transport(options.transport))


def parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", required=True)
    parser.add_argument("--number", type=int, default=0)
    parser.add_argument("--transport", default="unix:/tmp/bt-server-le")
    parser.add_argument("--name", default="Lab Strap")
    parser.add_argument("--interval", type=float, default=1.0, help="seconds between beats")
    parser.add_argument("--ability", choices=ABILITY, default="none")
    parser.add_argument("--passkey", type=int, default=123456)
    parser.add_argument("--forget-cccd", action="store_true")
    parser.add_argument("--percent", type=int, default=93, help="how full its battery is")
    return parser


def main(arguments=None, kind=Strap):
    asyncio.run(live(kind, parser().parse_args(arguments)))


if __name__ == "__main__":
    main()
