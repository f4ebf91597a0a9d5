"""CMake's folders beside the layer law: each rule broken once."""

import unittest

import layers
import targets

CMAKE = """
tailrace_folder(base
  SOURCES a.cpp
  PRIVATE spdlog::spdlog)
tailrace_folder(model SOURCES m.cpp USES tailrace_base)  # the nouns
tailrace_folder(engine
  SOURCES e.cpp
  USES tailrace_model tailrace_engine_queue
  PRIVATE fmt::fmt)
tailrace_folder(engine/queue USES tailrace_model)
"""


class Targets(unittest.TestCase):
    def setUp(self):
        self.uses = targets.targets_of([CMAKE])
        self.seen = {folder: targets.closure(folder, self.uses) for folder in self.uses}

    def test_uses_are_read(self):
        self.assertEqual(self.uses, {"base": [], "model": ["base"], "engine": ["model", "engine/queue"],
                                     "engine/queue": ["model"]})
        self.assertEqual(self.seen["engine"], {"model", "base", "engine/queue"})

    def test_a_folder_without_a_target_and_one_without_a_layer(self):
        complaints = targets.check_targets(self.uses | {"lost": []})
        self.assertIn("src/place: no tailrace_folder(place …)", complaints)
        self.assertTrue(any("tests/tidy/layers.py has no such folder" in one for one in complaints))
        self.assertFalse(any("src/api" in one for one in complaints))

    def test_what_a_target_uses_it_may_include(self):
        complaints = targets.check_targets(self.uses | {"model": ["engine"]})
        self.assertTrue(any("src/engine" in one and "above" in one for one in complaints), complaints)

    def test_what_a_file_includes_its_target_uses(self):
        text = '#include "base/status.hpp"\n#include "engine/engine.hpp"\n'
        complaints = targets.check_file("src/model/m.cpp", text, self.uses, self.seen)
        self.assertEqual(complaints, ["src/model/m.cpp:2: src/model does not USE src/engine (in its CMakeLists.txt)"])

    def test_the_page_shows_the_table(self):
        page = "x\n" + targets.BEGIN + targets.markdown() + targets.END
        self.assertEqual(targets.check_page(page), [])
        self.assertIn("not the table", targets.check_page(page.replace("api", "apy"))[0])
        self.assertIn("no marks", targets.check_page("x")[0])

    def test_every_layer_has_a_meaning(self):
        self.assertEqual(len(targets.MEANING), len(layers.LAYERS))


if __name__ == "__main__":
    unittest.main()
