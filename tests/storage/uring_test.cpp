// The particulars of the back end `uring`: registered memory and the kernel's workers.
#include "storage/uring/uring_storage.hpp"

#include <liburing.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <thread>

#include "storage_driver.hpp"
#include "threads_of_process.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kLarge = 20000;  // bytes: more than is written at once

// Makes the kernel report a lack of memory when this thread submits. Returns false if that is not possible.
bool deny_submissions() {
  sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_enter, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};  // NOLINT(google-runtime-int)
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// The next calls of io_uring_submit(): after `at` of them, `left` ones fail.
struct Refusal {
  int error = 0;
  int at = 0;
  int left = 0;
};
Refusal refusal;

// As wait_for(), for a storage that must be called again after a time.
std::vector<Completion> wait_or_look(Storage& storage, Doorbell& doorbell, size_t count) {
  const SteadyClock clock;
  std::vector<Completion> all;
  while (all.size() < count) {
    std::array<Completion, 7> some;
    doorbell.prepare();
    const size_t got = storage.reap(std::span(some).first(std::min(some.size(), count - all.size())));
    all.insert(all.end(), some.begin(), some.begin() + static_cast<ptrdiff_t>(got));
    const auto due = storage.due();
    got > 0 ? doorbell.cancel() : doorbell.sleep(due ? std::optional(*due - clock.now()) : std::nullopt);
  }
  return all;
}

}  // namespace
}  // namespace tailrace::impl

extern "C" int __real_io_uring_submit(io_uring* ring);
extern "C" int __wrap_io_uring_submit(io_uring* ring) {
  tailrace::impl::Refusal& refusal = tailrace::impl::refusal;
  if (refusal.error == 0 || refusal.at-- > 0 || refusal.left == 0) return __real_io_uring_submit(ring);
  --refusal.left;
  return -refusal.error;
}

