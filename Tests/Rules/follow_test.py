"""How Scripts/follow.py compares what a tutorial shows with what was printed."""
import unittest

import follow

PAIRS = [
    ("one\n…\nfour", "one\ntwo\nthree\nfour", True), ("one\n…\nfour", "one\ntwo", False),
    ("12:00:00.5 a", "2026-11-25 13:01:02 a", True), ("up 3 s", "up 14.2 s", True), ("up … s", "up x y s", True),
    ("bpm 62", "bpm 63", False), ("one", "one\ntwo", False), ("frozen 3 times", "frozen 4 times", True),
]


class FollowTests(unittest.TestCase):
    def test_shown(self):
        """what is shown is compared with what was printed, but for times, sizes and what an ellipsis stands for"""
        for shown, printed, is_equal in PAIRS:
            with self.subTest(shown):
                self.assertEqual(bool(follow.pattern(shown).fullmatch(follow.plain(printed))), is_equal, printed)
