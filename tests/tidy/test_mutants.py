"""The rule of the planted faults, broken and kept."""

import unittest

import mutants

FAULT = {"name": "a fault", "file": "src/a.cpp", "find": "x = 1;"}


class Faults(unittest.TestCase):
    def test_found_once(self):
        self.assertIsNone(mutants.check_fault(FAULT, "int x = 1;"))

    def test_gone(self):
        self.assertIn("has 0 times", mutants.check_fault(FAULT, "int x = 2;"))
        self.assertIn("no such file", mutants.check_fault(FAULT, None))

    def test_ambiguous(self):
        self.assertIn("has 2 times", mutants.check_fault(FAULT, "int x = 1; int xx = 1;"))
