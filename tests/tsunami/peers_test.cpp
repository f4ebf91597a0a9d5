// The exchange between processes that share a grid: by threads instead, which sanitizers can watch; and the crew
// itself, by real processes, some of which fail, are killed, or never come.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <random>
#include <thread>

#include "crew.hpp"
#include "error.hpp"
#include "shared_peers.hpp"

namespace tsunami {
namespace {

constexpr SharedPeers::Seconds patient{600}, impatient{0.02};

// Runs work(peers) once for each process, on threads.
template <class Work>
void on_threads(CrewMemory& memory, Work&& work) {
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < memory.processes(); ++rank) {
    threads.emplace_back([&memory, &work, rank] {
      SharedPeers peers(memory, rank, patient);
      work(peers);
    });
  }
}

TEST(Slabs, ArePutTogetherAgain) {
  for (std::size_t rows : {4u, 7u, 103u, 1000u}) {
    for (int size = 1; size <= 4; ++size) {
      std::size_t next = 0;
      for (int rank = 0; rank < size; ++rank) {
        const Slab slab = slab_of(rows, rank, size);
        EXPECT_EQ(slab.first, next);
        EXPECT_LE(slab.count, rows / static_cast<std::size_t>(size) + 1);
        EXPECT_GE(slab.count, rows / static_cast<std::size_t>(size));
        next += slab.count;
      }
      EXPECT_EQ(next, rows);
    }
  }
}

TEST(Alone, GetsItsOwnBack) {
  Alone alone;
  EXPECT_TRUE(alone.is_southernmost() && alone.is_northernmost());
  EXPECT_TRUE(alone.outbox(Side::south).empty() && alone.inbox(Side::north).empty());
  EXPECT_EQ(alone.exchange(2.5), 2.5);
  EXPECT_EQ(alone.gather(std::vector<double>{1, 2}), (std::vector<double>{1, 2}));
}

// Returns the word of process `rank` in a round; the same in all processes.
double word(unsigned seed, int round, int rank, int which) {
  std::mt19937_64 random(seed + 1000003u * static_cast<unsigned>(round) + 1009u * static_cast<unsigned>(rank) +
                         static_cast<unsigned>(which));
  return std::uniform_real_distribution<double>(-1, 1)(random);
}

// Exchanges and gathers in random order, all compared with what the others must have sent.
TEST(Peers, HearWhatTheOthersSaid) {
  const unsigned seed = std::random_device()();
  std::printf("seed %u\n", seed);
  constexpr std::size_t halo = 5;
  for (int size = 1; size <= 5; ++size) {
    CrewMemory memory(size, halo, 8);
    std::atomic<int> wrong{0};
    on_threads(memory, [&](Peers& peers) {
      std::mt19937 random(seed);  // the same order in all
      const auto check = [&](bool right) { wrong += right ? 0 : 1; };
      for (int round = 0; round < 300; ++round) {
        if (random() % 3 == 0) {
          // As many numbers as the rank.
          std::vector<double> mine, expected;
          for (int k = 0; k < peers.rank(); ++k) mine.push_back(word(seed, round, peers.rank(), k));
          for (int rank = 0; rank < size; ++rank) {
            for (int k = 0; k < rank; ++k) expected.push_back(word(seed, round, rank, k));
          }
          check(peers.gather(mine) == expected);
          continue;
        }
        for (const Side side : {Side::south, Side::north}) {
          const auto box = peers.outbox(side);
          check(box.empty() == (side == Side::south ? peers.is_southernmost() : peers.is_northernmost()));
          for (std::size_t k = 0; k < std::min(halo, box.size()); ++k) {
            box[k] = word(seed, round, peers.rank(), static_cast<int>(k) + (side == Side::north ? 10 : 20));
          }
        }
        double greatest = -INFINITY;
        for (int rank = 0; rank < size; ++rank) greatest = std::max(greatest, word(seed, round, rank, 0));
        check(peers.exchange(word(seed, round, peers.rank(), 0)) == greatest);
        for (const Side side : {Side::south, Side::north}) {
          const auto box = peers.inbox(side);
          const int neighbour = peers.rank() + (side == Side::north ? 1 : -1);
          for (std::size_t k = 0; k < std::min(halo, box.size()); ++k) {
            check(box[k] == word(seed, round, neighbour, static_cast<int>(k) + (side == Side::north ? 20 : 10)));
          }
        }
      }
    });
    EXPECT_EQ(wrong.load(), 0) << size << " processes";
  }
}

TEST(Peers, GatherNoMoreThanThereIsRoomFor) {
  CrewMemory memory(1, 0, 8);
  SharedPeers peers(memory, 0, patient);
  EXPECT_THROW(peers.gather(std::vector<double>(9)), Error);
  EXPECT_EQ(peers.gather(std::vector<double>(8)).size(), 8u);
}

TEST(Peers, AreNamedWhenTheyDoNotCome) {
  CrewMemory memory(3, 0, 8);
  SharedPeers peers(memory, 1, impatient);
  try {
    peers.exchange(0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "waited 0.02 s for process 0, process 2");
  }
}

// Stops peers that sleep already, or come later.
TEST(Peers, AreStopped) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    CrewMemory memory(4, 0, 8);
    std::atomic<int> stopped{0};
    std::jthread stopper([&] { memory.stop(); });
    on_threads(memory, [&](Peers& peers) {
      try {
        while (true) peers.exchange(0);
      } catch (const Stopped&) {
        ++stopped;
      }
    });
    EXPECT_EQ(stopped.load(), 4);
  }
}

