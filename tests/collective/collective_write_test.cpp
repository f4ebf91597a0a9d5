// Collective writes, by several processes that one thread carries out in random turns: messages take a while. The
// file is compared with a plain model.
#include "collective/write/collective_write.hpp"

#include <gtest/gtest.h>

#include <random>

#include "list_data.hpp"
#include "network.hpp"

namespace {

using namespace tailrace::collective;
using test::FakeExchange;
using test::ListData;
using test::Network;

// A file in memory. The end of its writes takes a while.
class FakeSink : public Sink {
 public:
  FakeSink(std::vector<std::byte>& file, int error) : file_(file), error_(error) {}

  void write(std::span<const tailrace_extent> extents, std::span<const std::byte> bytes) override {
    ++writes;
    for (size_t i = 0; i < extents.size(); ++i) {
      EXPECT_TRUE(i == 0 || extents[i - 1].offset + extents[i - 1].length < extents[i].offset);
      ASSERT_GE(file_.size(), extents[i].offset + extents[i].length);
      std::copy_n(bytes.begin(), extents[i].length, file_.begin() + static_cast<ptrdiff_t>(extents[i].offset));
      bytes = bytes.subspan(extents[i].length);
    }
    EXPECT_TRUE(bytes.empty());
  }
  std::optional<int> ended() override { return ++asked_ < 3 ? std::nullopt : std::optional(error_); }

  int writes = 0;

 private:
  std::vector<std::byte>& file_;
  const int error_;
  int asked_ = 0;
};

// One process of the write.
struct Process {
  Process(Network& network, std::vector<std::byte>& file, uint32_t rank, ListData own, int error)
      : data(std::move(own)), exchange(network, rank), sink(file, error) {}

  void begin(const std::vector<int>& nodes, const Options& options) {
    Contribution mine;
    mine.bytes = data.bytes();
    mine.pieces = data.extents().size();
    if (mine.bytes > 0) {
      mine.begin = data.extents().front().offset;
      mine.end = data.extents().back().offset + data.extents().back().length;
    }
    write.emplace(CollectiveWrite::Parts{exchange, sink, data}, mine, nodes, options);
  }

  ListData data;
  FakeExchange exchange;
  FakeSink sink;
  std::optional<CollectiveWrite> write;
};

// Deals random pieces of a file to the processes; some belong to none.
std::vector<ListData> deal(std::mt19937_64& dice, size_t ranks, uint64_t pieces, uint64_t longest) {
  std::vector<std::vector<tailrace_extent>> extents(ranks);
  std::vector<std::vector<std::byte>> bytes(ranks);
  uint64_t at = dice() % 1000;
  for (uint64_t i = 0; i < pieces; ++i) {
    const uint64_t length = 1 + dice() % longest;
    const size_t owner = dice() % (ranks + 1);
    if (owner < ranks) {
      extents[owner].push_back({at, length});
      for (uint64_t j = 0; j < length; ++j) bytes[owner].push_back(std::byte(1 + dice() % 255));
    }
    at += length;
  }
  std::vector<ListData> data;
  for (size_t rank = 0; rank < ranks; ++rank) data.emplace_back(std::move(extents[rank]), std::move(bytes[rank]));
  return data;
}

class Job {
 public:
  Job(uint64_t seed, const std::vector<ListData>& data, int error = 0) : network_(seed, data.size()) {
    uint64_t end = 0;
    for (const ListData& one : data) {
      if (one.bytes() > 0) end = std::max(end, one.extents().back().offset + one.extents().back().length);
    }
    file.resize(end);
    expected.resize(end);
    for (const ListData& one : data) {
      std::vector<std::byte> bytes(one.bytes());
      one.copy(0, bytes.size(), bytes.data());
      auto from = bytes.begin();
      for (const tailrace_extent& extent : one.extents()) {
        std::copy_n(from, extent.length, expected.begin() + static_cast<ptrdiff_t>(extent.offset));
        from += static_cast<ptrdiff_t>(extent.length);
      }
    }
    for (uint32_t rank = 0; rank < data.size(); ++rank) {
      processes.push_back(std::make_unique<Process>(network_, file, rank, data[rank], error));
    }
  }

