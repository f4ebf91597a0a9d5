"""Every rule of the Python package's layer law, broken once, and kept once."""

import unittest

import python_layers

P = "python/tailrace/"
L = "lab/tailrace_lab/"


class PythonLaw(unittest.TestCase):
    def complaints(self, lab=None, **texts):
        files = {P + name.replace("__", "/") + ".py": text for name, text in texts.items()}
        files |= {L + name.replace("__", "/") + ".py": text for name, text in (lab or {}).items()}
        return python_layers.check({P + "__init__.py": "", L + "__init__.py": "", **files})

    def test_imports_go_down(self):
        self.assertEqual(self.complaints(pictures__page="from tailrace import quantity\n", quantity=""), [])
        found = self.complaints(pictures__page="from tailrace.cli import run\n", cli__run="")
        self.assertEqual(len(found), 1)
        self.assertIn("pictures/page.py:1: tailrace.cli.run is not below tailrace.pictures", found[0])

    def test_an_own_folder_may_be_imported(self):
        self.assertEqual(self.complaints(cli__join="from . import boxes\nfrom .boxes import x\n", cli__boxes=""), [])

    def test_a_module_without_a_layer(self):
        found = self.complaints(fresh="import tailrace.quantity\n", quantity="")
        self.assertIn("'tailrace.fresh' has no layer", found[0])

    def test_circles(self):
        found = self.complaints(cli__a="from . import b\n", cli__b="def f():\n    from .a import g\n")
        self.assertEqual(len(found), 1)
        self.assertIn("circle", found[0])

    def test_the_laboratory_uses_what_is_public(self):
        lab = {"bench__a": "import tailrace\nfrom tailrace.cli import output\n"}
        self.assertEqual(self.complaints(lab=lab, cli__output=""), [])
        lab = {"bench__a": "from tailrace import opening\nfrom tailrace.cli.run import main\n"}
        found = self.complaints(lab=lab, opening="", cli__run="")
        self.assertEqual(len(found), 2)
        self.assertIn("tailrace.opening is not public", found[0])

    def test_the_product_does_not_know_the_laboratory(self):
        found = self.complaints(lab={"bench__a": ""}, cli__bench="from tailrace_lab.bench import a\n")
        self.assertEqual(len(found), 1)
        self.assertIn("tailrace must not know tailrace_lab", found[0])

    def test_imports_go_down_in_the_laboratory(self):
        found = self.complaints(lab={"bench__a": "from ..cli import b\n", "cli__b": ""})
        self.assertEqual(len(found), 1)
        self.assertIn("tailrace_lab.cli.b is not below tailrace_lab.bench", found[0])


if __name__ == "__main__":
    unittest.main()