TEST(Failures, TheFirstIsKept) {
  CrewMemory memory(2, 0, 8);
  EXPECT_EQ(memory.failure().rank, -1);
  memory.tell_failure(1, "no luck");
  memory.tell_failure(0, "none either");
  EXPECT_EQ(memory.failure().rank, 1);
  EXPECT_EQ(memory.failure().message, "no luck");
  CrewMemory other(2, 0, 8);
  other.tell_failure(0, std::string(100000, 'x'));
  EXPECT_EQ(other.failure().message.size(), 1999u);
}

// A counter that processes share.
class SharedCounter {
 public:
  SharedCounter() {
    void* memory =
        ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Error("no memory");
    count_ = new (memory) std::atomic<int>(0);
  }
  ~SharedCounter() { ::munmap(count_, sizeof *count_); }
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;
  std::atomic<int>& operator*() { return *count_; }

 private:
  std::atomic<int>* count_;
};

// Counts at its end, whatever the reason for that.
struct AtEnd {
  explicit AtEnd(SharedCounter& counter) : counter_(counter) {}
  ~AtEnd() { ++*counter_; }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  SharedCounter& counter_;
};

CrewOptions crew_of(int processes) {
  CrewOptions options;
  options.processes = processes;
  options.gathered = 8;
  return options;
}

TEST(Crew, WorksTogether) {
  SharedCounter sum;
  const CrewEnd end = run_crew(crew_of(4), [&](Peers& peers) {
    for (int round = 0; round < 100; ++round) {
      if (peers.exchange(peers.rank() + round) == 3 + round) ++*sum;
    }
  });
  EXPECT_TRUE(end.good) << end.message;
  EXPECT_EQ(end.message, "");
  EXPECT_EQ((*sum).load(), 400);
}

TEST(Crew, TellsWhoFailedAndWhyAndTheOthersEndInOrder) {
  SharedCounter ended;
  const CrewEnd end = run_crew(crew_of(4), [&](Peers& peers) {
    const AtEnd at_end(ended);
    for (int round = 0; true; ++round) {
      peers.exchange(0);
      if (round == 5 && peers.rank() == 2) throw Error("no luck");
    }
  });
  EXPECT_FALSE(end.good);
  EXPECT_EQ(end.message, "process 2 of 4: no luck");
  EXPECT_EQ((*ended).load(), 4);
}

TEST(Crew, TellsWhoWasKilled) {
  for (const int signal : {SIGKILL, SIGTERM}) {
    SharedCounter ended;
    const CrewEnd end = run_crew(crew_of(4), [&](Peers& peers) {
      const AtEnd at_end(ended);
      for (int round = 0; true; ++round) {
        peers.exchange(0);
        if (round == 5 && peers.rank() == 0) ::raise(signal);
      }
    });
    EXPECT_EQ(end.message, std::string("process 0 of 4 was killed by signal ") +
                               (signal == SIGKILL ? "9 (Killed)" : "15 (Terminated)"));
    EXPECT_EQ((*ended).load(), 3);
  }
}

TEST(Crew, TellsWhoEndedWithoutAWord) {
  const CrewEnd end = run_crew(crew_of(2), [&](Peers& peers) {
    if (peers.rank() == 1) std::_Exit(7);
    peers.exchange(0);
  });
  EXPECT_EQ(end.message, "process 1 of 2 ended with exit code 7");
}

// One never comes and cannot be stopped: the wait is limited, and then it is killed.
TEST(Crew, DoesNotHang) {
  CrewOptions options = crew_of(3);
  options.wait_limit = impatient.count();
  options.grace = impatient.count();
  const CrewEnd end = run_crew(options, [&](Peers& peers) {
    while (peers.rank() == 1) ::pause();
    peers.exchange(0);
  });
  EXPECT_NE(end.message.find(": waited 0.02 s for process 1"), std::string::npos) << end.message;
  EXPECT_NE(end.message.find(" had to be killed"), std::string::npos) << end.message;
}

// Every process holds the pipe's writing end, so its reader sees the end of the last one.
TEST(Crew, EndsWithItsWatcher) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t watcher = ::fork();
  if (watcher == 0) {
    run_crew(crew_of(3), [&](Peers& peers) {
      peers.exchange(0);
      if (peers.rank() == 0 && ::write(ends[1], "x", 1) != 1) std::_Exit(1);
      while (true) peers.exchange(0);
    });
    std::_Exit(0);
  }
  ::close(ends[1]);
  char begun = 0;
  ASSERT_EQ(::read(ends[0], &begun, 1), 1);
  ::kill(watcher, SIGKILL);
  EXPECT_EQ(::read(ends[0], &begun, 1), 0);
  ::waitpid(watcher, nullptr, 0);
  ::close(ends[0]);
}

}  // namespace
}  // namespace tsunami
