// Shapes against a plain model; and the ledger's thinned settings of parameters have the same effect when replayed.
#include "model/shapes.hpp"

#include <gtest/gtest.h>
#include <tailrace/tailrace.h>

#include <map>
#include <random>

#include "recovery/thin_settings.hpp"
#include "testing/sample_config.hpp"

namespace tailrace::impl {
namespace {

// Parameters a, b and client; x has the shape [a, 4] of [b, 4], y neither.
Config sample() {
  Config config = sample_config({"out"}, {{"x", ElementType::int32, {3, 4}}, {"y", ElementType::int8, {2}}});
  config.parameters = {{"a", 3}, {"b", 8}, {"client", 5}};
  Layout& of = config.layouts[0];
  of.global_shape = {8, 4};
  of.sources = {{0, kNoParameter}, {1, kNoParameter}, {kNoParameter, kNoParameter}};
  return config;
}

TEST(Shapes, FollowTheSettings) {
  const Config config = sample();
  Shapes shapes(config, config.memory.budget);
  const auto x = shapes.of(0);
  const auto y = shapes.of(1);
  EXPECT_EQ(x->shape, (std::vector<uint64_t>{3, 4}));
  const std::vector<Shapes::Setting> settings = {{0, 20}, {1, 30}};
  Result<Shapes::State> state = shapes.with(settings);
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(shapes.of(0), x) << "not taken yet";
  shapes.take(std::move(state).value());
  EXPECT_EQ(shapes.of(0)->shape, (std::vector<uint64_t>{20, 4}));
  EXPECT_EQ(shapes.of(0)->global_shape, (std::vector<uint64_t>{30, 4}));
  EXPECT_EQ(x->shape, (std::vector<uint64_t>{3, 4})) << "who has it keeps it";
  EXPECT_EQ(shapes.of(1), y) << "the same object";
  const std::vector<Shapes::Setting> same = {{0, 20}};
  const auto now = shapes.of(0);
  shapes.take(shapes.with(same).value());
  EXPECT_EQ(shapes.of(0), now);
}

TEST(Shapes, RefuseWhatCannotBe) {
  const Config config = sample();
  const Shapes shapes(config, config.memory.budget);
  const auto code = [&](std::vector<Shapes::Setting> settings) { return shapes.with(settings).status().code(); };
  EXPECT_EQ(code({{0, 9}}), TAILRACE_WRONG_SHAPE) << "more than the whole";
  EXPECT_EQ(code({{0, 9}, {1, 9}}), TAILRACE_OK);
  EXPECT_EQ(code({{1, 2}}), TAILRACE_WRONG_SHAPE);
  EXPECT_EQ(code({{0, -1}}), TAILRACE_WRONG_SHAPE);
  EXPECT_EQ(code({{0, std::numeric_limits<int64_t>::min()}}), TAILRACE_WRONG_SHAPE);
  EXPECT_EQ(code({{0, 0}, {1, 0}}), TAILRACE_OK);
  EXPECT_EQ(code({{0, 257}, {1, 257}}), TAILRACE_TOO_LARGE) << "the budget is a page";
  EXPECT_EQ(code({{1, std::numeric_limits<int64_t>::max()}}), TAILRACE_TOO_LARGE);
  EXPECT_EQ(code({{2, 1}}), TAILRACE_INVALID_ARGUMENT) << "client";
  EXPECT_EQ(code({{3, 1}}), TAILRACE_INVALID_ARGUMENT) << "there is none";
  EXPECT_EQ(code({{0, 1}, {0, 2}}), TAILRACE_INVALID_ARGUMENT) << "twice";
}

// The state of a replay of the records: at each block or read, and at the end, the values that its client had; and
// the settings that wait for the rest.
struct Seen {
  std::vector<std::pair<int32_t, std::map<uint32_t, int64_t>>> at;
  std::map<int32_t, std::map<uint32_t, int64_t>> end;
  std::map<int32_t, std::vector<std::pair<uint32_t, int64_t>>> waiting;
  bool operator==(const Seen&) const = default;
};

Seen replay(const std::vector<LedgerRecord>& records) {
  Seen seen;
  for (const LedgerRecord& record : records) {
    if (record.kind != LedgerRecord::Kind::accepted) continue;
    const Descriptor& verb = record.descriptor;
    auto& values = seen.end[record.client];
    auto& waiting = seen.waiting[record.client];
    if (verb.verb == Verb::write || verb.verb == Verb::read) seen.at.emplace_back(record.client, values);
    if (verb.verb != Verb::parameter) continue;
    if (verb.setting.index == 0) waiting.clear();
    EXPECT_EQ(verb.setting.index, waiting.size());
    waiting.emplace_back(verb.variable, verb.setting.value);
    if (waiting.size() < verb.setting.count) continue;
    for (const auto& [parameter, value] : waiting) values[parameter] = value;
    waiting.clear();
  }
  return seen;
}

std::vector<LedgerRecord> some_records(std::mt19937_64& random) {
  std::vector<LedgerRecord> records;
  uint64_t sequence = 0;
  for (size_t count = random() % 60; count > 0; --count) {
    LedgerRecord record;
    record.client = static_cast<int32_t>(random() % 2);
    record.descriptor.sequence = ++sequence;
    const Verb verbs[] = {Verb::write, Verb::read, Verb::flush, Verb::end_iteration};
    if (random() % 3 == 0) {
      record.descriptor.verb = verbs[random() % 4];
      if (random() % 4 == 0) record.kind = LedgerRecord::Kind::placed;
      records.push_back(record);
      continue;
    }
    // Sometimes the call is given up before the last.
    const auto together = static_cast<uint32_t>(1 + random() % 3);
    const uint32_t sent = random() % 5 == 0 ? static_cast<uint32_t>(random() % together) : together;
    record.descriptor.verb = Verb::parameter;
    for (uint32_t i = 0; i < sent; ++i) {
      record.descriptor.sequence = ++sequence;
      record.descriptor.variable = (i + static_cast<uint32_t>(sequence)) % 4;
      record.descriptor.setting = {static_cast<int64_t>(random() % 100), i, together, 0, 0, {}};
      records.push_back(record);
    }
  }
  return records;
}

TEST(ThinSettings, AReplayOfWhatIsLeftSeesTheSame) {
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    const std::vector<LedgerRecord> records = some_records(random);
    const std::vector<LedgerRecord> thinned = thin_settings(records);
    const auto others = [](const std::vector<LedgerRecord>& of) {
      std::vector<uint64_t> sequences;
      for (const LedgerRecord& record : of) {
        const bool setting = record.kind == LedgerRecord::Kind::accepted && record.descriptor.verb == Verb::parameter;
        if (!setting) sequences.push_back(record.descriptor.sequence);
      }
      return sequences;
    };
    ASSERT_EQ(others(thinned), others(records)) << "round " << round;
    ASSERT_EQ(replay(thinned), replay(records)) << "round " << round;
    ASSERT_EQ(thin_settings(thinned).size(), thinned.size()) << "round " << round;
  }
}

TEST(ThinSettings, ThousandsOfSettingsThatNobodySawAreOne) {
  std::vector<LedgerRecord> records(5000);
  for (size_t i = 0; i < records.size(); ++i) {
    records[i].descriptor.verb = Verb::parameter;
    records[i].descriptor.sequence = i + 1;
    records[i].descriptor.setting = {static_cast<int64_t>(i), 0, 1, 0, 0, {}};
  }
  const std::vector<LedgerRecord> thinned = thin_settings(records);
  ASSERT_EQ(thinned.size(), 1u);
  EXPECT_EQ(thinned[0].descriptor.setting.value, 4999);
  EXPECT_EQ(thinned[0].descriptor.sequence, 5000u) << "the last that was accepted is still known";
}

}  // namespace
}  // namespace tailrace::impl
