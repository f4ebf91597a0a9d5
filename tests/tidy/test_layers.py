"""Every rule of the layer law, broken once, and kept once."""

import unittest

import layers

PRESENT = {
    "src/base/status.hpp", "src/model/block.hpp", "src/storage/storage.hpp", "src/storage/posix/posix_storage.hpp",
    "src/storage/memory/memory_storage.hpp", "src/engine/engine.hpp", "src/engine/queue/queue.hpp",
    "src/engine/merge/merge.hpp", "src/place/place.hpp", "src/place/thread/thread_place.hpp",
    "src/format/format.hpp", "src/format/hdf5/writer.hpp", "src/client/client.hpp", "src/runtime/runtime.hpp",
    "src/api/guard.hpp", "include/tailrace/tailrace.h", "testing/sim_clock.hpp", "apps/tsunami/solver.hpp",
    "lab/timer.hpp", "lab/inside/study.hpp", "bindings/process_client/process_client.hpp",
    "bindings/hdf5_vol/host/host.hpp",
    "bindings/hdf5_vol/files/files.hpp", "bindings/hdf5_vol/data/dataset.hpp", "src/filter/pipeline.hpp",
    "src/filter/codecs/codec.hpp", "apps/cube/archive/rows.hpp", "apps/cube/remap/remap.hpp",
}


def complaint(path, include):
    """Returns the complaint of check_file about a file `path` with that one line."""
    found = layers.check_file(path, f"// a file\n#include {include}\n", PRESENT.__contains__)
    assert len(found) <= 1, found
    return found[0] if found else None


