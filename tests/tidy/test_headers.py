"""The check of headers, fed headers that do not compile alone."""

import shutil
import tempfile
import unittest
from pathlib import Path

import headers

CXX, CC = shutil.which("c++"), shutil.which("cc")


@unittest.skipUnless(CXX and CC, "no compiler on the path")
class Headers(unittest.TestCase):
    def check(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / name).parent.mkdir(parents=True)
            (root / name).write_text(text)
            jobs = headers.compilations([name], [], CXX, CC)
            return [complaint for job in jobs for complaint in headers.check(job, root)]

    def test_a_missing_include(self):
        found = self.check("src/base/a.hpp", "#pragma once\ninline std::string f() { return {}; }\n")
        self.assertIn("src/base/a.hpp: does not compile alone", found[0])

    def test_a_missing_guard(self):
        self.assertIn("redefinition", self.check("src/base/a.hpp", "struct A {};\n")[0])

    def test_cpp_in_the_c_header(self):
        text = "#ifndef A\n#define A\nstatic inline int f(int* p) { return p == nullptr; }\n#endif\n"
        found = self.check("include/tailrace/a.h", text)
        self.assertTrue(any("-std=c99" in complaint for complaint in found), found)

    def test_a_header_that_stands_alone(self):
        self.assertEqual(self.check("testing/a.hpp", "#pragma once\n#include <string>\nusing S = std::string;\n"), [])


class Flags(unittest.TestCase):
    def test_folders_and_definitions_once_each(self):
        lines = ["c++ -O3 -Isrc -isystem /usr/x -DA=1 -c a.cpp", "c++ -Isrc -I b -c b.cpp"]
        found = headers.flags_of([{"command": line} for line in lines])
        self.assertEqual(found, ["-Isrc", "-isystem", "/usr/x", "-DA=1", "-I", "b"])


if __name__ == "__main__":
    unittest.main()
