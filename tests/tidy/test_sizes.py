"""sizes.py finds folders and classes that are too large."""

import unittest

import sizes


def text_of(functions, comment=""):
    lines = [f"// A class. {comment}", "class A final : public B<int>, private C {", " public:",
             "  explicit A(int a) : a_(a), b_(f(1)) {}", "  ~A() override { if (a_) { g(); } }"]
    lines += [f"  int f{i}(std::function<void(int)> then) const;" for i in range(functions - 3)]
    lines += ["  bool one() const { return a_ == 1; }", " private:", "  struct Inner { int a() { return 1; } };",
              "  int a_ = value(7);", "  std::map<int, int> b_;", "};"]
    return "\n".join(lines)


class Sizes(unittest.TestCase):
    def test_counts_concepts_not_files(self):
        files = {f"src/a/c{i}.{end}": 10 for i in range(sizes.MAX_CONCEPTS) for end in ("hpp", "cpp")}
        self.assertEqual(sizes.check_folders(files), [])
        self.assertEqual(len(sizes.check_folders({**files, "src/a/other.hpp": 1})), 1)
        elsewhere = {"src/a/b/other.hpp": 1, "tests/a/other.cpp": 1, "src/a/CMakeLists.txt": 1}
        self.assertEqual(sizes.check_folders({**files, **elsewhere}), [])

    def test_counts_lines_of_a_folder(self):
        self.assertEqual(sizes.check_folders({"bindings/a/b.cpp": sizes.MAX_LINES}), [])
        self.assertEqual(len(sizes.check_folders({"bindings/a/b.cpp": sizes.MAX_LINES, "bindings/a/c.hpp": 1})), 1)

    def test_counts_functions_of_a_class(self):
        self.assertEqual(sizes.check_classes("a.hpp", text_of(sizes.MAX_FUNCTIONS)), [])
        found = sizes.check_classes("a.hpp", text_of(sizes.MAX_FUNCTIONS + 1))
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("a.hpp:2: A has 36 functions"))

    def test_a_sentence_allows_more(self):
        self.assertEqual(sizes.check_classes("a.hpp", text_of(50, "More than 35 functions: it must be so.")), [])


if __name__ == "__main__":
    unittest.main()
