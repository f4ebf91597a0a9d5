// Faults of the environment during a run: full disks, directories that are not writable or vanish, files that are
// deleted meanwhile. Each ends in a status that names its object, and other runs continue.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "hdf5_file.hpp"
#include "on_back_end.hpp"
#include "private_mount.hpp"

namespace {

using test::Config;
using test::Directory;
using test::Error;
using test::OpenRun;

const char* const kVariables[] = {"a", "b", "c", "d", "e", "f"};

// Writes all six variables of an iteration and ends it; returns the first status that is not OK.
tailrace_status write_iteration(tailrace_client* client, int64_t iteration, size_t count = 8192) {
  tailrace_status first = TAILRACE_OK;
  for (int variable = 0; variable < 6; ++variable) {
    const std::vector<double> values = test::block(iteration, variable, count);
    const tailrace_status status = tailrace_write(client, kVariables[variable], iteration, values.data());
    if (first == TAILRACE_OK) first = status;
  }
  const tailrace_status status = tailrace_end_iteration(client, iteration);
  return first == TAILRACE_OK ? status : first;
}

void expect_right(const test::fs::path& file, int64_t iteration) {
  const test::Hdf5File published(file);
  ASSERT_TRUE(published.opened()) << file;
  EXPECT_EQ(published.variables(iteration), std::vector<std::string>(std::begin(kVariables), std::end(kVariables)));
  for (int variable = 0; variable < 6; ++variable) {
    const std::vector<double> expected = test::block(iteration, variable);
    const std::vector<std::byte> found = published.bytes(iteration, kVariables[variable]);
    ASSERT_EQ(found.size(), expected.size() * sizeof(double));
    EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size()), 0) << file << " " << kVariables[variable];
  }
}

// Waits until `iterations` are published or not, and their failures can be reported.
void await_ended(const OpenRun& run, uint64_t iterations) {
  tailrace_stats stats{};
  do {
    sched_yield();
    stats = run.stats();
  } while (stats.iterations_published + stats.iterations_failed < iterations ||
           stats.failures < stats.blocks_failed + stats.iterations_failed);
}

// Takes all failures that have happened, one in each call, as any next call would report them.
std::vector<Error> all_failures(tailrace_client* client) {
  std::vector<Error> errors;
  while (tailrace_flush(client) == TAILRACE_EARLIER_FAILURE) {
    errors.push_back(test::last_error(client));
    EXPECT_TRUE(errors.back().earlier);
  }
  return errors;
}

class WorldFaults : public test::OnBackEnd {};

INSTANTIATE_TEST_SUITE_P(BackEnds, WorldFaults, ::testing::Values("posix", "uring"),
                         [](const auto& test) { return test.param; });

