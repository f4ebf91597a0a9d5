// Files that several nodes write: their parts as bytes, and the whole that parts make.
#include "format/hdf5/joint_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "testing/hdf5_file.hpp"
#include "testing/seeds.hpp"
#include "two_nodes.hpp"
#include "written_file.hpp"

namespace tailrace::impl {
namespace {

NodePart some_part() {
  NodePart part;
  part.node = 1;
  part.nodes = 3;
  part.iteration = 7;
  part.arrays_end = kRawBegin + 4096;
  part.time_unit = 0.001;
  part.time_step = 2.5;
  part.configured = {{"code", std::string("x")}};
  part.arrays = {
      {"g/a", 0, ElementType::float32, {4, 5}, kRawBegin, -2.5, {{"n", int64_t{3}}}, {{0, 0, 2, 5}, {3, 1, 1, 2}}},
      {"g/b", 2, ElementType::int8, {0}, kRawBegin + 128, int64_t{-3}, {}, {}},
      {"g/c", 3, ElementType::int8, {0}, kRawBegin + 128, {}, {}, {}}};
  part.attributes = {{"", 4, {"time", 1.25}}, {"g/a", 5, {"list", std::vector<double>{1, 2}}}};
  part.events = {"storm"};
  part.findings = {{"mean", 0.5}, {"text", std::string("t")}, {"more", std::vector<double>{1, 2, 3}}};
  part.missing = {8, 9};
  part.missing_unnamed = 2;
  return part;
}

TEST(NodePart, IsReadAsItWasWritten) {
  const std::vector<std::byte> bytes = to_bytes(some_part());
  const Result<NodePart> read = to_node_part(bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(to_bytes(read.value()), bytes);
  EXPECT_EQ(read.value().arrays[0].blocks[1], (std::vector<uint64_t>{3, 1, 1, 2}));
  EXPECT_EQ(read.value().arrays[0].fill_value, Number(-2.5));
  EXPECT_EQ(read.value().arrays[1].fill_value, Number(-3));
  EXPECT_FALSE(read.value().arrays[2].fill_value);
  EXPECT_EQ(read.value().missing, (std::vector<uint64_t>{8, 9}));
}

// Bytes that are not those of a part are refused; what is read is what was written.
TEST(NodePart, TrustsNoBytes) {
  const std::vector<std::byte> whole = to_bytes(some_part());
  size_t refused = 0;
  for_seeds(20, [&](uint64_t seed) {
    Dice dice(seed);
    for (int i = 0; i < 1000; ++i) {
      std::vector<std::byte> bytes = whole;
      if (dice.below(4) == 0) bytes.resize(dice.below(whole.size() + 20));
      for (uint64_t changes = dice.below(4); changes > 0 && !bytes.empty(); --changes) {
        bytes[dice.below(bytes.size())] = static_cast<std::byte>(dice.below(256));
      }
      const Result<NodePart> read = to_node_part(bytes);
      if (read.ok()) {
        EXPECT_EQ(to_bytes(read.value()), bytes);
      } else {
        ++refused;
      }
    }
  });
  EXPECT_GT(refused, 500u);
}

TEST(NodePart, BlocksLieInTheirArraysAndArraysInTheFile) {
  const auto is_refused = [](const auto& change) {
    NodePart part = some_part();
    change(part);
    return !to_node_part(to_bytes(part)).ok();
  };
  EXPECT_TRUE(is_refused([](NodePart& part) { part.arrays[0].blocks[0] = {0, 0, 5, 5}; }));
  EXPECT_TRUE(is_refused([](NodePart& part) { part.arrays[0].blocks[0] = {uint64_t(-1), 0, 2, 5}; }));
  EXPECT_TRUE(is_refused([](NodePart& part) { part.arrays[0].blocks[0] = {0, 2}; }));
  EXPECT_TRUE(is_refused([](NodePart& part) { part.arrays[0].begin = 48; }));
  EXPECT_TRUE(is_refused([](NodePart& part) { part.arrays[1].fill_value = 0.5; })) << "of integers";
  EXPECT_TRUE(is_refused([](NodePart& part) { part.arrays[0].shape = {uint64_t{1} << 40, uint64_t{1} << 40}; }));
  EXPECT_TRUE(is_refused([](NodePart& part) { part.arrays[1].name = "g/a"; }));
  EXPECT_TRUE(is_refused([](NodePart& part) { part.node = 3; }));
  EXPECT_FALSE(is_refused([](NodePart&) {}));
}

TEST(NodePart, NamesTheFileToWhichItBelongs) {
  EXPECT_EQ(part_path("out/x.h5.part", 12), "out/x.h5.part.n12");
  EXPECT_EQ(file_of_part("out/x.h5.part.n12"), "out/x.h5.part");
  EXPECT_EQ(file_of_part("x.xmf.part.n0.tmp"), "x.xmf.part");
  for (const char* const other : {"x.h5.part", "x.h5.n1", "x.h5.part.n", "x.h5.part.m1", "x.part.n1", "n1", ""}) {
    EXPECT_EQ(file_of_part(other), "") << other;
  }
}

// ---- the whole ----

TEST_F(TwoNodes, TheWholeHasTheArraysOfBoth) {
  write(0);
  EXPECT_FALSE(read_parts(os_files(), unfinished()).value().has_value()) << "node 1 is still to come";
  write(1);
  const auto parts = read_parts(os_files(), unfinished());
  ASSERT_TRUE(parts.ok() && parts.value());
  const JointFile whole(*parts.value(), unfinished());
  EXPECT_EQ(whole.variable_of("d/b"), 1u);
  const Result<FileEnding> ending = whole.ending();
  ASSERT_TRUE(ending.ok());
  for (const MetadataPiece& piece : ending.value().body) {
    put(unfinished(), {piece.offset, {piece.bytes.all().begin(), piece.bytes.all().end()}});
  }
  EXPECT_EQ(Hdf5File::open(unfinished()), nullptr) << "the superblock comes last";
  const std::span<const std::byte> head = ending.value().head.bytes.all();
  put(unfinished(), {0, {head.begin(), head.end()}});
  expect_whole(unfinished());
  EXPECT_TRUE(remove_parts(os_files(), unfinished(), 2).ok());
  EXPECT_FALSE(read_parts(os_files(), unfinished()).value().has_value());
}

TEST_F(TwoNodes, APartThatIsLongerThanAnyIsNotRead) {
  constexpr uint64_t kMost = uint64_t{1} << 30;
  write(0);
  write(1);
  std::filesystem::resize_file(part_path(unfinished(), 1), kMost + 1);
  const Status status = read_parts(os_files(), unfinished()).status();
  EXPECT_EQ(status.code(), TAILRACE_NOT_PUBLISHED);
  EXPECT_NE(status.fault().message.find("found 1073741825 bytes, expected at most 1073741824"), std::string::npos)
      << status.fault().message;
}

TEST_F(TwoNodes, PartsOfOtherShapesDoNotBelongTogether) {
  write(0);
  write(1, 6);
  const Status status = read_parts(os_files(), unfinished()).status();
  EXPECT_EQ(status.code(), TAILRACE_NOT_PUBLISHED);
  EXPECT_NE(status.fault().message.find("node 1 does not agree with the others"), std::string::npos)
      << status.fault().message;
}

TEST_F(TwoNodes, APartThatIsNoneIsNamed) {
  write(0);
  put(part_path(unfinished(), 1), {0, pattern(20, 1)});
  const Status status = read_parts(os_files(), unfinished()).status();
  EXPECT_EQ(status.code(), TAILRACE_NOT_PUBLISHED);
  EXPECT_NE(status.fault().message.find("expected the part of node 1"), std::string::npos) << status.fault().message;
}

}  // namespace
}  // namespace tailrace::impl
