// Toucher: it touches the first part first, up to the end or as far as memory is used, skips memory that others take,
// and ends on request.
#include "base/memory/toucher.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/memory/heap.hpp"
#include "base/memory/memory_map.hpp"
#include "base/os/file_descriptor.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kPart = Toucher::kPart;
using Part = std::pair<size_t, size_t>;

// Touches for a toucher; each part waits until the test lets it go.
class Gate {
 public:
  Toucher::Options options() {
    return {.take = [this](size_t offset, size_t size) { return take({offset, size}); }};
  }
  void let_go(size_t parts) {
    const std::lock_guard lock(mutex_);
    allowed_ += parts;
    changed_.notify_all();
  }
  void await(size_t parts) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return seen.size() >= parts; });
  }

  std::vector<Part> seen;  // to read when the thread is stopped, or has ended
  size_t last = SIZE_MAX;  // parts after which it takes no more

 private:
  bool take(Part part) {
    std::unique_lock lock(mutex_);
    seen.push_back(part);
    changed_.notify_all();
    changed_.wait(lock, [&] { return allowed_ > 0; });
    --allowed_;
    return seen.size() < last;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  size_t allowed_ = 0;
};

size_t resident(std::span<std::byte> memory) {
  std::vector<unsigned char> pages(memory.size() / 4096);
  EXPECT_EQ(mincore(memory.data(), memory.size(), pages.data()), 0);
  return static_cast<size_t>(
      std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; }));
}

TEST(Toucher, TakesAllFromTheStart) {
  Gate gate;
  gate.let_go(100);
  Toucher toucher(3 * kPart + 4096, gate.options());
  toucher.finish();
  const std::vector<Part> all = {{0, kPart}, {kPart, kPart}, {2 * kPart, kPart}, {3 * kPart, 4096}};
  EXPECT_EQ(gate.seen, all);
  EXPECT_EQ(toucher.taken(), 3 * kPart + 4096);
}

TEST(Toucher, SaysThatAllIsTakenIfItIs) {
  for (const size_t last : {size_t{2}, SIZE_MAX}) {
    Gate gate;
    gate.last = last;
    gate.let_go(100);
    bool taken = false;
    Toucher::Options options = gate.options();
    options.taken = [&taken] { taken = true; };
    Toucher toucher(4 * kPart, options);
    toucher.finish();
    EXPECT_EQ(taken, last == SIZE_MAX);
  }
}

TEST(Toucher, PassesOverWhatIsTakenByOthers) {
  Gate gate;
  Toucher toucher(8 * kPart, gate.options());
  gate.await(1);
  toucher.pass_over(3 * kPart + 4096);  // the part in which it ends is not complete
  toucher.pass_over(kPart);             // … and this does not undo it
  gate.let_go(1);
  gate.await(2);
  EXPECT_EQ(gate.seen[1], Part(3 * kPart, kPart));
  EXPECT_EQ(toucher.taken(), kPart) << "the second part is being taken";
  toucher.pass_over(100 * kPart);
  gate.let_go(1);
  toucher.finish();
  EXPECT_EQ(gate.seen.size(), 2u);
}

TEST(Toucher, TakesAsMuchAgainAsIsUsed) {
  Gate gate;
  gate.let_go(100);
  bool taken = false;
  Toucher::Options options = gate.options();
  options.ahead = 2 * kPart;
  options.taken = [&taken] { taken = true; };
  Toucher toucher(12 * kPart + 4096, options);
  gate.await(2);
  toucher.use(kPart / 2);  // from here on two parts and a half
  gate.await(3);
  toucher.use(kPart / 4);  // asks for nothing that the last one did not ask for
  toucher.use(4 * kPart);
  gate.await(8);
  EXPECT_FALSE(taken);
  toucher.use(SIZE_MAX);
  toucher.finish();
  EXPECT_TRUE(taken);
  EXPECT_EQ(gate.seen.size(), 13u);
  EXPECT_EQ(gate.seen.back(), Part(12 * kPart, 4096));
}

// It lets go of each part itself, and so would take a third one.
TEST(Toucher, LeavesTheRestToTheSystem) {
  std::atomic<size_t> parts{0};
  std::atomic<size_t> rounds{0};
  Toucher::Options options;
  options.ahead = 2 * kPart;
  options.take = [&parts](size_t, size_t) {
    ++parts;
    return true;
  };
  options.improve = [&rounds] {
    if (rounds.fetch_add(1) == 0) rounds.notify_one();
    return false;
  };
  {
    const Toucher toucher(8 * kPart, options);
    rounds.wait(0);  // all that it was to take has been taken
    EXPECT_EQ(parts, 2u);
  }
  EXPECT_EQ(parts, 2u);
  EXPECT_EQ(rounds, 1u);
}

TEST(Toucher, ImprovesEachStretch) {
  std::atomic<size_t> rounds{0};
  Toucher::Options options;
  options.ahead = kPart;
  options.take = [](size_t, size_t) { return true; };
  options.improve = [&rounds] {
    ++rounds;
    rounds.notify_one();
    return false;
  };
  Toucher toucher(4 * kPart, options);
  rounds.wait(0);
  toucher.use(kPart);
  rounds.wait(1);
  toucher.use(4 * kPart);
  toucher.finish();
  EXPECT_EQ(rounds, 3u);
}

TEST(Toucher, EndsWhereNoMoreIsToBeHad) {
  Gate gate;
  gate.last = 2;
  gate.let_go(100);
  Toucher toucher(8 * kPart, gate.options());
  toucher.finish();
  EXPECT_EQ(gate.seen.size(), 2u);
  EXPECT_EQ(toucher.taken(), kPart) << "the second part could not be had";
}