TEST_P(WorldFaults, FullDiskIsToldAndLeavesEarlierAndLaterIterationsAlone) {
  auto disk = test::PrivateMount::small_disk(directory_.path(), "1m");
  if (!disk.ok()) GTEST_SKIP() << "mounting a small tmpfs: " << std::strerror(errno);
  OpenRun run(config(), directory_);
  OPEN_OR_SKIP(run);
  ASSERT_EQ(write_iteration(run, 0), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  ASSERT_EQ(write_iteration(run, 1), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  // 2 × (384 KiB and metadata) are there; a third does not fit into 1 MiB.
  write_iteration(run, 2);
  await_ended(run, 3);
  if (run.stats().failures_unseen == run.stats().failures) {
    EXPECT_EQ(tailrace_flush(run), TAILRACE_EARLIER_FAILURE);  // unless a write has reported the first already
  }
  const Error first = run.error();
  EXPECT_TRUE(first.earlier);
  EXPECT_EQ(first.status, TAILRACE_IO_ERROR) << first.message;
  EXPECT_EQ(first.system_errno, ENOSPC);
  EXPECT_EQ(first.file, directory_.path() / "run_c0_000002.h5.part");
  EXPECT_EQ(first.iteration, 2);
  EXPECT_EQ(first.variable.size(), 1U);
  EXPECT_TRUE(first.says(first.file) && first.says("No space left on device") && first.says(first.variable))
      << first.message;
  const std::vector<Error> rest = all_failures(run);
  ASSERT_FALSE(rest.empty());
  EXPECT_EQ(rest.back().iteration, 2);
  EXPECT_EQ(rest.back().system_errno, ENOSPC);
  EXPECT_EQ(rest.back().status, TAILRACE_NOT_PUBLISHED) << rest.back().message;
  EXPECT_EQ(run.stats().failures_unseen, 0U);
  EXPECT_EQ(run.stats().iterations_published, 2U);
  EXPECT_GT(run.stats().blocks_failed, 0U);
  EXPECT_EQ(run.stats().blocks_written + run.stats().blocks_failed, 18U);

  write_iteration(run, 3);
  await_ended(run, 4);
  all_failures(run);
  ASSERT_TRUE(disk.resize("8m"));
  EXPECT_EQ(write_iteration(run, 4), TAILRACE_OK);
  EXPECT_EQ(tailrace_flush(run), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  for (const int64_t iteration : {0, 1, 4}) {
    expect_right(directory_.path() / ("run_c0_00000" + std::to_string(iteration) + ".h5"), iteration);
  }
  EXPECT_FALSE(test::fs::exists(directory_.path() / "run_c0_000002.h5"));
  EXPECT_FALSE(test::fs::exists(directory_.path() / "run_c0_000003.h5"));
}

TEST_P(WorldFaults, DiskFullAtTheMetadataIsToldByThePublication) {
  // Seven pages: enough for six blocks of one page each, and not for all of the metadata.
  const auto disk = test::PrivateMount::small_disk(directory_.path(), "28k");
  if (!disk.ok()) GTEST_SKIP() << "mounting a small tmpfs: " << std::strerror(errno);
  Config small = config();
  small.shape = "[512]";
  OpenRun run(small, directory_);
  OPEN_OR_SKIP(run);
  write_iteration(run, 0, 512);
  await_ended(run, 1);
  const std::vector<Error> errors = all_failures(run);
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors.back().system_errno, ENOSPC);
  EXPECT_TRUE(errors.back().says((directory_.path() / "run_c0_000000.h5").string())) << errors.back().message;
  EXPECT_EQ(errors.back().iteration, 0);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  EXPECT_FALSE(test::fs::exists(directory_.path() / "run_c0_000000.h5"));
}

TEST_P(WorldFaults, BorrowedBlockFailsOnItsTicket) {
  const auto disk = test::PrivateMount::small_disk(directory_.path(), "68k");
  if (!disk.ok()) GTEST_SKIP() << "mounting a small tmpfs: " << std::strerror(errno);
  OpenRun run(config(), directory_);
  OPEN_OR_SKIP(run);
  const std::vector<double> values = test::block(0, 0);
  tailrace_ticket first;
  tailrace_ticket second;
  ASSERT_EQ(tailrace_borrow(run, "a", 0, values.data(), &first), TAILRACE_OK);
  ASSERT_EQ(tailrace_wait(first, -1), TAILRACE_OK);
  ASSERT_EQ(tailrace_borrow(run, "b", 0, values.data(), &second), TAILRACE_OK);
  EXPECT_EQ(tailrace_wait(second, -1), TAILRACE_IO_ERROR);
  const Error error = run.error();
  EXPECT_FALSE(error.earlier);
  EXPECT_EQ(error.system_errno, ENOSPC);
  EXPECT_EQ(error.variable, "b");
  EXPECT_EQ(error.iteration, 0);
  EXPECT_EQ(error.file, directory_.path() / "run_c0_000000.h5.part");
  // It was reported; waiting again reports it again, but no other call does.
  EXPECT_EQ(run.stats().failures_unseen, 0U);
  EXPECT_EQ(tailrace_wait(second, -1), TAILRACE_IO_ERROR);
  EXPECT_EQ(tailrace_flush(run), TAILRACE_OK);
  std::vector<double> found(values.size());
  EXPECT_EQ(tailrace_read(run, "a", 0, found.data()), TAILRACE_OK);
  EXPECT_EQ(found, values);
  EXPECT_EQ(tailrace_read(run, "b", 0, found.data()), TAILRACE_IO_ERROR);
  EXPECT_EQ(run.close(), TAILRACE_EARLIER_FAILURE);  // iteration 0 was never ended
}

// The process that writes: the server, which the description names, or this one.
pid_t writer_of(tailrace_client* client) {
  const char* text = nullptr;
  EXPECT_EQ(tailrace_describe(client, &text), TAILRACE_OK);
  const std::string named = "server process ";
  const char* const found = std::strstr(text, named.c_str());
  return found != nullptr ? std::atoi(found + named.size()) : getpid();
}

TEST_P(WorldFaults, FileSizeLimitIsAnErrorAndNoSignal) {
  Config large = config();
  OpenRun run(large, directory_);
  OPEN_OR_SKIP(run);
  const pid_t writer = writer_of(run);
  rlimit before{};
  ASSERT_EQ(prlimit(writer, RLIMIT_FSIZE, nullptr, &before), 0);
  rlimit small = before;
  small.rlim_cur = 100'000;
  ASSERT_EQ(prlimit(writer, RLIMIT_FSIZE, &small, nullptr), 0);
  write_iteration(run, 0);
  await_ended(run, 1);
  ASSERT_EQ(prlimit(writer, RLIMIT_FSIZE, &before, nullptr), 0);
  const std::vector<Error> errors = all_failures(run);
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors.front().system_errno, EFBIG) << errors.front().message;
  EXPECT_EQ(write_iteration(run, 1), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  expect_right(directory_.path() / "run_c0_000001.h5", 1);
}

TEST_P(WorldFaults, PartDeletedUnderneathIsNotPublished) {
  OpenRun run(config(), directory_);
  OPEN_OR_SKIP(run);
  const std::vector<double> values = test::block(0, 0);
  ASSERT_EQ(tailrace_write(run, "a", 0, values.data()), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  const test::fs::path part = directory_.path() / "run_c0_000000.h5.part";
  ASSERT_TRUE(test::fs::remove(part));
  tailrace_end_iteration(run, 0);
  test::await_failures(run, 1);
  if (run.stats().failures_unseen > 0) {
    EXPECT_EQ(tailrace_flush(run), TAILRACE_EARLIER_FAILURE);
  }
  const Error error = run.error();
  EXPECT_TRUE(error.earlier);
  EXPECT_EQ(error.status, TAILRACE_IO_ERROR);
  EXPECT_EQ(error.system_errno, ENOENT);
  EXPECT_EQ(error.file, part);
  EXPECT_EQ(error.iteration, 0);
  EXPECT_TRUE(error.says(part)) << error.message;
  EXPECT_EQ(run.stats().iterations_failed, 1U);
  EXPECT_EQ(write_iteration(run, 1), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  expect_right(directory_.path() / "run_c0_000001.h5", 1);
}

TEST_P(WorldFaults, DirectoryDeletedUnderneathIsTold) {
  OpenRun run(config(), directory_);
  OPEN_OR_SKIP(run);
  ASSERT_EQ(write_iteration(run, 0), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  test::fs::remove_all(directory_.path());
  write_iteration(run, 1);
  await_ended(run, 2);
  ASSERT_GE(run.stats().failures, 7U);
  all_failures(run);
  const Error error = run.error();
  EXPECT_EQ(error.system_errno, ENOENT);
  EXPECT_EQ(error.iteration, 1);
  EXPECT_TRUE(error.says(directory_.path())) << error.message;
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_P(WorldFaults, PublishedFileDeletedBeforeReadIsTold) {
  OpenRun run(config(), directory_);
  OPEN_OR_SKIP(run);
  ASSERT_EQ(write_iteration(run, 0), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  const test::fs::path file = directory_.path() / "run_c0_000000.h5";
  ASSERT_TRUE(test::fs::remove(file));
  std::vector<double> values(8192);
  EXPECT_EQ(tailrace_read(run, "c", 0, values.data()), TAILRACE_IO_ERROR);
  const Error error = run.error();
  EXPECT_FALSE(error.earlier);
  EXPECT_EQ(error.system_errno, ENOENT);
  EXPECT_EQ(error.file, file);
  EXPECT_EQ(error.variable, "c");
  EXPECT_EQ(error.iteration, 0);
  EXPECT_TRUE(error.says(file)) << error.message;
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_P(WorldFaults, PublishedFileCutShortBeforeReadIsTold) {
  OpenRun run(config(), directory_);
  OPEN_OR_SKIP(run);
  ASSERT_EQ(write_iteration(run, 0), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  const test::fs::path file = directory_.path() / "run_c0_000000.h5";
  test::fs::resize_file(file, 10'000);
  std::vector<double> values(8192);
  EXPECT_EQ(tailrace_read(run, "f", 0, values.data()), TAILRACE_IO_ERROR);
  EXPECT_EQ(run.error().variable, "f");
  EXPECT_TRUE(run.error().says(file) && run.error().says("ends")) << run.error().message;
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_P(WorldFaults, DirectoryThatTurnsReadOnlyIsTold) {
  auto disk = test::PrivateMount::small_disk(directory_.path(), "8m");
  if (!disk.ok()) GTEST_SKIP() << "mounting a small tmpfs: " << std::strerror(errno);
  OpenRun run(config(), directory_);
  OPEN_OR_SKIP(run);
  ASSERT_TRUE(disk.turn_read_only()) << std::strerror(errno);
  write_iteration(run, 0);
  await_ended(run, 1);
  const std::vector<Error> errors = all_failures(run);
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors.front().system_errno, EROFS);
  EXPECT_EQ(errors.front().file, directory_.path() / "run_c0_000000.h5.part");
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

// ---- what is refused when a client is opened -----------------------------------------------------------------

void expect_refused(const test::fs::path& path, int system_errno, const std::string& named) {
  const OpenRun run(Config(), path);
  ASSERT_FALSE(run.opened());
  EXPECT_EQ(run.error().status, TAILRACE_IO_ERROR);
  EXPECT_EQ(run.error().system_errno, system_errno) << run.error().message;
  EXPECT_TRUE(run.error().says(named)) << run.error().message;
  EXPECT_TRUE(run.error().file.starts_with(named)) << run.error().file;
  EXPECT_FALSE(run.error().operation.empty());
}

// It ended the program.
TEST(Descriptors, OpeningWithoutThemIsAnError) {
  if (test::in_place_core()) GTEST_SKIP() << "each try starts a server";
  const Directory directory;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = dup(STDERR_FILENO);
  close(next);
  bool opened = false;
  for (int more = 0; more < 60 && !opened; ++more) {
    const rlimit limit{static_cast<rlim_t>(next + more), before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    OpenRun run(Config(), directory);
    opened = run.opened();
    EXPECT_TRUE(opened || run.error().system_errno == EMFILE) << run.error().message;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  }
  EXPECT_TRUE(opened);
}

// It ended the program, too. Each child may have a little more memory than the one before.
TEST(Memory, OpeningWithoutItIsAnError) {
  if (test::kSanitized) GTEST_SKIP() << "a sanitizer takes memory of its own";
  if (test::in_place_core()) GTEST_SKIP() << "the limit is not the server's";
  const Directory directory;
  bool opened = false;
  bool refused = false;
  for (uint64_t more = 0; more < 1024 && !opened; more += 1 + more / 8) {
    const pid_t child = fork();
    if (child == 0) {
      uint64_t pages = 0;
      std::ifstream("/proc/self/statm") >> pages;
      const rlim_t most = pages * 4096 + (more << 20);
      const rlimit limit{most, most};
      if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(100);
      OpenRun run(Config(), directory);
      if (run.opened()) _exit(run.close() == TAILRACE_OK ? 0 : 101);
      _exit(run.error().message.empty() ? 102 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) <= 1) << "with " << more << " MiB more: " << status;
    opened = WEXITSTATUS(status) == 0;
    refused = refused || !opened;
  }
  EXPECT_TRUE(opened && refused);
}

TEST(OutputPath, ReadOnlyDirectoryIsRefused) {
  const Directory directory;
  const auto disk = test::PrivateMount::read_only(directory.path());
  if (!disk.ok()) GTEST_SKIP() << "binding a read-only directory: " << std::strerror(errno);
  expect_refused(directory, EROFS, directory.path());
  expect_refused(directory.path() / "below", EROFS, directory.path() / "below");
}

TEST(OutputPath, DirectoryOfTheKernelIsRefused) {
  expect_refused("/proc/tailrace-test", ENOENT, "/proc/tailrace-test");
}

TEST(OutputPath, FileInPlaceOfADirectoryIsRefused) {
  const Directory directory;
  const test::fs::path file = directory.path() / "output";
  std::ofstream(file) << "not a directory";
  expect_refused(file, ENOTDIR, file);
  expect_refused(file / "below", ENOTDIR, file);
  EXPECT_EQ(test::fs::file_size(file), 15U);
}

TEST(OutputPath, MissingDirectoriesAreMade) {
  const Directory directory;
  OpenRun run(Config(), directory.path() / "one" / "two");
  ASSERT_TRUE(run.opened()) << run.error().message;
  EXPECT_EQ(write_iteration(run, 0), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  expect_right(directory.path() / "one/two/run_c0_000000.h5", 0);
}

}  // namespace
