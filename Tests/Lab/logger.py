"""A logger with a classic Bluetooth serial port on btvirt's virtual air, written with Bumble; scripted as strap.py is.

    logger.py --dir DIR [--number N] [options]

Its address is btvirt's choice, told in its log (strapN.log) with `ready`. While its channel is open it says a numbered
line every so often, each in the log as `said`, just before it is sent; what it is told is `told`, in hexadecimal.

Commands:
    hang-up                    end the channel; the link stays for as long as the other side wants it
    drop                       end the link; whoever calls again is answered
    flood LINES                so many, as fast as it can say them
"""
import argparse
import asyncio
import os
import time

from bumble import hci, keys, rfcomm
from bumble.core import UUID
from bumble.device import Device, DeviceConfiguration
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.transport import open_transport

from diary import Log
from rhythm import pace

RECORD, CHANNEL = 0x00010001, 3


class Logger:
    def __init__(self, options):
        self.options = options
        self.log = Log(os.path.join(options.dir, f"strap{options.number}.log"))
        self.channel, self.said = None, 0

    async def start(self, transport):
        config = DeviceConfiguration(name=self.options.name, classic_enabled=True, le_enabled=False,
                                     class_of_device=0x001F00, connectable=True, discoverable=True)
        self.device = Device.from_config_with_hci(config, transport.source, transport.sink)
        self.device.keystore = keys.MemoryKeyStore()
        self.device.pairing_config_factory = lambda connection: PairingConfig(
            sc=True, mitm=False, bonding=True,
            delegate=PairingDelegate(PairingDelegate.IoCapability.NO_OUTPUT_NO_INPUT))
        port = rfcomm.Server(self.device).listen(self.on_channel, channel=CHANNEL)
        self.device.sdp_service_records = {
            RECORD: rfcomm.make_service_sdp_records(RECORD, port, UUID.from_16_bits(0x1101))}
        self.device.on(Device.EVENT_CONNECTION, self.on_connection)
        await self.device.power_on()
        await self.device.set_discoverable(True)
        await self.device.set_connectable(True)
        await asyncio.start_unix_server(self.serve, os.path.join(self.options.dir, f"strap{self.options.number}.sock"))
        self.log("ready", address=str(self.device.public_address).removesuffix("/P"))
        while True:
            self.say()
            self.log.flush()
            await pace(time.monotonic() + self.options.interval)

    def on_connection(self, connection):
        self.log("connected", peer=connection.peer_address, encrypted=connection.is_encrypted)
        connection.on(connection.EVENT_DISCONNECTION, lambda reason: self.on_end("link"))

    def on_channel(self, channel):
        self.channel = channel
        self.log("open")
        channel.sink = lambda data: self.log("told", hex=bytes(data).hex())
        channel.on(channel.EVENT_CLOSE, lambda: self.on_end("channel"))

    def on_end(self, what):
        self.channel = None
        self.log("closed", what=what)

    def say(self):
        if self.channel and self.channel.state == rfcomm.DLC.State.CONNECTED:
            self.said += 1
            line = f"{self.options.name},{self.said}"
            self.log("said", line=line)
            self.channel.write(line + "\r\n")

    # What the scenario has it do.

    async def serve(self, reader, writer):
        word, *arguments = (await reader.readline()).decode().split()
        try:
            answer = await getattr(self, "do_" + word.replace("-", "_"))(*arguments)
            said = f"ok {answer or ''}"
        except Exception as error:
            said = f"error {error!r}"
        self.log("command", name=word, said=said.replace(" ", "-"))
        self.log.flush()
        writer.write((said.strip() + "\n").encode())
        writer.close()

    async def do_hang_up(self):
        # Its answer is lost on Bumble where the other side ends the link on it.
        self.hanging_up = asyncio.ensure_future(self.channel.disconnect())

    async def do_drop(self):
        for connection in list(self.device.connections.values()):
            await connection.disconnect()

    async def do_flood(self, lines):
        for _ in range(int(lines)):
            self.say()
            await self.channel.drain()
            await pace(0)


async def live(kind, options):
    await kind(options).start(await open_transport(options.transport))


def parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", required=True)
    parser.add_argument("--number", type=int, default=0)
    parser.add_argument("--transport", default="unix:/tmp/bt-server-bredrle")
    parser.add_argument("--name", default="LabLogger")
    parser.add_argument("--interval", type=float, default=0.2, help="seconds between lines")
    return parser


def main(arguments=None):
    asyncio.run(live(Logger, parser().parse_args(arguments)))


if __name__ == "__main__":
    main()