class LayerLaw(unittest.TestCase):
    def breaks(self, path, include, said):
        found = complaint(path, include)
        self.assertIsNotNone(found, f"{path} may include {include}?")
        self.assertIn(said, found)
        self.assertTrue(found.startswith(f"{path}:2: "), found)

    def keeps(self, path, include):
        self.assertIsNone(complaint(path, include))

    def test_includes_go_down(self):
        self.breaks("src/base/log.cpp", '"model/block.hpp"', "is above src/base")
        self.breaks("src/engine/engine.cpp", '"client/client.hpp"', "is above")
        self.keeps("src/engine/engine.cpp", '"model/block.hpp"')
        self.keeps("src/client/client.cpp", '"engine/engine.hpp"')

    def test_own_folder(self):
        self.keeps("src/engine/queue/queue.cpp", '"engine/queue/queue.hpp"')

    def test_folders_of_one_layer_do_not_know_each_other(self):
        self.breaks("src/format/format.cpp", '"place/place.hpp"', "same layer")
        self.breaks("src/engine/merge/merge.cpp", '"engine/queue/queue.hpp"', "same layer")

    def test_a_back_end_includes_its_port_but_not_the_other_way_round(self):
        self.keeps("src/storage/posix/posix_storage.cpp", '"storage/storage.hpp"')
        self.keeps("src/place/thread/thread_place.cpp", '"place/place.hpp"')
        self.keeps("src/format/hdf5/writer.cpp", '"format/format.hpp"')
        self.breaks("src/storage/storage.hpp", '"storage/posix/posix_storage.hpp"', "its own back end")

    def test_the_engine_is_composed_of_its_stages(self):
        self.keeps("src/engine/engine.cpp", '"engine/queue/queue.hpp"')
        self.breaks("src/engine/queue/queue.cpp", '"engine/engine.hpp"', "composed of it")

    def test_filters_are_composed_of_codecs_which_know_nothing(self):
        self.keeps("src/filter/pipeline.cpp", '"filter/codecs/codec.hpp"')
        self.breaks("src/filter/codecs/codec.cpp", '"filter/pipeline.hpp"', "composed of it")
        self.breaks("src/filter/codecs/codec.cpp", '"base/status.hpp"', "same layer")
        self.breaks("src/filter/codecs/codec.cpp", '"model/block.hpp"', "is above")

    def test_only_the_composition_root_names_concrete_classes(self):
        self.keeps("src/runtime/runtime.cpp", '"storage/posix/posix_storage.hpp"')
        for path in ("src/engine/engine.cpp", "src/client/client.cpp", "src/api/api.cpp"):
            self.breaks(path, '"storage/posix/posix_storage.hpp"', "is concrete")
        self.breaks("src/storage/posix/posix_storage.cpp", '"storage/memory/memory_storage.hpp"', "the same layer")

    def test_a_place_knows_neither_the_engine_nor_the_storage(self):
        self.breaks("src/place/place.hpp", '"storage/storage.hpp"', "must not know")
        self.breaks("src/place/thread/thread_place.cpp", '"engine/engine.hpp"', "must not know")

    def test_api_is_on_top(self):
        self.keeps("src/api/api.cpp", '"runtime/runtime.hpp"')
        self.keeps("src/api/api.cpp", '"client/client.hpp"')
        self.breaks("src/runtime/runtime.cpp", '"api/guard.hpp"', "is above")

    def test_every_folder_has_a_layer(self):
        self.breaks("src/extra/x.cpp", '"base/status.hpp"', "has no layer")

    def test_paths_start_at_src(self):
        self.breaks("src/base/status.cpp", '"status.hpp"', "is not a path from src")
        self.breaks("src/base/status.cpp", '"../model/block.hpp"', "is not a path from src")

    def test_src_does_not_include_testing(self):
        self.breaks("src/base/clock.hpp", '"testing/sim_clock.hpp"', "must not include")

    def test_angle_brackets_do_not_hide_a_private_header(self):
        self.breaks("src/base/log.cpp", "<model/block.hpp>", "is above")
        self.breaks("include/tailrace/tailrace.h", "<base/status.hpp>", "private")

    def test_public_headers_include_public_and_standard_ones_only(self):
        self.keeps("include/tailrace/tailrace.hpp", "<tailrace/tailrace.h>")
        self.keeps("include/tailrace/tailrace.hpp", "<vector>")
        self.keeps("include/tailrace/tailrace.h", "<stdint.h>")
        self.breaks("include/tailrace/tailrace.hpp", '"base/status.hpp"', "private")
        self.breaks("include/tailrace/tailrace.hpp", "<fmt/format.h>", "third-party")
        self.breaks("include/tailrace/tailrace.h", "<hdf5.h>", "may be included in")

    def test_users_see_public_headers_only(self):
        for path in ("bindings/python/module.cpp", "apps/tsunami/main.cpp", "lab/copy.cpp", "examples/simple.cpp"):
            self.keeps(path, "<tailrace/tailrace.hpp>")
            self.keeps(path, '"tailrace/tailrace.h"')
            self.breaks(path, '"base/status.hpp"', "is private")
            self.breaks(path, "<base/status.hpp>", "is private")
            self.breaks(path, '"testing/sim_clock.hpp"', "is private")
        self.keeps("apps/tsunami/main.cpp", '"solver.hpp"')
        self.keeps("lab/copy.cpp", '"timer.hpp"')
        self.keeps("lab/copy.cpp", '"lab/timer.hpp"')
        self.keeps("lab/core/run.cpp", '"lab/timer.hpp"')
        self.breaks("lab/copy.cpp", '"apps/tsunami/solver.hpp"', "is private")
        self.breaks("lab/copy.cpp", '"lab/inside/study.hpp"', "is private")
        self.keeps("lab/inside/study.cpp", '"base/status.hpp"')
        self.breaks("apps/tsunami/main.cpp", '"../../src/base/status.hpp"', "is private")
        self.breaks("lab/copy.cpp", '"../src/base/status.hpp"', "is private")

    def test_doors_include_those_below(self):
        self.keeps("bindings/hdf5_vol/files/files.cpp", '"process_client/process_client.hpp"')
        self.keeps("bindings/hdf5_vol/data/dataset.cpp", '"hdf5_vol/files/files.hpp"')
        self.breaks("bindings/hdf5_vol/files/files.cpp", '"hdf5_vol/data/dataset.hpp"', "is above")
        self.breaks("bindings/process_client/process_client.cpp", '"hdf5_vol/host/host.hpp"', "is above")
        self.breaks("bindings/mpiio/files/open_file.cpp", '"hdf5_vol/host/host.hpp"', "is of another door")

    def test_folders_of_an_application(self):
        self.keeps("apps/cube/remap/remap.cpp", '"cube/archive/rows.hpp"')
        self.breaks("apps/cube/archive/rows.cpp", '"cube/remap/remap.hpp"', "is above apps/cube/archive")
        self.breaks("apps/cube/remap/remap.cpp", '"filter/codecs/codec.hpp"', "is private")

    def test_doors_include_codecs_and_nothing_else_of_src(self):
        for path in ("bindings/hdf5_vol/filters/chunk_filter.cpp", "bindings/process_client/process_client.cpp"):
            self.keeps(path, '"filter/codecs/codec.hpp"')
            for header in ("filter/pipeline.hpp", "base/status.hpp"):
                self.breaks(path, f'"{header}"', "is private")
        for path in ("bindings/python/module.cpp", "apps/tsunami/main.cpp", "lab/copy.cpp"):
            self.breaks(path, '"filter/codecs/codec.hpp"', "is private")
        self.breaks("bindings/hdf5_vol/filters/chunk_filter.cpp", '"filter/codecs/none.hpp"', "is private")

    def test_tests_include_everything(self):
        self.keeps("tests/engine/engine_test.cpp", '"engine/queue/queue.hpp"')
        self.keeps("testing/fault_storage.hpp", '"storage/storage.hpp"')

    def test_third_party_headers_stay_in_their_folder(self):
        home = {
            "<yaml-cpp/yaml.h>": "src/config/yaml/read.cpp", "<spdlog/spdlog.h>": "src/base/log.cpp",
            "<liburing.h>": "src/storage/uring/uring.cpp",
            "<hdf5.h>": "src/format/hdf5/writer.cpp", "<H5Dpublic.h>": "src/format/hdf5/writer.cpp",
            "<nanobind/nanobind.h>": "bindings/python/module.cpp", "<gtest/gtest.h>": "tests/config/test.cpp",
            "<benchmark/benchmark.h>": "lab/copy.cpp", "<CLI/CLI.hpp>": "apps/tsunami/main.cpp",
            "<zstd.h>": "src/filter/codecs/zstd.cpp", "<libdeflate.h>": "src/filter/codecs/deflate.cpp",
            "<blosc.h>": "bindings/hdf5_vol/filters/blosc.cpp", "<zlib.h>": "apps/tsunami/esri_grid.cpp",
        }
        for include, path in home.items():
            self.keeps(path, include)
            self.breaks("src/client/client.cpp", include, "may be included in")
        self.keeps("src/client/client.cpp", "<fmt/format.h>")
        self.breaks("src/filter/codecs/zstd.cpp", "<blosc.h>", "may be included in")
        self.breaks("bindings/hdf5_vol/filters/chunk_filter.cpp", "<zstd.h>", "may be included in")

    def test_unknown_third_party_headers_are_noticed(self):
        self.breaks("src/base/log.cpp", "<boost/any.hpp>", "third-party header that the table")
        self.keeps("src/base/log.cpp", "<sys/mman.h>")

    def test_includes_are_found_in_odd_layouts(self):
        found = layers.check_file("src/base/x.cpp", '  #  include   "model/block.hpp"\n', PRESENT.__contains__)
        self.assertEqual(len(found), 1)


if __name__ == "__main__":
    unittest.main()