namespace tailrace::impl {
namespace {

TEST(UringStorage, SaysWhetherMemoryIsRegistered) {
  Doorbell doorbell;
  auto storage = UringStorage::create(doorbell, {});
  if (!storage.ok()) GTEST_SKIP() << storage.status().fault().message;
  EXPECT_EQ(storage.value()->capabilities().name, "uring");
  EXPECT_EQ(storage.value()->capabilities().direct_alignment, 4096);
  AlignedMemory memory(1 << 20, 4096);
  EXPECT_FALSE(storage.value()->uses_registered_memory());
  storage.value()->use_memory(memory.span());
  if (!storage.value()->uses_registered_memory()) GTEST_SKIP() << "the system registers no memory (ulimit -l)";
}

// Beside a thread that writes from the same memory.
TEST(UringStorage, RegistersMemoryWhileItIsUsed) {
  Doorbell doorbell;
  TemporaryDirectory directory;
  auto storage = UringStorage::create(doorbell, {.depth = 4, .direct = false, .cpus = {}});
  if (!storage.ok()) GTEST_SKIP() << storage.status().fault().message;
  const FileHandle file = storage.value()->files().open(directory / "file", OpenMode::create, 0).value().file;
  AlignedMemory memory(8 << 20, 4096);
  const std::span<std::byte> bytes = memory.span().first(kLarge);
  std::ranges::fill(bytes, std::byte{5});
  std::atomic<bool> done{false};
  std::thread other([&] {
    storage.value()->use_memory(memory.span());
    done.store(true);
  });
  uint64_t written = 0;
  for (bool last = false; !last; written += bytes.size()) {
    last = done.load();
    EXPECT_EQ(run(*storage.value(), doorbell, Transfer::Kind::write, file, written, bytes), kLarge);
  }
  other.join();
  EXPECT_EQ(std::filesystem::file_size(directory / "file"), written);
}

// Memory that cannot be registered (since it is not writable) is used all the same.
TEST(UringStorage, WorksWithoutRegisteredBuffers) {
  Doorbell doorbell;
  TemporaryDirectory directory;
  auto storage = UringStorage::create(doorbell, {.depth = 4, .direct = false, .cpus = {}});
  if (!storage.ok()) GTEST_SKIP() << storage.status().fault().message;
  static const std::array<std::byte, 4096> constant{};
  storage.value()->use_memory({const_cast<std::byte*>(constant.data()), constant.size()});
  EXPECT_FALSE(storage.value()->uses_registered_memory());
  const FileHandle file = storage.value()->files().open(directory / "file", OpenMode::create, 0).value().file;
  std::vector<std::byte> bytes(100);
  EXPECT_EQ(run(*storage.value(), doorbell, Transfer::Kind::write, file, 0, bytes), 100);
}

// Submitted one by one, each would cost a system call.
TEST(UringStorage, WhatIsSubmittedBeginsTogether) {
  constexpr size_t kCount = 8;
  Doorbell doorbell;
  TemporaryDirectory directory;
  auto storage = UringStorage::create(doorbell, {.depth = kCount, .direct = false, .cpus = {}});
  if (!storage.ok()) GTEST_SKIP() << storage.status().fault().message;
  const FileHandle file = storage.value()->files().open(directory / "file", OpenMode::create, 0).value().file;
  std::vector<std::byte> bytes(kLarge, std::byte{1});
  const iovec segment = segment_of(bytes);
  for (uint64_t tag = 0; tag < kCount; tag++) {
    storage.value()->submit({Transfer::Kind::write, false, file, tag * bytes.size(), std::span(&segment, 1), tag});
  }
  EXPECT_EQ(std::filesystem::file_size(directory / "file"), 0) << "nothing has begun";
  for (const Completion& done : wait_for(*storage.value(), doorbell, kCount)) EXPECT_EQ(done.result, bytes.size());
  EXPECT_EQ(std::filesystem::file_size(directory / "file"), kCount * bytes.size());
}

// Small writes into the page cache are cheaper than handing them to a worker. But a worker gets those that come after
// one that took long: here only because others had the processor. So one of several tries has to show it.
TEST(UringStorage, SmallWritesAreMadeAtOnce) {
  constexpr size_t kCount = 70;  // more than one reap takes
  constexpr int kTries = 20;
  bool are_made_at_once = false;
  for (int tries = 0; tries < kTries && !are_made_at_once; ++tries) {
    Doorbell doorbell;
    TemporaryDirectory directory;
    auto storage = UringStorage::create(doorbell, {.depth = kCount + 1, .direct = false, .cpus = {}});
    if (!storage.ok()) GTEST_SKIP() << storage.status().fault().message;
    const FileHandle file = storage.value()->files().open(directory / "file", OpenMode::create, 0).value().file;
    const FileHandle read_only = storage.value()->files().open(directory / "file", OpenMode::read, 0).value().file;
    std::vector<std::byte> bytes(100, std::byte{1});
    const iovec segments[] = {segment_of(std::span(bytes).first(60)), segment_of(std::span(bytes).last(40))};
    for (uint64_t tag = 0; tag < kCount; tag++) {
      storage.value()->submit({Transfer::Kind::write, false, file, tag * bytes.size(), segments, tag});
    }
    storage.value()->submit({Transfer::Kind::write, false, read_only, 0, segments, kCount});
    are_made_at_once = std::filesystem::file_size(directory / "file") == kCount * bytes.size();
    for (const Completion& done : wait_for(*storage.value(), doorbell, kCount + 1)) {
      EXPECT_EQ(done.result, done.tag == kCount ? -EBADF : static_cast<int64_t>(bytes.size()));
    }
    EXPECT_EQ(std::filesystem::file_size(directory / "file"), kCount * bytes.size());
  }
  EXPECT_TRUE(are_made_at_once);
}

// The kernel stops at a request that it cannot even read.
TEST(UringStorage, ARefusedTransferKeepsNoneOfTheOthersBack) {
  constexpr size_t kCount = 9;
  Doorbell doorbell;
  TemporaryDirectory directory;
  auto storage = UringStorage::create(doorbell, {.depth = kCount, .direct = false, .cpus = {}});
  if (!storage.ok()) GTEST_SKIP() << storage.status().fault().message;
  const FileHandle file = storage.value()->files().open(directory / "file", OpenMode::create, 0).value().file;
  void* const nowhere = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(nowhere, MAP_FAILED);
  std::vector<std::byte> bytes(kLarge, std::byte{1});
  constexpr int64_t kBoth = 2 * kLarge;
  const iovec good[] = {segment_of(bytes), segment_of(bytes)};
  const std::span<const iovec> bad(static_cast<const iovec*>(nowhere), 2);
  for (int round = 0; round < 3; round++) {
    for (uint64_t tag = 0; tag < kCount; tag++) {
      const bool refused = tag == 0 || tag == 4 || tag == 5 || tag == 8;
      const uint64_t room = tag % 2 == 0 || refused ? kBoth : 0;
      storage.value()->submit(
          {Transfer::Kind::write, false, file, tag * kBoth, refused ? bad : std::span<const iovec>(good), tag, room});
    }
    std::vector<int64_t> results(kCount);
    for (const Completion& done : wait_for(*storage.value(), doorbell, kCount)) results[done.tag] = done.result;
    EXPECT_EQ(results, (std::vector<int64_t>{-EFAULT, kBoth, kBoth, kBoth, -EFAULT, -EFAULT, kBoth, kBoth, -EFAULT}));
  }
  munmap(nowhere, 4096);
}

// Linux before 5.13 does so while another thread registers memory, and any kernel if it lacks memory or has many
// completions to be reaped.
TEST(UringStorage, WhatTheKernelTakesALittleLaterIsDoneOnce) {
  constexpr size_t kCount = 6;
  TemporaryDirectory directory;
  std::vector<std::byte> bytes(kLarge, std::byte{1});
  const iovec segment = segment_of(bytes);
  for (const int error : {ENXIO, EBUSY, EAGAIN, EINTR}) {
    for (const int times : {1, 8}) {
      for (int at = 0;; ++at) {
        {
          Doorbell doorbell;
          auto storage = UringStorage::create(doorbell, {.depth = kCount, .direct = false, .cpus = {}});
          if (!storage.ok()) GTEST_SKIP() << storage.status().fault().message;
          const FileHandle file = storage.value()->files().open(directory / "file", OpenMode::create, 0).value().file;
          refusal = {error, at, times};
          for (int round = 0; round < 2; ++round) {
            for (uint64_t tag = 0; tag < kCount; tag++) {
              const uint64_t room = tag % 2 == 0 ? kLarge : 0;  // it takes a second place in the ring
              storage.value()->submit(
                  {Transfer::Kind::write, false, file, tag * kLarge, std::span(&segment, 1), tag, room});
            }
            for (const Completion& done : wait_or_look(*storage.value(), doorbell, kCount)) {
              ASSERT_EQ(done.result, static_cast<int64_t>(kLarge)) << std::strerror(error) << " at call " << at;
            }
          }
          EXPECT_EQ(std::filesystem::file_size(directory / "file"), kCount * kLarge);
          storage.value()->submit({Transfer::Kind::write, false, file, 0, std::span(&segment, 1), 0});
        }
        if (refusal.left == times) break;  // there were fewer calls
      }
    }
  }
  refusal = {};
}

// They stay in the ring, and must do no harm when the kernel takes them after all.
TEST(UringStorage, WhatTheKernelDoesNotTakeFailsAndIsNeverDone) {
  constexpr size_t kCount = 4;
  Doorbell doorbell;
  TemporaryDirectory directory;
  auto storage = UringStorage::create(doorbell, {.depth = kCount, .direct = false, .cpus = {}});
  if (!storage.ok()) GTEST_SKIP() << storage.status().fault().message;
  const FileHandle file = storage.value()->files().open(directory / "file", OpenMode::create, 0).value().file;
  std::vector<std::byte> bytes(kLarge, std::byte{1});
  const iovec segment = segment_of(bytes);
  const auto results = [&](uint64_t offset, uint64_t room = 0) {
    for (uint64_t tag = 0; tag < kCount; tag++) {
      storage.value()->submit({Transfer::Kind::write, false, file, offset, std::span(&segment, 1), tag, room});
    }
    std::vector<int64_t> all(kCount);
    for (const Completion& done : wait_for(*storage.value(), doorbell, kCount)) all[done.tag] = done.result;
    return all;
  };
  const std::vector<int64_t> good(kCount, bytes.size());
  ASSERT_EQ(results(0), good);
  bool denied = false;
  std::thread([&] {
    denied = deny_submissions();
    if (!denied) return;
    EXPECT_EQ(results(kLarge * 10), std::vector<int64_t>(kCount, -ENOMEM));
    // The ring is full of requests that were not taken.
    EXPECT_EQ(results(kLarge * 10), std::vector<int64_t>(kCount, -ENOMEM));
  }).join();
  if (!denied) GTEST_SKIP() << "no system call filters here";
  EXPECT_EQ(results(0), good);
  EXPECT_EQ(results(0, kLarge * 4), good);
  std::thread([&] {
    if (!deny_submissions()) return;
    EXPECT_EQ(results(kLarge * 10, kLarge * 4), std::vector<int64_t>(kCount, -ENOMEM));
  }).join();
  EXPECT_EQ(results(0), good);
  EXPECT_EQ(std::filesystem::file_size(directory / "file"), bytes.size());
}

// The ring is made on one thread and used on another, as the engine's is.
TEST(UringStorage, KeepsTheKernelsWorkersToTheCpusGiven) {
  Doorbell doorbell;
  TemporaryDirectory directory;
  const int cpu = last_allowed_cpu();
  auto storage = UringStorage::create(doorbell, {.depth = 4, .direct = false, .cpus = only(cpu)});
  if (!storage.ok()) GTEST_SKIP() << storage.status().fault().message;
  // The kernel names its workers after the thread that they work for.
  std::vector<ThreadOfProcess> workers;
  std::thread engine([&] {
    const FileHandle file = storage.value()->files().open(directory / "file", OpenMode::create, 0).value().file;
    std::vector<std::byte> bytes(1 << 20);
    EXPECT_EQ(run(*storage.value(), doorbell, Transfer::Kind::write, file, 0, bytes), bytes.size());
    EXPECT_EQ(run(*storage.value(), doorbell, Transfer::Kind::sync, file, 0, {}), 0);
    const std::string name = "iou-wrk-" + std::to_string(gettid());
    for (const ThreadOfProcess& thread : threads_of_process()) {
      if (thread.name == name) workers.push_back(thread);
    }
  });
  engine.join();
  // A sync always takes a worker, and a worker lives on for seconds.
  EXPECT_FALSE(workers.empty());
  for (const ThreadOfProcess& worker : workers) EXPECT_EQ(worker.cpus, std::to_string(cpu));
}

}  // namespace
}  // namespace tailrace::impl
