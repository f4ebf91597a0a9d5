// TwoNodes: a fixture in which two nodes have written a file together, up to the moment before one completes it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "format/hdf5/joint_file.hpp"
#include "testing/hdf5_file.hpp"
#include "testing/sample_config.hpp"
#include "testing/scratch.hpp"
#include "written_file.hpp"

namespace tailrace::impl {

// Two nodes, each with half of the rows of "a"; node 1 alone has "b".
class TwoNodes : public testing::Test {
 protected:
  Config config(int node) const {
    Config config =
        sample_config({directory_.path()}, {{"a", ElementType::int32, {2, 3}}, {"b", ElementType::float64, {4}}});
    for (Variable& variable : config.variables) variable.dataset = "d/" + variable.name;
    config.layouts[0].global_shape = {4, 3};
    config.storage.file_per = FilePer::job;
    config.place.nodes = 2;
    config.place.node = node;
    config.format.kind = FormatKind::plain;
    config.format.file = "sim_It{iteration}.h5";
    return config;
  }
  std::string unfinished() const { return directory_ / "sim_It5.h5.part"; }

  // Writes as the engine would: the blocks, and the part.
  void write(int node, uint64_t rows = 4) {
    const Config config = this->config(node);
    Hdf5Format format(config, os_files(), format_options());
    auto layouts = std::make_shared<Layouts>();
    for (const Layout& layout : config.layouts) layouts->push_back(std::make_shared<const Layout>(layout));
    auto half = std::make_shared<Layout>(config.layouts[0]);
    half->offset = {node == 0 ? 0u : 2u, 0};
    half->global_shape[0] = rows;
    (*layouts)[0] = half;
    put_block(format, {0, 5, node, half, layouts}, static_cast<uint64_t>(node));
    if (node == 1) put_block(format, {1, 5, node, (*layouts)[1], layouts}, 7);
    const Result<PublicationPlan> plan = format.finish(5);
    ASSERT_TRUE(plan.ok());
    for (const PlannedWrite& one : writes_of(plan.value())) put(part_path(unfinished(), node), one);
  }
  void put_block(Format& format, const Block& block, uint64_t seed) {
    const Result<Extent> extent = place_whole(format, block);
    ASSERT_TRUE(extent.ok());
    put(unfinished(), {extent.value().offset, pattern(extent.value().length, seed)});
  }

  const ScratchDirectory directory_;
};

// Expects the arrays that both nodes wrote.
inline void expect_whole(const std::string& path) {
  const std::unique_ptr<Hdf5File> file = Hdf5File::open(path);
  ASSERT_NE(file, nullptr);
  std::vector<std::byte> expected = pattern(24, 0);
  const std::vector<std::byte> second = pattern(24, 1);
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_EQ(file->read(0, "d/a"), expected);
  EXPECT_EQ(file->read(0, "d/b"), pattern(32, 7));
  EXPECT_EQ(file->numbers("/d/a", "tailraceBlocks"), (std::vector<uint64_t>{0, 0, 2, 3, 2, 0, 2, 3}));
}

}  // namespace tailrace::impl
