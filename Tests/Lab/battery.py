"""A peripheral with nothing but a battery that runs low: strap.py without a heart, with the same commands."""
from bumble.gatt import Service

import strap


class Battery(strap.Strap):
    ADVERTISED = b"\x0f\x18"
    APPEARANCE = 0

    def services(self):
        super().services()
        return [Service("180F", [self.level])]

    async def notify(self):
        """It has no beats to tell of."""


def main(arguments=None):
    strap.main(arguments, Battery)


if __name__ == "__main__":
    main()
