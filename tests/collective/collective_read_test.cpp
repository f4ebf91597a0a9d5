// Collective reads, by several processes that one thread carries out in random turns. What each gets is compared with
// the file.
#include "collective/read/collective_read.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "list_data.hpp"
#include "network.hpp"

namespace {

using namespace tailrace::collective;
using test::FakeExchange;
using test::ListSpace;
using test::Network;

// A file in memory.
class FakeSource : public Source {
 public:
  FakeSource(const std::vector<std::byte>& file, int error) : file_(file), error_(error) {}

  End read(uint64_t offset, std::span<std::byte> to) override {
    ++reads;
    asked += to.size();
    if (error_ != 0) return {0, error_};
    if (offset >= file_.size()) return {};
    const uint64_t bytes = std::min(to.size(), file_.size() - offset);
    std::copy_n(file_.begin() + static_cast<ptrdiff_t>(offset), bytes, to.begin());
    return {bytes, 0};
  }

  int reads = 0;
  uint64_t asked = 0;

 private:
  const std::vector<std::byte>& file_;
  const int error_;
};

// One process.
struct Reader {
  Reader(Network& network, const std::vector<std::byte>& file, uint32_t rank, std::vector<tailrace_extent> extents,
         int error)
      : space(std::move(extents)), exchange(network, rank), source(file, error) {}

  void begin(const std::vector<int>& nodes, const Options& options) {
    Contribution mine;
    mine.bytes = space.bytes();
    mine.pieces = space.extents().size();
    if (mine.bytes > 0) {
      mine.begin = space.extents().front().offset;
      mine.end = space.extents().back().offset + space.extents().back().length;
    }
    read.emplace(CollectiveRead::Parts{exchange, source, space}, mine, nodes, options);
  }

  ListSpace space;
  FakeExchange exchange;
  FakeSource source;
  std::optional<CollectiveRead> read;
};

// Deals random pieces of a file to the processes. Processes may read the same bytes.
std::vector<std::vector<tailrace_extent>> deal_extents(std::mt19937_64& dice, size_t ranks, uint64_t pieces,
                                                       uint64_t longest) {
  std::vector<std::vector<tailrace_extent>> extents(ranks);
  uint64_t at = dice() % 1000;
  for (uint64_t i = 0; i < pieces; ++i) {
    const uint64_t length = 1 + dice() % longest;
    const size_t owner = dice() % (ranks + 1);
    if (owner < ranks) extents[owner].push_back({at, length});
    if (owner == ranks && dice() % 2 == 0) {
      for (auto& list : extents) list.push_back({at, length});
    }
    at += length;
  }
  return extents;
}

class ReadJob {
 public:
  // The file ends `missing` bytes before the last piece does.
  ReadJob(uint64_t seed, const std::vector<std::vector<tailrace_extent>>& extents, uint64_t missing = 0,
          int error = 0)
      : network_(seed, extents.size()) {
    uint64_t end = 0;
    for (const auto& list : extents) {
      if (!list.empty()) end = std::max(end, list.back().offset + list.back().length);
    }
    file.resize(end - std::min(end, missing));
    for (std::byte& byte : file) byte = std::byte(network_.dice());
    for (uint32_t rank = 0; rank < extents.size(); ++rank) {
      processes.push_back(std::make_unique<Reader>(network_, file, rank, extents[rank], error));
    }
  }

  // Returns false if they have not all ended after very many turns.
  bool run(const std::vector<int>& nodes, const Options& options) {
    for (const auto& process : processes) process->begin(nodes, options);
    for (uint64_t turn = 0; turn < 20'000'000; ++turn) {
      processes[network_.dice() % processes.size()]->read->progress();
      if (turn % 64 == 0 && all_ended()) return true;
    }
    return false;
  }

