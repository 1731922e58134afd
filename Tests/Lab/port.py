"""A device of the library with a classic Bluetooth serial port, played by its published messages; see logger.py.

Once told to `speak`, it says them one after the other; `done` stands in its log then.
"""
import asyncio

import logger
from bumble import rfcomm
from published import Published


class Port(logger.Logger):
    def __init__(self, options):
        device = Published(options.device)
        options.name, options.interval = device.prefix, 0.3
        super().__init__(options)
        self.to_say, self.speaks = device.said(), False

    def say(self):
        if not self.speaks or not self.channel or self.channel.state != rfcomm.DLC.State.CONNECTED:
            return
        if not self.to_say:
            self.speaks = False
            self.log("done")
            return
        _, pieces, _ = self.to_say.pop(0)
        for piece in pieces:
            self.log("said", hex=piece.hex())
            self.channel.write(piece)

    async def do_speak(self):
        self.speaks = True


def main(arguments=None):
    parser = logger.parser()
    parser.add_argument("--device", required=True, help="the name of its folder")
    asyncio.run(logger.live(Port, parser.parse_args(arguments)))


if __name__ == "__main__":
    main()
