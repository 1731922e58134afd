"""How the list of files that may pass at their second try is read and judged."""
import datetime
import unittest

import quarantine
from rules.retries import violations

TODAY = datetime.date(2026, 3, 5)
KNOWN = {"BrokerTests.One", "BrokerTests.Two", "LabTests.LabTests", "PageTests.Four"}


class RetriesTests(unittest.TestCase):
    def complaints(self, *listed):
        text = "# why\n" + "".join(f"{line}\n" for line in listed)
        return [(line, sentence) for _, line, sentence in violations(text, KNOWN, TODAY)]

    def test_lines_that_hold(self):
        """a line of today and one that is seven days old hold, and no list holds nothing"""
        lines = ["BrokerTests.One 2026-03-05 the broker drops", "LabTests.LabTests 2026-02-26 the guest stalls"]
        self.assertEqual(self.complaints(*lines), [])
        self.assertEqual(quarantine.names("\n".join(lines), TODAY), {"BrokerTests.One", "LabTests.LabTests"})
        self.assertEqual(self.complaints(), [])
        self.assertEqual(quarantine.names("", TODAY), set())

    def test_dates(self):
        """a line that is eight days old, one of tomorrow and one of no day excuse nothing, and are refused"""
        for date, words in [("2026-02-25", "older than 7 days"), ("2026-03-06", "yet to come"), ("2026-02-30", "is not a file"),
                            ("20260305", "is not a file")]:
            line = f"BrokerTests.One {date} the broker drops"
            [(number, sentence)] = self.complaints(line)
            self.assertEqual(number, 2)
            self.assertIn(words, sentence)
            self.assertEqual(quarantine.names(line, TODAY), set())

    def test_names(self):
        """a file that is not there, one without the tag, one that is listed twice, and a line without a reason are refused"""
        for name in ["BrokerTests.Three", "CoreTests.Core", "One"]:
            [(_, sentence)] = self.complaints(f"{name} 2026-03-05 why")
            self.assertRegex(sentence, "no file with the tag .outside|is not a file")
        [(number, sentence)] = self.complaints("BrokerTests.One 2026-03-05 why", "BrokerTests.One 2026-03-04 why")
        self.assertEqual((number, sentence), (3, "BrokerTests.One is listed twice; remove the line"))
        [(_, sentence)] = self.complaints("BrokerTests.One 2026-03-05")
        self.assertIn("is not a file, a date and a reason", sentence)

    def test_surplus(self):
        """a fourth line is refused, and a list that is too long excuses none of its files"""
        lines = [f"{name} 2026-03-05 why" for name in ["BrokerTests.One", "BrokerTests.Two", "LabTests.LabTests", "PageTests.Four"]]
        [(number, sentence)] = self.complaints(*lines)
        self.assertEqual(number, 5)
        self.assertIn("more than 3 files", sentence)
        self.assertEqual(quarantine.names("\n".join(lines), TODAY), set())
        self.assertEqual(len(quarantine.names("\n".join(lines[:3]), TODAY)), 3)