  // Returns false if they have not all ended after very many turns.
  bool run(const std::vector<int>& nodes, const Options& options) {
    for (const auto& process : processes) process->begin(nodes, options);
    for (uint64_t turn = 0; turn < 20'000'000; ++turn) {
      processes[network_.dice() % processes.size()]->write->progress();
      if (turn % 64 == 0 && all_ended()) return true;
    }
    return false;
  }

  std::vector<std::byte> file;
  std::vector<std::byte> expected;
  std::vector<std::unique_ptr<Process>> processes;

 private:
  bool all_ended() const {
    for (const auto& process : processes) {
      if (!process->write->has_ended()) return false;
    }
    return true;
  }

  Network network_;
};

TEST(CollectiveWrite, PutsEveryByteWhereItBelongs) {
  const uint64_t seed = std::random_device{}();
  for (uint64_t number = seed; number < seed + 100; ++number) {
    SCOPED_TRACE("seed " + std::to_string(number));
    std::mt19937_64 dice(number);
    const size_t ranks = 1 + dice() % 9;
    Job job(number, deal(dice, ranks, dice() % 400, 1 + dice() % 3000));
    Options options;
    options.algorithm = static_cast<Algorithm>(2 + dice() % 3);
    options.aggregators = static_cast<uint32_t>(dice() % (ranks + 2));
    options.aggregators_per_group = static_cast<uint32_t>(dice() % 3);
    options.cycle_bytes = 1 + dice() % 100'000;
    options.alignment = dice() % 2 == 0 ? 1 : 4096;
    std::vector<int> nodes(ranks);
    for (int& node : nodes) node = static_cast<int>(dice() % 3);
    ASSERT_TRUE(job.run(nodes, options)) << "it does not end";
    EXPECT_TRUE(job.file == job.expected);
    for (const auto& process : job.processes) EXPECT_EQ(process->write->error(), 0);
  }
}

// The pieces of all processes become a few large ones.
TEST(CollectiveWrite, WritesCyclesInsteadOfPieces) {
  std::mt19937_64 dice(1);
  Job job(1, deal(dice, 4, 4000, 100));
  Options options{Algorithm::two_phase, 2};
  options.cycle_bytes = 64 << 10;
  ASSERT_TRUE(job.run({0, 0, 0, 0}, options));
  int writes = 0;
  for (const auto& process : job.processes) writes += process->sink.writes;
  EXPECT_LE(writes, 5) << "about 160 KB, in cycles of 64 KiB";
}

TEST(CollectiveWrite, LeavesIndividualWritesToTheCaller) {
  std::mt19937_64 dice(2);
  Job job(2, deal(dice, 3, 30, 100));
  ASSERT_TRUE(job.run({0, 0, 0}, {Algorithm::individual}));
  for (const auto& process : job.processes) {
    EXPECT_TRUE(process->write->is_individual());
    EXPECT_EQ(process->sink.writes, 0);
  }
}

// A process learns that an aggregator could not write its data.
TEST(CollectiveWrite, ReportsAnErrorToTheMembers) {
  std::mt19937_64 dice(3);
  Job job(3, deal(dice, 4, 400, 100), 28);
  ASSERT_TRUE(job.run({0, 0, 1, 1}, {Algorithm::dynamic}));
  for (const auto& process : job.processes) EXPECT_EQ(process->write->error(), 28);
}

TEST(CollectiveWrite, EndsWhereNobodyWrites) {
  std::mt19937_64 dice(4);
  for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::two_phase, Algorithm::static_}) {
    Job job(4, deal(dice, 3, 0, 1));
    EXPECT_TRUE(job.run({0, 0, 0}, {algorithm}));
  }
}

}  // namespace
