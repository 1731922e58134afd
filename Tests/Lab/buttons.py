"""What a peripheral's case has: a display and keys that decide how pairing is confirmed, worked by the test."""
from bumble.pairing import PairingDelegate

ABILITY = {
    "none": PairingDelegate.NO_OUTPUT_NO_INPUT,                  # just works
    "display": PairingDelegate.DISPLAY_OUTPUT_ONLY,              # the central types our passkey
    "keyboard": PairingDelegate.KEYBOARD_INPUT_ONLY,             # we type the central's passkey
    "yesno": PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT,    # both compare a number
}


class Buttons(PairingDelegate):
    def __init__(self, case, ability):
        super().__init__(io_capability=ABILITY[ability])
        self.case = case

    async def generate_passkey(self):
        return self.case.options.passkey

    async def display_number(self, number, digits):
        self.case.log("display", number=f"{number:0{digits}}")

    async def compare_numbers(self, number, digits):
        self.case.log("compare", number=f"{number:0{digits}}")
        self.case.log.flush()
        return True

    async def get_number(self):
        """What the test has typed; it is waited for."""
        self.case.log("keys")
        self.case.log.flush()
        return await self.case.typed.get()
