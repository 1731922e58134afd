"""A peripheral of the library, played by its published messages; scripted as strap.py is.

    peripheral.py --dir DIR --device NAME [--number N]

It has the characteristics of its messages, and those that it is asked by. Once told to `speak`, it waits until it is heard,
where its profile asks for the first question too, and says its messages one after the other. `done` stands in its log then.
"""
import asyncio
import time

from bumble.core import UUID
from bumble.gatt import Characteristic, CharacteristicValue, Service

import strap
from published import ROOM, Published, short, structure
from rhythm import pace

OWN = "5f0f0004-1ab0-4c7a-9e33-000000000001"                 # of a device that is known by its name alone
# It waits so long for a question, in seconds.
PATIENCE = 3


class Peripheral(strap.Strap):
    def __init__(self, options):
        self.device_played = Published(options.device)
        options.interval = 0.3
        options.name = self.device_played.prefix or "Lab " + options.device
        super().__init__(options)
        profile = self.device_played.profile
        self.notified, self.was_read = self.device_played.notified, self.device_played.was_read
        self.asked_at = {short(question["to"]) for questions in profile.get("ask", {}).values() for question in questions}
        self.to_say, self.armed, self.was_asked, self.speaks = [], None, False, False

    # What it shows and offers.

    def shown(self):
        """Its name goes into the answer, and so does what else has no room."""
        parts = [structure(0x01, b"\x06"), *filter(None, [self.device_played.shown()]), *self.device_played.listed()]
        name = structure(0x09, self.name[:ROOM - 2])
        first, answer = b"", b""
        for part in [*parts, name]:
            if len(first) + len(part) <= ROOM and part is not name:
                first += part
            elif len(answer) + len(part) <= ROOM:
                answer += part
        return first, answer

    def services(self):
        super().services()
        said = self.device_played.said()
        first = {}
        for stream, pieces, _ in said:
            first.setdefault(stream, b"".join(pieces))
        self.offered = {uuid: self.characteristic(uuid, first.get(uuid, b"")) for uuid in [*first, *sorted(self.asked_at)]}
        # What is only read is not said.
        self.to_say = [one for one in said if one[0] in self.notified]
        uuids = self.device_played.services or [OWN]
        return [Service(UUID(uuids[0]), list(self.offered.values())), *(Service(UUID(uuid), []) for uuid in uuids[1:])]

    def characteristic(self, uuid, value):
        properties, permissions = strap.Characteristic.Properties(0), Characteristic.Permissions(0)
        if uuid in self.notified:
            properties |= strap.NOTIFY
        if uuid in self.was_read:
            properties, permissions = properties | strap.READ, permissions | strap.CAN_READ
        if uuid in self.asked_at:
            properties, permissions = properties | strap.WRITE | strap.QUIET, permissions | strap.CAN_WRITE
        access = CharacteristicValue(read=lambda peer: value, write=self.on_question)
        return Characteristic(UUID(uuid), properties, permissions, access)

    def on_question(self, peer, value):
        self.log("question", hex=bytes(value).hex())
        self.was_asked = True

    # What it says.

    def is_heard(self):
        armed = bool(self.connection) and all(self.subscribed(self.offered[one[0]]) for one in self.to_say)
        if not armed or not self.armed:
            self.armed = time.monotonic() if armed else None
        return armed and (self.was_asked or not self.asked_at or time.monotonic() - self.armed > PATIENCE)

    async def notify(self):
        """The next message."""
        if not self.is_heard() or not self.speaks:
            return
        if not self.to_say:
            self.speaks = False
            self.log("done")
            return
        stream, pieces, pause = self.to_say.pop(0)
        await pace(time.monotonic() + pause)
        for piece in pieces:
            await self.device.gatt_server.notify_subscriber(self.connection, self.offered[stream], piece)
            self.log("said", stream=stream, hex=piece.hex())

    async def do_speak(self):
        self.speaks = True

    def on_encrypted(self, connection):
        """It forgets its subscriptions."""
        self.log("encrypted", on=bool(connection.encryption))

    def on_cccd(self, bearer, characteristic, value):
        self.log("subscription", uuid=characteristic.uuid.to_hex_str(), cccd=value.hex())
        self.write_cccd(bearer, characteristic, value)


def main(arguments=None):
    parser = strap.parser()
    parser.add_argument("--device", required=True, help="the name of its folder")
    asyncio.run(strap.live(Peripheral, parser.parse_args(arguments)))


if __name__ == "__main__":
    main()