  // Returns what the process should have got.
  std::vector<std::byte> expected(const Reader& process) const {
    std::vector<std::byte> bytes;
    for (const tailrace_extent& extent : process.space.extents()) {
      for (uint64_t i = extent.offset; i < extent.offset + extent.length && i < file.size(); ++i) {
        bytes.push_back(file[i]);
      }
    }
    return bytes;
  }

  std::vector<std::byte> file;
  std::vector<std::unique_ptr<Reader>> processes;

 private:
  bool all_ended() const {
    for (const auto& process : processes) {
      if (!process->read->has_ended()) return false;
    }
    return true;
  }

  Network network_;
};

TEST(CollectiveRead, GivesEachProcessItsBytes) {
  const uint64_t seed = std::random_device{}();
  for (uint64_t number = seed; number < seed + 100; ++number) {
    SCOPED_TRACE("seed " + std::to_string(number));
    std::mt19937_64 dice(number);
    const size_t ranks = 1 + dice() % 9;
    const uint64_t missing = dice() % 2 == 0 ? 0 : dice() % 20'000;
    ReadJob job(number, deal_extents(dice, ranks, dice() % 400, 1 + dice() % 3000), missing);
    Options options;
    options.algorithm = static_cast<Algorithm>(2 + dice() % 3);
    options.aggregators = static_cast<uint32_t>(dice() % (ranks + 2));
    options.aggregators_per_group = static_cast<uint32_t>(dice() % 3);
    options.cycle_bytes = 1 + dice() % 300'000;
    options.alignment = dice() % 2 == 0 ? 1 : 4096;
    std::vector<int> nodes(ranks);
    for (int& node : nodes) node = static_cast<int>(dice() % 3);
    ASSERT_TRUE(job.run(nodes, options)) << "it does not end";
    for (const auto& process : job.processes) {
      const std::vector<std::byte> expected = job.expected(*process);
      ASSERT_EQ(process->read->error(), 0);
      ASSERT_EQ(process->read->bytes(), expected.size());
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), process->space.memory.begin()));
    }
  }
}

// The pieces of all processes are read in a few large ones, and each byte once.
TEST(CollectiveRead, ReadsRangesInsteadOfPieces) {
  std::mt19937_64 dice(1);
  ReadJob job(1, deal_extents(dice, 4, 40'000, 100));
  Options options{Algorithm::two_phase, 2};
  options.cycle_bytes = 256 << 10;
  ASSERT_TRUE(job.run({0, 0, 0, 0}, options));
  int reads = 0;
  uint64_t asked = 0;
  for (const auto& process : job.processes) {
    reads += process->source.reads;
    asked += process->source.asked;
  }
  EXPECT_LE(reads, 16) << "about 2 MB, in ranges of 256 KiB";
  EXPECT_LE(asked, job.file.size());
}

TEST(CollectiveRead, LeavesIndividualReadsToTheCaller) {
  std::mt19937_64 dice(2);
  ReadJob job(2, deal_extents(dice, 3, 30, 100));
  ASSERT_TRUE(job.run({0, 0, 0}, {Algorithm::individual}));
  for (const auto& process : job.processes) {
    EXPECT_TRUE(process->read->is_individual());
    EXPECT_EQ(process->source.reads, 0);
  }
}

// A process learns that an aggregator could not read its data.
TEST(CollectiveRead, ReportsAnErrorToTheMembers) {
  std::mt19937_64 dice(3);
  ReadJob job(3, deal_extents(dice, 4, 400, 100), 0, 5);
  ASSERT_TRUE(job.run({0, 0, 1, 1}, {Algorithm::dynamic}));
  for (const auto& process : job.processes) EXPECT_EQ(process->read->error(), 5);
}

TEST(CollectiveRead, EndsWhereNobodyReads) {
  std::mt19937_64 dice(4);
  for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::two_phase, Algorithm::static_}) {
    ReadJob job(4, deal_extents(dice, 3, 0, 1));
    EXPECT_TRUE(job.run({0, 0, 0}, {algorithm}));
  }
}

}  // namespace
