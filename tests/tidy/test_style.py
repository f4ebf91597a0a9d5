"""Every rule of the style check, broken once, and kept once."""

import unittest

import functions
import sources
import style


class Lines(unittest.TestCase):
    def breaks(self, path, line, said):
        found = style.check_lines(path, f"first\n{line}\n")
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}:2:"), found)
        self.assertIn(said, found[0])

    def keeps(self, path, line):
        self.assertEqual(style.check_lines(path, line), [])

    def test_columns(self):
        self.breaks("src/a.cpp", "x" * 119, "119 columns")
        self.keeps("src/a.cpp", "x" * 118)
        self.keeps("src/a.cpp", "…" * 118)  # characters, not bytes
        self.keeps("README.md", "x" * 300)

    def test_marks_of_unfinished_work(self):
        self.breaks("src/a.cpp", "// FIX" "ME", "mend it")
        self.breaks("tools/a.sh", "# TO" "DO: later", "of what kind")
        self.keeps("src/a.cpp", "// TO" "DO(speed): copy less")

    def test_names_of_machines(self):
        for line in ('cd "/wor' 'k/x"', "see /hom" "e/me/x", "PATH=/roo" "t/bin", "https://py" "pi.org/simple"):
            self.breaks("docs/a.md", line, "names a machine")
        self.keeps("docs/a.md", "src/wor" "k/x and ~/hom" "e/x and $HOME/roo" "t/y")


class Words(unittest.TestCase):
    def test_comments_name_their_object(self):
        found = style.check_comments("a.hpp", "// Whether it is so.\nbool is();\n")
        self.assertEqual(len(found), 1)
        self.assertIn('opens with "Whether"', found[0])
        self.assertEqual(style.check_comments("a.hpp", "// Returns true if it is so.\n// Whether or not.\n"), [])

    def test_prose_ends_where_code_does(self):
        line = "a " * 60
        self.assertEqual(len(style.check_prose("a.md", f"{line}\n")), 1)
        for kept in (f"```\n{line}\n```\n", f"    {line}\n", f"| {line} |\n", line[:118]):
            self.assertEqual(style.check_prose("a.md", kept), [])

    def test_cells_are_no_longer_than_a_line(self):
        row = "| a | " + "x" * 121 + " |\n"
        self.assertEqual(len(style.check_cells("a.md", row)), 1)
        self.assertEqual(style.check_cells("a.md", f"```\n{row}```\n"), [])
        self.assertEqual(style.check_cells("a.md", row.replace("x", "", 1)), [])


class NamesOfTests(unittest.TestCase):
    def breaks(self, path, text, said):
        found = style.check_test_name(path, text)
        self.assertEqual(len(found), 1, found)
        self.assertIn(said, found[0])

    def keeps(self, path, text=""):
        self.assertEqual(style.check_test_name(path, text), [])

    def test_in_c(self):
        for path in ("tests/api/test_budget.cpp", "tests/api/test_budget.c", "tests/api/test_run.hpp",
                     "tests/api/run_test.hpp"):
            self.breaks(path, "", "<concept>_test.c")
        self.breaks("tests/api/budget.cpp", "namespace {\nTEST_P(Budget, IsKept) {\n", "<concept>_test.cpp")
        self.keeps("tests/api/budget_test.cpp", "TEST(Budget, IsKept) {\n")
        self.keeps("tests/api/other_process.cpp", "int main() {}\n")
        self.keeps("tests/api/run_rig.hpp")
        self.keeps("lab/peers/programs/test_of_peer.c")

    def test_in_python(self):
        self.breaks("tests/pattern/documents_test.py", "", "test_<concept>.py")
        self.breaks("tests/hdf5/data/chunks.py", "import h5py\ndef test_chunks():\n", "test_<concept>.py")
        self.keeps("tests/hdf5/data/test_chunks.py", "def test_chunks():\n")
        self.keeps("tests/hdf5/programs/random_calls.py", "def main():\n")


class Lengths(unittest.TestCase):
    def test_files(self):
        self.assertEqual(len(style.check_file_length("src/a.cpp", "\n" * 801)), 1)
        self.assertEqual(style.check_file_length("src/a.cpp", "\n" * 800), [])

    def test_sizes(self):
        self.assertEqual(len(style.check_size("data.bin", (1 << 20) + 1)), 1)
        self.assertEqual(style.check_size("data.bin", 1 << 20), [])

    def test_functions(self):
        long = "void f() {\n" + "  g();\n" * 69 + "}\n"
        self.assertIn("f has 71 lines; the limit is 70", style.check_functions("a.cpp", long, {})[0])
        self.assertEqual(style.check_functions("a.cpp", long.replace("  g();\n", "", 1), {}), [])

    def test_the_ratchet_turns_one_way(self):
        long = "void f() {\n" + "  g();\n" * 78 + "}\n"
        entry = ("a.cpp", "f")
        self.assertEqual(style.check_functions("a.cpp", long, {entry: 80}), [])
        self.assertIn("the limit is 79", style.check_functions("a.cpp", long, {entry: 79})[0])
        self.assertIn("has become shorter", style.check_functions("a.cpp", long, {entry: 81})[0])
        self.assertEqual(style.read_ratchet("# none\na.cpp f 80 # why\n"), {entry: 80})


class FindingFunctions(unittest.TestCase):
    def find(self, text):
        return functions.cpp_functions(text)

    def test_in_namespaces_and_classes(self):
        text = "namespace a::b {\nclass C : public D {\n public:\n  int f() const {\n    return 1;\n  }\n};\n}\n"
        self.assertEqual(self.find(text), [("f", 4, 3)])

    def test_templates(self):
        text = "template <template <class> class A = std::atomic>\nvoid f(\n    A<int>& x) {\n  if (x) { g(); }\n}\n"
        self.assertEqual(self.find(text), [("f", 1, 5)])

    def test_constructors_with_braced_members(self):
        text = "C::C(int a)\n    : a_{a},\n      b_(2) {\n  g();\n}\n"
        self.assertEqual(self.find(text)[-1][1:], (2, 4))  # the braces of a_ hide the first line

    def test_lambdas_belong_to_their_function(self):
        self.assertEqual(self.find("void f() {\n  g([] {\n    h();\n  });\n}\n"), [("f", 1, 5)])

    def test_tests(self):
        self.assertEqual(self.find("TEST(Ring, Wraps) {\n}\n"), [("Ring.Wraps", 1, 2)])

    def test_braces_in_comments_strings_and_macros_do_not_count(self):
        text = '#define OPEN {\nvoid f() {  // {\n  g("{", \'{\', R"(\n{)", 1\'000\'000);\n}\n'
        self.assertEqual(self.find(text), [("f", 2, 4)])

    def test_variables_are_no_functions(self):
        self.assertEqual(self.find("const int a[] = {1, 2};\nstruct S { int x{0}; };\nenum class E { kA };\n"), [])

    def test_python(self):
        self.assertEqual(functions.python_functions("def f():\n    return 1\n"), [("f", 1, 2)])


class Blanking(unittest.TestCase):
    def test_lines_stay_where_they_are(self):
        text = 'a /* b\n c */ "d" // e\nf'
        blank = sources.without_comments_and_strings(text)
        self.assertEqual(blank.split(), ["a", "f"])
        self.assertEqual(blank.count("\n"), text.count("\n"))


if __name__ == "__main__":
    unittest.main()
