"""Every rule of the Python package's layer law, broken once, and kept once."""

import unittest

import python_layers

P = "python/tailrace/"


class PythonLaw(unittest.TestCase):
    def complaints(self, **texts):
        files = {P + name.replace("__", "/") + ".py": text for name, text in texts.items()}
        return python_layers.check({P + "__init__.py": "", **files})

    def test_imports_go_down(self):
        self.assertEqual(self.complaints(bench__core="from tailrace import quantity\n", quantity=""), [])
        found = self.complaints(bench__core="from tailrace.cli import run\n", cli__run="")
        self.assertEqual(len(found), 1)
        self.assertIn("bench/core.py:1: tailrace.cli.run is not below tailrace.bench", found[0])

    def test_an_own_folder_may_be_imported(self):
        self.assertEqual(self.complaints(bench__core="from . import load\nfrom .load import x\n", bench__load=""), [])

    def test_a_module_without_a_layer(self):
        found = self.complaints(fresh="import tailrace.quantity\n", quantity="")
        self.assertIn("'fresh' has no layer", found[0])

    def test_circles(self):
        found = self.complaints(bench__a="from . import b\n", bench__b="def f():\n    from .a import g\n")
        self.assertEqual(len(found), 1)
        self.assertIn("circle", found[0])


if __name__ == "__main__":
    unittest.main()