TEST(Toucher, ImprovesWhatItHasTakenUntilThereIsNothingToDo) {
  Gate gate;
  gate.let_go(100);
  size_t rounds = 0;
  size_t taken_before = 0;
  Toucher::Options options = gate.options();
  options.improve = [&] {
    taken_before = gate.seen.size();
    return ++rounds < 3;
  };
  Toucher toucher(4 * kPart, options);
  toucher.finish();
  EXPECT_EQ(rounds, 3u);
  EXPECT_EQ(taken_before, 4u);
}

TEST(Toucher, EndsWhileItImproves) {
  std::atomic<size_t> rounds{0};
  Toucher::Options options;
  options.take = [](size_t, size_t) { return true; };
  options.improve = [&rounds] {
    if (rounds.fetch_add(1) == 0) rounds.notify_one();
    return true;
  };
  const Toucher toucher(kPart, options);
  rounds.wait(0);
}

// There is so much memory that it would not end by itself.
TEST(Toucher, EndsWhenItIsAsked) {
  std::atomic<size_t> taken{0};
  Toucher::Options options;
  options.take = [&taken](size_t, size_t) {
    if (taken.fetch_add(1) == 0) taken.notify_one();
    return true;
  };
  const Toucher toucher(SIZE_MAX / kPart * kPart, options);
  taken.wait(0);
}

TEST(Toucher, GetsNoSignals) {
  sigset_t mask;
  sigemptyset(&mask);
  Toucher::Options options;
  options.prepare = [&mask] { pthread_sigmask(SIG_SETMASK, nullptr, &mask); };
  options.take = [](size_t, size_t) { return true; };
  Toucher toucher(kPart, options);
  toucher.finish();
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGALRM}) EXPECT_EQ(sigismember(&mask, signal), 1) << signal;
}

TEST(Toucher, IsTheParentsAlone) {
  Gate gate;
  auto* const toucher = new Toucher(4 * kPart, gate.options());
  gate.await(1);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    delete toucher;  // must not wait for a thread that does not exist
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  gate.let_go(4);
  delete toucher;
}

// The parent's thread waits in its pause; in the child, nobody ever wakes it.
TEST(Toucher, IsTheParentsAloneWhileItImproves) {
  std::atomic<size_t> rounds{0};
  Toucher::Options options;
  options.take = [](size_t, size_t) { return true; };
  options.improve = [&rounds] {
    if (rounds.fetch_add(1) == 0) rounds.notify_one();
    return true;
  };
  auto* const toucher = new Toucher(kPart, options);
  rounds.wait(0);
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      delete toucher;
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  delete toucher;
}

TEST(Toucher, TakesAPool) {
  const Result<MappedMemory> memory = MappedMemory::create(3 * kPart + 8192);
  ASSERT_TRUE(memory.ok());
  const std::span<std::byte> bytes = memory.value().bytes();
  EXPECT_EQ(resident(bytes), 0u);
  const auto take = [bytes](size_t offset, size_t size) { return touch(bytes.data() + offset, size) == 0; };
  Toucher toucher(bytes.size(), {.take = take});
  toucher.finish();
  EXPECT_EQ(resident(bytes), bytes.size() / 4096);
}

TEST(Toucher, TakesTheHeapWithoutAChange) {
  const auto heap = take_heap(size_t{8} << 20);
  std::vector<std::vector<char>> blocks(64, std::vector<char>(100'000, 'x'));
  if (heap) heap->finish();
  for (const std::vector<char>& block : blocks) {
    EXPECT_TRUE(std::all_of(block.begin(), block.end(), [](char byte) { return byte == 'x'; }));
  }
}

// Memory of a file: two mappings, from the start of a huge page on.
TEST(Touch, GathersHugePagesOfAFile) {
  const FileDescriptor file(memfd_create("touch_test", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(file.get(), 2 * kHugePage), 0);
  void* const room = mmap(nullptr, 3 * kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(room, MAP_FAILED);
  const auto address = (reinterpret_cast<uintptr_t>(room) + kHugePage - 1) / kHugePage * kHugePage;
  auto* const begin = static_cast<std::byte*>(mmap(reinterpret_cast<void*>(address), 2 * kHugePage,
                                                   PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(), 0));
  begin[5] = std::byte{7};
  begin[2 * kHugePage - 1] = std::byte{9};
  const int error = gather_huge_pages(begin, 2 * kHugePage);
  EXPECT_EQ(begin[5], std::byte{7});
  EXPECT_EQ(begin[2 * kHugePage - 1], std::byte{9});
  EXPECT_EQ(std::count(begin, begin + 2 * kHugePage, std::byte{0}), 2 * kHugePage - 2);
  munmap(room, 3 * kHugePage);
  if (error != 0) GTEST_SKIP() << "no huge pages in shared memory here: " << std::strerror(error);
}

TEST(Touch, ReportsThatAFileHasNoMore) {
  if (!touch_reports_errors()) GTEST_SKIP() << "this kernel has no MADV_POPULATE_WRITE";
  const FileDescriptor file(memfd_create("touch_test", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(file.get(), 4096), 0);
  auto* const begin = static_cast<std::byte*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
  EXPECT_EQ(touch(begin, 4096), 0);
  EXPECT_EQ(touch(begin, 8192), EFAULT);
  munmap(begin, 8192);
}

}  // namespace
}  // namespace tailrace::impl
