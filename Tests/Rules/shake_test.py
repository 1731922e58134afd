"""Scripts/shake.py: it finds a planted fault that a free machine does not show, and nothing that it starts leaves its share."""
import os
import shutil
import sys

from bench import ROOT, InFolder, run

RACE = str(ROOT / "Tests/Rules/race.py")
# A process shows where the kernel counts its processor, and how many processors it may have.
LOOK = "import os; print(open('/proc/self/cgroup').read(), len(os.sched_getaffinity(0)))"


class ShakeTests(InFolder):
    def shake(self, *words, rounds=1):
        """From a copy of the scripts, as a run of the checkout itself may be under way."""
        shutil.copytree(ROOT / "Scripts", self.folder / "Scripts", dirs_exist_ok=True)
        variables = dict(os.environ, SHAKE_ROUNDS=str(rounds), SHAKE_SEED="1")
        return run([sys.executable, str(self.folder / "Scripts/shake.py"), sys.executable, *words], **variables)


class RaceTests(ShakeTests):
    def test_race(self):
        """a test that waits for a while in place of an event passes on a free machine, and fails when it is shaken"""
        self.assertIn(0, (run([sys.executable, RACE, "while"])[0] for _ in range(20)))
        status, output = self.shake(RACE, "while", rounds=5)
        self.assertEqual(status, 1, output)
        self.assertIn("\nFAIL: round ", output)


class EventTests(ShakeTests):
    def test_event(self):
        """a test that waits for the event itself passes when it is shaken"""
        status, output = self.shake(RACE, "event", rounds=2)
        self.assertEqual(status, 0, output)
        self.assertIn("\nPASS: 2 rounds with SHAKE_SEED=1, ", output)


class ShareTests(ShakeTests):
    def assert_shares(self, output):
        """It is in the group of the run or in one within it; where there is no group, it is on one processor."""
        if "by a cgroup" in output:
            self.assertRegex(output, r"(?m)^\d+:([\w,]*\bcpu\b[\w,]*)?:.*/wakebridge-shake-\d+(/|$)", output)
        else:
            self.assertIn("\n 1\n", output)

    def test_share(self):
        """a process that is shaken shares the core, and so does one that has namespaces and a cgroup of its own"""
        status, output = self.shake("-c", LOOK)
        self.assertEqual(status, 0, output)
        self.assert_shares(output)
        place = [str(self.folder / "Scripts/place.py"), "process", "shaken"]
        if os.geteuid() == 0 and run([sys.executable, *place, "true"])[0] == 0:
            status, output = self.shake(*place, sys.executable, "-c", LOOK)
            self.assertEqual(status, 0, output)
            self.assertRegex(output, r"(?m)^0::/.*tests-\d+-shaken$")
            self.assert_shares(output)
