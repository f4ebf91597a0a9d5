// What is particular to the back end `uring`: registered memory and the kernel's workers.
#include "storage/uring/uring_storage.hpp"

#include <unistd.h>

#include <array>
#include <thread>

#include "storage_driver.hpp"
#include "threads_of_process.hpp"

namespace tailrace::impl {
namespace {

TEST(UringStorage, SaysWhetherItsBuffersAreRegistered) {
  Doorbell doorbell;
  auto storage = UringStorage::create(doorbell, {});
  if (!storage.ok()) GTEST_SKIP() << storage.status().fault().message;
  EXPECT_EQ(storage.value()->capabilities().name, "uring");
  EXPECT_EQ(storage.value()->capabilities().direct_alignment, 4096);
  AlignedMemory memory(1 << 20, 4096);
  storage.value()->use_memory(memory.span());
  const std::string& name = storage.value()->capabilities().name;
  if (name != "uring, registered buffers") {
    EXPECT_EQ(name, "uring, buffers not registered (Cannot allocate memory)");
  }
}

// Memory that cannot be registered (it cannot be written) is used all the same.
TEST(UringStorage, WorksWithoutRegisteredBuffers) {
  Doorbell doorbell;
  TemporaryDirectory directory;
  auto storage = UringStorage::create(doorbell, {.depth = 4, .direct = false, .cpus = {}});
  if (!storage.ok()) GTEST_SKIP() << storage.status().fault().message;
  static const std::array<std::byte, 4096> constant{};
  storage.value()->use_memory({const_cast<std::byte*>(constant.data()), constant.size()});
  EXPECT_EQ(storage.value()->capabilities().name, "uring, buffers not registered (Bad address)");
  const FileHandle file = storage.value()->open(directory / "file", OpenMode::create, 0).value();
  std::vector<std::byte> bytes(100);
  EXPECT_EQ(run(*storage.value(), doorbell, Transfer::Kind::write, file, 0, bytes), 100);
}

// The ring is made on one thread and used on another, as the engine's is.
TEST(UringStorage, KeepsTheKernelsWorkersToTheCpusGiven) {
  Doorbell doorbell;
  TemporaryDirectory directory;
  const int cpu = last_allowed_cpu();
  auto storage = UringStorage::create(doorbell, {.depth = 4, .direct = false, .cpus = {cpu}});
  if (!storage.ok()) GTEST_SKIP() << storage.status().fault().message;
  // The kernel names its workers after the thread that they work for.
  std::vector<ThreadOfProcess> workers;
  std::thread engine([&] {
    const FileHandle file = storage.value()->open(directory / "file", OpenMode::create, 0).value();
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
