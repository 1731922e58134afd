"""What is around the machine under test: one strap, and the controller of the adapter that the machine finds or misses.

    around.py --dir DIR

The strap is the lab's, with its log and its commands. The machine's emulator offers its radio's bytes at DIR/radio.sock;
whenever it does, a controller answers there, always with the same address. A machine that is cut off takes its controller
along, and the strap finds its link dead. Both controllers are Bumble's, so the strap outlives the machine with its bond.
"""
import asyncio
import os
import sys
import time
import types

from bumble import hci
from bumble.controller import Controller
from bumble.link import LocalLink
from bumble.transport import open_transport
from bumble.transport.common import PacketParser

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Lab"))
import strap  # noqa: E402
from rhythm import pace  # noqa: E402

ADAPTER = "00:AA:01:00:00:42/P"
# What kernels use where it is offered, and these controllers have no complete answer to.
LEGACY = hci.LeFeatureMask.LE_ENCRYPTION


class Air(LocalLink):
    """Carries data from the address that a connection was made with; Bumble's takes a random one for granted."""

    def send_acl_data(self, sender_controller, destination_address, transport, data):
        receiver = self.find_le_controller(destination_address)
        source = next((one.self_address for one in sender_controller.le_connections.values()
                       if one.peer_address == destination_address), None)
        if receiver and source:
            asyncio.get_running_loop().call_soon(receiver.on_link_acl_data, source, transport, data)


class Wire:
    """From a host in this process to its controller: whole packets, however many were written at once."""

    def __init__(self, controller):
        self.parser = PacketParser(types.SimpleNamespace(on_packet=self.carry))
        self.controller = controller

    def on_packet(self, packet):
        self.parser.feed_data(packet)

    def carry(self, packet):
        asyncio.get_running_loop().call_soon(self.controller.on_packet, packet)


class Worn(strap.Strap):
    async def shout(self):
        """These controllers repeat their advertisements themselves."""


def controller(name, air, **options):
    made = Controller(name, link=air, **options)
    made.le_features = LEGACY
    return made


async def lend_radio(path, air, own):
    """One controller after another, each for as long as the machine's emulator lives."""
    while True:
        await pace(time.monotonic() + 0.2)
        try:
            transport = await open_transport("unix:" + path)
        except Exception:  # no machine runs
            continue
        lent = controller("adapter", air, host_source=transport.source, host_sink=transport.sink, public_address=ADAPTER)
        print("the adapter's wire is there", flush=True)
        await transport.source.terminated
        print("the machine is gone", flush=True)
        air.remove_controller(lent)
        # The other side hears nothing any more, as after a supervision timeout.
        for connection in list(own.le_connections.values()):
            own.on_le_disconnected(connection, hci.HCI_CONNECTION_TIMEOUT_ERROR)


async def live(options):
    air, worn = Air(), Worn(options)
    own = controller("strap", air)
    lends = asyncio.create_task(lend_radio(os.path.join(options.dir, "radio.sock"), air, own))
    await worn.start(types.SimpleNamespace(source=own, sink=Wire(own)))
    await lends


if __name__ == "__main__":
    asyncio.run(live(strap.parser().parse_args(sys.argv[1:])))
