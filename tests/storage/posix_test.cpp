// The particulars of the back end `posix`: its threads.
#include <signal.h>

#include "storage/posix/posix_storage.hpp"
#include "storage_driver.hpp"
#include "threads_of_process.hpp"

namespace tailrace::impl {
namespace {

TEST(PosixStorage, HasOneThreadADeviceThatTakesNoSignalAndKeepsToItsCpus) {
  Doorbell doorbell;
  TemporaryDirectory directory;
  const int cpu = last_allowed_cpu();
  auto storage = PosixStorage::create(doorbell, {.devices = 3, .depth = 4, .direct = false, .cpus = only(cpu)});
  ASSERT_TRUE(storage.ok());
  EXPECT_EQ(storage.value()->capabilities().name, "posix, 3 write threads");
  EXPECT_EQ(storage.value()->capabilities().direct_alignment, 0);
  // A transfer on each device: after that, each thread has started.
  for (uint32_t device = 0; device < 3; device++) {
    const std::string path = directory / std::to_string(device);
    const FileHandle file = storage.value()->files().open(path, OpenMode::create, device).value().file;
    EXPECT_FALSE(storage.value()->files().direct(file));
    std::byte byte{1};
    EXPECT_EQ(run(*storage.value(), doorbell, Transfer::Kind::write, file, 0, std::span(&byte, 1)), 1);
  }
  int found = 0;
  for (const ThreadOfProcess& thread : threads_of_process()) {
    if (thread.name != "tailrace-io") continue;
    found++;
    EXPECT_EQ(thread.cpus, std::to_string(cpu));
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGCHLD, SIGPROF}) {
      EXPECT_TRUE(thread.signals_blocked >> (signal - 1) & 1) << signal;
    }
  }
  EXPECT_EQ(found, 3);
}

TEST(PosixStorage, LeavesTheSignalsOfItsMakerAlone) {
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  Doorbell doorbell;
  ASSERT_TRUE(PosixStorage::create(doorbell, {}).ok());
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < 64; signal++) EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal));
}

}  // namespace
}  // namespace tailrace::impl
