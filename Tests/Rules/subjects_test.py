"""Which subjects of commits are refused."""
import unittest

from rules.subjects import faults


class SubjectsTests(unittest.TestCase):
    def test_subjects(self):
        """a subject without an area, with a capital, a full stop or over 72 characters is refused"""
        good = ["tests: wait for messages until none arrive", "mqtt: read \"a\" again", "v0.31: add notes"]
        bad = ["Wait for messages", "tests: Wait", "tests: wait.", "tests: " + "x" * 66, "tests wait"]
        self.assertEqual(list(faults(good)), [])
        self.assertEqual(len(list(faults(bad))), len(bad))
