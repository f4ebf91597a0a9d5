// Publication plans, carried out: by a whole session whose format has two files for each iteration (the port allows
// more than HDF5 needs), with faults at each step.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "publish/publication.hpp"
#include "testing/blocks.hpp"
#include "testing/two_file_format.hpp"

namespace tailrace::impl {
namespace {

SessionRigOptions two_files(FaultPlan plan = {}) {
  SessionRigOptions options;
  options.plan = std::move(plan);
  options.format = [](const Config& config) { return std::make_unique<TwoFileFormat>(config); };
  return options;
}

Config durable_config(Durability durability) {
  Config config = small_config(16);
  config.storage.durability = durability;
  return config;
}

std::string data_of(const SessionRig& rig) { return TwoFileFormat::path(rig.config(), 1, TwoFileFormat::kData); }
std::string index_of(const SessionRig& rig) { return TwoFileFormat::path(rig.config(), 1, TwoFileFormat::kIndex); }

// The operations that changed names or made something durable, in order: "rename out/sim_000001.data.part".
std::vector<std::string> order_of(const SessionRig& rig) {
  std::vector<std::string> order;
  for (const FaultEvent& event : rig.events()) {
    if (event.what != FaultEvent::What::ended || event.result < 0) continue;
    if (event.on == FaultOn::rename) order.push_back("rename " + event.path);
    if (event.on == FaultOn::sync) order.push_back("sync " + event.path);
    if (event.on == FaultOn::write && event.path.ends_with("index.part")) order.push_back("write " + event.path);
  }
  return order;
}

class Plans : public testing::TestWithParam<Durability> {};
INSTANTIATE_TEST_SUITE_P(Durabilities, Plans,
                         testing::Values(Durability::accepted, Durability::written, Durability::durable),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST_P(Plans, TheIndexGetsItsNameLast) {
  SessionRig rig(durable_config(GetParam()), two_files());
  ASSERT_OK(rig.client().write("a", 1, page(1).data()));
  ASSERT_OK(rig.client().write("c", 1, block(100, 2).data()));
  std::vector<std::byte> read(4096);
  ASSERT_OK(rig.client().read("a", 1, read.data()));  // of the unfinished file
  EXPECT_EQ(read, page(1));
  ASSERT_OK(rig.client().end_iteration(1));
  ASSERT_OK(rig.client().flush());
  ASSERT_OK(rig.client().read("a", 1, read.data()));  // of the published one
  EXPECT_EQ(read, page(1));
  rig.client().finish();
  rig.stop();
  EXPECT_TRUE(rig.told().empty());

  std::vector<std::byte> data = page(1);
  const std::vector<std::byte> c = block(100, 2);
  data.insert(data.end(), c.begin(), c.end());
  EXPECT_EQ(rig.bytes(data_of(rig)), data);
  const auto index = rig.bytes(index_of(rig));
  ASSERT_TRUE(index.has_value());
  const std::string text(reinterpret_cast<const char*>(index->data()), index->size());
  EXPECT_EQ(text, "a 0 0 4096\nc 0 4096 100\n");

  const std::string data_part = data_of(rig) + ".part";
  const std::string index_part = index_of(rig) + ".part";
  std::vector<std::string> expected{"rename " + data_part, "write " + index_part, "rename " + index_part};
  if (GetParam() == Durability::durable) {
    expected = {"rename " + data_part,  "sync out", "write " + index_part, "sync " + index_part,
                "rename " + index_part, "sync out"};
  }
  EXPECT_EQ(order_of(rig), expected);
}

// Whatever fails, the client gets an error, and the index has no name; without it no reader takes the other file for
// an iteration.
TEST_P(Plans, WhatFailsLeavesNoIndex) {
  for (const FaultRule& rule : {FaultRule{FaultOn::rename, ".data.part"}, FaultRule{FaultOn::write, ".data.part"},
                                FaultRule{FaultOn::write, ".index.part"}, FaultRule{FaultOn::rename, ".index.part"},
                                FaultRule{FaultOn::open, ".index.part"}}) {
    SessionRig rig(durable_config(GetParam()), two_files({.rules = {rule}}));
    (void)rig.client().write("a", 1, page(1).data());
    (void)rig.client().end_iteration(1);
    rig.client().finish();
    rig.stop();
    const std::vector<Fault> told = rig.told();
    EXPECT_FALSE(told.empty());
    EXPECT_TRUE(std::any_of(told.begin(), told.end(), [](const Fault& of) { return of.iteration == 1; }));
    EXPECT_FALSE(rig.exists(index_of(rig))) << rule.path_contains;
    EXPECT_EQ(rig.counters().iterations_published.get(), 0u);
  }
}

TEST(Plan, ADroppedIterationLosesAllItsFiles) {
  Config config = small_config(2);
  config.memory.when_full = WhenFull::drop;
  SessionRigOptions options = two_files();
  options.shut = true;
  SessionRig rig(config, std::move(options));
  Status last;
  for (int i = 0; i < 3 && last.ok(); ++i) last = rig.client().write(i % 2 == 0 ? "a" : "b", 1, page(1).data());
  EXPECT_EQ(last.code(), TAILRACE_DROPPED);
  (void)rig.client().end_iteration(1);
  rig.gate().open();
  rig.client().finish();
  rig.stop();
  for (const std::string& path : {data_of(rig), index_of(rig)}) {
    EXPECT_FALSE(rig.exists(path));
    EXPECT_FALSE(rig.exists(path + ".part"));
  }
}

TEST(Plan, ARunIsOfWritesIntoOneFileOrOfOnePublish) {
  using Kind = PublicationStep::Kind;
  const auto step = [](Kind kind, uint32_t file) { return PublicationStep{kind, file, true, {}}; };
  const std::vector<PublicationStep> steps{step(Kind::write, 0),   step(Kind::write, 0),  step(Kind::publish, 0),
                                           step(Kind::publish, 1), step(Kind::write, 2),  step(Kind::write, 2),
                                           step(Kind::write, 2),   step(Kind::publish, 2)};
  std::vector<size_t> runs;
  for (std::span<const PublicationStep> left = steps; !left.empty(); left = left.subspan(runs.back())) {
    runs.push_back(length_of_run(left));
  }
  EXPECT_EQ(runs, (std::vector<size_t>{2, 1, 1, 2, 1, 1}));
}

}  // namespace
}  // namespace tailrace::impl
