"""The scanner of Swift text: what of it is code, and what a rule finds there."""
import re
import unittest

from rules.style import FORCED
from rules.swift_text import code_of


class SwiftTextTests(unittest.TestCase):
    def test_code(self):
        """comments and literals are blanked, and what is interpolated stays"""
        self.assertEqual(code_of(r'a("b! \(c("d!")!) e!") // f!'), "a(     (c(    )!)    )      ")
        self.assertEqual(code_of("a /* b /* c */ d */ e"), "a" + " " * 19 + "e")
        self.assertEqual(code_of('#"a\\"# + b'), " " * 7 + "+ b")
        self.assertEqual(code_of('x = #"\\(y) \\#(z)"# // "'), "x = " + " " * 9 + "(z)" + " " * 7)
        self.assertEqual(code_of('"""\na "b"\n""" + c'), "   \n     \n    + c")
        self.assertEqual(code_of('"\\"" + #if'), "     + #if")

    def test_forced(self):
        """a value that is forced is told from an inequality and a negation"""
        for text in ["a!", "f()!.b", "try! f()", "a[0]!", "x as! Y", "let a: B!"]:
            self.assertTrue(re.search(FORCED, text), text)
        self.assertFalse(re.search(FORCED, "a != b && !c"))
