// Filtering: several writes of one block, and reads of it, while storage ends their transfers in any order and fails
// some. Each write may have its own place in the file, so the engine does not order them.
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "server/filtering/filtering.hpp"
#include "testing/blocks.hpp"
#include "testing/files_rig.hpp"
#include "testing/noted_ends.hpp"

namespace tailrace::impl {
namespace {

constexpr uint32_t kWhole = 0;   // a variable whose blocks are one chunk
constexpr uint32_t kHalves = 1;  // a variable whose blocks are two

Config filtered_page_config() {
  Config config = small_config(16);
  config.variables[kWhole].compress = {Compressor::zstd, 3, true, 4096, false};
  config.variables[kHalves].compress = {Compressor::zstd, 3, true, 2048, false};
  return config;
}

using Bytes = std::vector<std::byte>;

// A page that begins with `random` random bytes; the others are equal. The more are random, the more bytes its chunks
// are stored in, and a chunk that is stored in more bytes than the one before gets another place. Without any, all
// letters take equally many.
Bytes letters(char letter, size_t random = 0) {
  Bytes bytes(4096, static_cast<std::byte>(letter));
  std::mt19937 numbers(1);
  for (size_t i = 0; i < random; ++i) bytes[i] = static_cast<std::byte>(numbers());
  return bytes;
}

class FilteredOrder : public testing::Test, protected FilesRig, private Filtering::Host {
 protected:
  using WorkId = Filtering::WorkId;

  FilteredOrder() : FilesRig(filtered_page_config()) { files.clients().join(member_); }
  ~FilteredOrder() override {
    crew_.pause(false);
    gate.open();
    if (!files.iterations().given_up(0)) drop();
    while (!filtering_.idle() || !idle()) progress();
  }

  // Begins a work of iteration 0 with these bytes, which a read replaces. Works are numbered from 1.
  WorkId begin(Verb verb, uint32_t variable, Bytes bytes) {
    Descriptor descriptor;
    descriptor.verb = verb;
    descriptor.variable = variable;
    descriptor.iteration = 0;
    descriptor.sequence = ++latest_;
    bytes_[latest_] = std::move(bytes);
    const auto layout = std::make_shared<const Layout>(config.layout_of(config.variables[variable]));
    EXPECT_OK(filtering_.begin(latest_, {variable, 0, 0, layout}, descriptor, bytes_[latest_]));
    return latest_;
  }
  WorkId write(uint32_t variable, Bytes bytes) { return begin(Verb::write, variable, std::move(bytes)); }

  // All that can happen before the gate lets another transfer through.
  void progress() {
    for (int quiet = 0; quiet < 3; ++quiet) {
      if (crew_.progress()) quiet = 0;
      engine.progress();
      if (files.progress()) quiet = 0;
    }
  }
  void let_through(size_t number) {
    gate.let_through(number);
    progress();
  }
  void drop() {
    files.drop(member_, 0, "it is not needed");
    filtering_.give_up(0);
  }

  std::vector<WorkId> ended() const {
    std::vector<WorkId> works;
    for (const auto& [work, status] : ends_) works.push_back(work);
    return works;
  }

  FilterCrew crew_{clock, doorbell, {.threads = 0, .cpus = {}}};
  KeptMember member_{0};
  std::map<WorkId, Bytes> bytes_;
  std::vector<std::pair<WorkId, Status>> ends_;

 private:
  void filtered(WorkId work, const Status& status, const Request::Course&) override {
    ends_.emplace_back(work, status);
  }
  void postponed(WorkId work) override { FAIL() << work; }

 protected:
  NotedEnds notes_{config.memory.budget, config.variables.size()};
  // With `holds_writes` the engine begins each write at once, and not only when the one before it has ended.
  Filtering filtering_{config, /*holds_writes=*/true, 0, notes_, engine, files, crew_, *this};
  WorkId latest_ = 0;
};

// The gate holds the transfers of three writes of one block back.
class SlowFilteredOrder : public FilteredOrder {
 protected:
  void SetUp() override {
    gate.shut();
    for (const size_t random : {0, 2000, 4096}) {
      write(kWhole, letters('a', random));
      progress();
    }
    ASSERT_EQ(gate.held(), 3u) << "each has its place";
  }
};

// A server that takes over repeats the writes that have not ended: if the latest one had ended before an earlier one,
// that would replace it.
TEST_F(SlowFilteredOrder, WritesOfOneBlockEndInTheirOrder) {
  let_through(2);
  let_through(1);
  EXPECT_EQ(ended(), std::vector<WorkId>{});
  let_through(0);
  EXPECT_EQ(ended(), (std::vector<WorkId>{1, 2, 3}));
}

TEST_F(SlowFilteredOrder, AWriteWaitsForNoOtherBlock) {
  let_through(2);
  write(kHalves, letters('a'));
  for (progress(); gate.held() > 2;) let_through(2);
  EXPECT_EQ(ended(), std::vector<WorkId>{4});
}

TEST_F(SlowFilteredOrder, AWriteThatFailsEndsInItsOrderToo) {
  gate.fail(1, EIO);
  progress();
  let_through(0);
  let_through(0);
  EXPECT_EQ(ended(), (std::vector<WorkId>{1, 2, 3}));
  for (const auto& [work, status] : ends_) EXPECT_EQ(status.ok(), work != 2) << work;
}

TEST_F(SlowFilteredOrder, GivenUpWhileWritesWaitForAnother) {
  crew_.pause(true);
  write(kWhole, letters('b'));
  let_through(2);
  drop();
  let_through(1);
  EXPECT_EQ(ended(), std::vector<WorkId>{});
  let_through(0);
  EXPECT_EQ(ended(), (std::vector<WorkId>{1, 2, 3, 4}));
}

TEST_F(FilteredOrder, GivenUpBeforeAnyHasBegun) {
  crew_.pause(true);
  write(kWhole, letters('a'));
  write(kWhole, letters('b'));
  drop();
  EXPECT_EQ(ended(), (std::vector<WorkId>{1, 2}));
  EXPECT_TRUE(filtering_.idle());
}

// A block of two chunks has been written. The gate holds both chunks of a second write back.
class HalfFailedFilteredOrder : public FilteredOrder {
 protected:
  void SetUp() override {
    write(kHalves, letters('a'));
    progress();
    ASSERT_EQ(ended(), std::vector<WorkId>{1});
    gate.shut();
    write(kHalves, letters('b'));
    progress();
    ASSERT_EQ(gate.held(), 2u);
  }
  void expect_failure(WorkId read) {
    ASSERT_EQ(ended(), (std::vector<WorkId>{1, read})) << "the second write has not ended";
    ASSERT_FALSE(ends_.back().second.ok());
    EXPECT_EQ(ends_.back().second.fault().system_errno, EIO);
  }
};

TEST_F(HalfFailedFilteredOrder, AReadThatFollowsDoesNotGetOlderBytes) {
  gate.fail(0, EIO);
  progress();
  const WorkId read = begin(Verb::read, kHalves, Bytes(4096));
  progress();
  while (gate.held() > 1) let_through(1);
  expect_failure(read);
}

// Another write leaves one buffer, in which the read gets chunk after chunk.
TEST_F(HalfFailedFilteredOrder, AReadThatHasBegunDoesNotGetOlderBytes) {
  write(kWhole, letters('c'));
  progress();
  const WorkId read = begin(Verb::read, kHalves, Bytes(4096));
  ASSERT_TRUE(crew_.progress());
  gate.fail(1, EIO);
  progress();
  while (gate.held() > 2) let_through(2);
  expect_failure(read);
}

}  // namespace
}  // namespace tailrace::impl
