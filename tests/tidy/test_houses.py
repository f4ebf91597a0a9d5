"""Every rule of the map, broken once, and kept once."""

import unittest

import houses

BUILD = """\
src tailrace_flags 
src/engine tailrace_engine tailrace_base
src/filter tailrace_filter_codecs 
src tailrace tailrace_engine
bindings/mpiio tailrace_mpiio tailrace tailrace_filter_codecs
lab/pattern pattern tailrace tailrace_flags
tests/engine test_engine tailrace_engine pattern
"""


class Houses(unittest.TestCase):
    def breaks(self, line, said):
        found = houses.check_targets(BUILD + line + "\n")
        self.assertEqual(len(found), 1, found)
        self.assertIn(said, found[0])

    def test_the_build_that_keeps_the_law(self):
        self.assertEqual(houses.check_targets(BUILD), [])
        self.assertEqual(houses.check_targets(BUILD + "lab/inside/cost cost tailrace_engine\n"), [])
        self.assertEqual(houses.check_targets(BUILD + "apps/tsunami tsunami tailrace::tailrace MPI::MPI\n"), [])

    def test_users_link_to_the_library_alone(self):
        for folder in ("lab/pattern", "apps/tsunami", "bindings/mpiio", "examples"):
            self.breaks(f"{folder} one tailrace_engine", f"{folder}: one links to tailrace_engine of src/engine")

    def test_only_doors_take_pure_functions_of_src(self):
        self.breaks("apps/tsunami one tailrace_filter_codecs", "which apps must not use")

    def test_nothing_links_to_tests_or_the_laboratory(self):
        self.breaks("src/engine one pattern", "which src must not use")
        self.breaks("bindings/mpiio one pattern", "which bindings must not use")
        self.breaks("lab/pattern one test_engine", "which lab must not use")

    def test_a_folder_without_a_house(self):
        self.breaks("fresh one tailrace", "fresh: in no house")
        files = [house.folders[0] + "/file" for house in houses.HOUSES] + ["README.md", "docs/images/map.svg"]
        self.assertEqual(houses.check_houses(files), [])
        self.assertIn("fresh/file: in no house", houses.check_houses([*files, "fresh/file"])[0])
        self.assertIn("src: a house without files", houses.check_houses(files[1:])[0])

    def test_the_page_has_the_table_and_the_picture(self):
        page = f"# The map\n{houses.BEGIN}{houses.markdown()}{houses.END}\n"
        self.assertEqual(houses.check_page(page, houses.svg()), [])
        wrong = page.replace("doors", "gates")
        self.assertIn("docs/map.md:3: not the table", houses.check_page(wrong, houses.svg())[0])
        self.assertIn("map.svg: not the picture", houses.check_page(page, houses.svg() + " ")[0])
        self.assertIn("no marks", houses.check_page("# The map\n", houses.svg())[0])

    def test_arrows_leave_out_what_follows(self):
        self.assertEqual([house.name for house in houses.arrows(houses.BY_NAME["lab"])], ["python/tailrace"])


if __name__ == "__main__":
    unittest.main()
