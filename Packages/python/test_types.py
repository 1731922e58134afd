"""Has mypy check the module, and a program with it: python3 -m unittest test_types."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = """
import wakehandler
async def work(session: wakehandler.AsyncSession) -> None:
    answer: wakehandler.Answer = await session.alarm("tea", in_s=4, days=["mon"])
    data: bytes = await session.read("strap")
    async for event in session:
        with event:
            kind: wakehandler.EventKind = event.kind
for event in wakehandler.Session():
    event.done("nothing")
pending: list[wakehandler.Pending] = wakehandler.Session().pending()
"""


@unittest.skipUnless(shutil.which("mypy"), "no mypy")
class TypeTest(unittest.TestCase):
    """All checks share a cache, because the first one of a cache reads the types of Python itself."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cache = folder.name

    def check(self, *words):
        outcome = subprocess.run(["mypy", "--strict", "--cache-dir", self.cache, *words], text=True, check=False,
                                 stdout=subprocess.PIPE, cwd=pathlib.Path(__file__).parent)
        return outcome.stdout

    def test_the_module_and_a_program_pass_and_a_wrong_word_does_not(self):
        self.assertEqual(self.check("-p", "wakehandler")[:7], "Success")
        self.assertEqual(self.check("-c", PROGRAM)[:7], "Success")
        wrong = self.check("-c", PROGRAM.replace('"nothing"', '"splendid"'))
        self.assertIn("incompatible type \"Literal['splendid']\"", wrong)


if __name__ == "__main__":
    unittest.main()
