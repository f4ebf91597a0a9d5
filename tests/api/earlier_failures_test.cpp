// Promise 1, "nothing is lost in silence": each failure of an accepted request is reported exactly once, by its
// ticket, by the next call of any kind, or by close.
//
// The failures do not rely on timing: a directory has the name under which an iteration's file would be published. No
// rename can replace it, so exactly that publication fails.
#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>

#include "run_rig.hpp"

namespace {

using test::Config;
using test::Directory;
using test::Error;
using test::OpenRun;

class EarlierFailures : public ::testing::Test {
 protected:
  EarlierFailures() { EXPECT_TRUE(run_.opened()) << run_.error().message; }

  test::fs::path file_of(int64_t iteration) const {
    char name[32];
    std::snprintf(name, sizeof name, "run_c0_%06lld.h5", static_cast<long long>(iteration));
    return directory_.path() / name;
  }
  // Makes the publication of the iteration's file fail from now on.
  void block(int64_t iteration) {
    test::fs::create_directory(file_of(iteration));
    std::ofstream(file_of(iteration) / "in the way") << "!";
  }
  // Makes the publication of iterations first, …, first + count − 1 fail, without any call noticing it.
  void fail(int64_t first, int count) {
    const uint64_t before = run_.stats().failures;
    const std::vector<double> values = test::block(first, 0);
    for (int64_t i = first; i < first + count; ++i) block(i);
    // Nothing fails before the first iteration is ended, and the last end is the last call.
    for (int64_t i = first; i < first + count; ++i) {
      ASSERT_EQ(tailrace_write(run_, "a", i, values.data()), TAILRACE_OK);
    }
    uint64_t told = 0;
    for (int64_t i = first; i < first + count; ++i) told += tailrace_end_iteration(run_, i) != TAILRACE_OK ? 1U : 0U;
    told_while_failing_ += told;
    test::await_failures(run_, before + static_cast<uint64_t>(count));
  }

  Directory directory_;
  OpenRun run_{Config(), directory_};
  uint64_t told_while_failing_ = 0;
};

TEST_F(EarlierFailures, NamesEverything) {
  fail(7, 1);
  if (told_while_failing_ == 0) {
    EXPECT_EQ(tailrace_flush(run_), TAILRACE_EARLIER_FAILURE);
  }
  const Error error = run_.error();
  EXPECT_TRUE(error.earlier);
  EXPECT_EQ(error.status, TAILRACE_IO_ERROR);
  EXPECT_TRUE(error.system_errno == EISDIR || error.system_errno == ENOTEMPTY || error.system_errno == EEXIST);
  EXPECT_EQ(error.iteration, 7);
  EXPECT_EQ(error.more, 0U);
  EXPECT_FALSE(error.operation.empty());
  EXPECT_EQ(error.file, file_of(7).string() + ".part");
  EXPECT_TRUE(error.says("run_c0_000007.h5") && error.says("7")) << error.message;
  EXPECT_EQ(run_.close(), TAILRACE_OK);
}

// Every kind of call reports one failure, once, and is carried out all the same.
TEST_F(EarlierFailures, EveryKindOfCallTellsExactlyOne) {
  const std::vector<double> values = test::block(0, 0);
  std::vector<double> found(values.size());
  tailrace_client* const client = run_;
  tailrace_ticket ticket{};
  ASSERT_EQ(tailrace_borrow(client, "a", 500, values.data(), &ticket), TAILRACE_OK);
  ASSERT_EQ(tailrace_wait(ticket, -1), TAILRACE_OK);
  void* memory = nullptr;
  int ended = 0;
  tailrace_ticket borrowed{};

  const auto tells_one = [&](const char* verb, auto call) {
    const uint64_t unseen = run_.stats().failures_unseen;
    ASSERT_GT(unseen, 0U) << verb;
    EXPECT_EQ(call(), TAILRACE_EARLIER_FAILURE) << verb;
    EXPECT_EQ(run_.error().earlier, true) << verb;
    EXPECT_EQ(run_.error().more, unseen - 1) << verb;
    EXPECT_EQ(run_.stats().failures_unseen, unseen - 1) << verb;
  };
  fail(0, 48);  // a late end has reported one itself; eleven must be left for this
  tells_one("write", [&] { return tailrace_write(client, "b", 500, values.data()); });
  tells_one("alloc", [&] { return tailrace_alloc(client, "c", 500, &memory); });
  ASSERT_NE(memory, nullptr);
  std::copy(values.begin(), values.end(), static_cast<double*>(memory));
  tells_one("commit", [&] { return tailrace_commit(client, "c", 500); });
  tells_one("borrow", [&] { return tailrace_borrow(client, "d", 500, values.data(), &borrowed); });
  EXPECT_EQ(borrowed.client, client);
  tells_one("signal", [&] { return tailrace_signal(client, "event", 500); });
  tells_one("wait", [&] { return tailrace_wait(borrowed, -1); });
  tells_one("test", [&] { return tailrace_test(borrowed, &ended); });
  EXPECT_EQ(ended, 1);
  tells_one("read", [&] { return tailrace_read(client, "c", 500, found.data()); });
  EXPECT_EQ(found, values);
  tells_one("end_iteration", [&] { return tailrace_end_iteration(client, 500); });
  tells_one("flush", [&] { return tailrace_flush(client); });
  EXPECT_TRUE(test::fs::is_regular_file(file_of(500)));
  const tailrace_stats stats = run_.stats();
  EXPECT_EQ(stats.iterations_published, 1U);
  EXPECT_EQ(stats.iterations_failed, 48U);
  EXPECT_EQ(stats.failures, 48U);
  const uint64_t unseen = stats.failures_unseen;
  ASSERT_GT(unseen, 0U);
  EXPECT_EQ(run_.close(), TAILRACE_EARLIER_FAILURE);
}

TEST_F(EarlierFailures, QuestionsTellNone) {
  fail(0, 3);
  const uint64_t unseen = run_.stats().failures_unseen;
  ASSERT_GT(unseen, 0U);
  tailrace_variable_info info{};
  info.struct_size = sizeof info;
  const uint64_t shape[] = {8, 1024};
  const char* text = nullptr;
  EXPECT_EQ(tailrace_variable(run_, "a", &info), TAILRACE_OK);
  EXPECT_EQ(tailrace_expect(run_, "a", TAILRACE_FLOAT64, 2, shape), TAILRACE_OK);
  EXPECT_EQ(tailrace_describe(run_, &text), TAILRACE_OK);
  EXPECT_EQ(run_.stats().failures_unseen, unseen);
  EXPECT_EQ(run_.close(), TAILRACE_EARLIER_FAILURE);
}

TEST_F(EarlierFailures, WaitForTheCallAfterOneThatFailsItself) {
  fail(0, 2);
  const uint64_t unseen = run_.stats().failures_unseen;
  ASSERT_GT(unseen, 0U);
  const std::vector<double> values = test::block(0, 0);
  EXPECT_EQ(tailrace_write(run_, "nothing", 9, values.data()), TAILRACE_UNKNOWN_VARIABLE);
  EXPECT_FALSE(run_.error().earlier);
  EXPECT_EQ(run_.error().more, unseen);
  EXPECT_EQ(tailrace_write(run_, "a", 9, nullptr), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(run_.stats().failures_unseen, unseen);
  EXPECT_EQ(tailrace_write(run_, "a", 9, values.data()), TAILRACE_EARLIER_FAILURE);
  EXPECT_EQ(tailrace_end_iteration(run_, 9), unseen > 1 ? TAILRACE_EARLIER_FAILURE : TAILRACE_OK);
  EXPECT_EQ(run_.close(), TAILRACE_OK);
  EXPECT_TRUE(test::fs::is_regular_file(file_of(9)));
}

TEST_F(EarlierFailures, CloseCountsTheRest) {
  fail(0, 10);
  const uint64_t unseen = run_.stats().failures_unseen;
  ASSERT_GT(unseen, 0U);
  tailrace_client* const client = run_;
  EXPECT_EQ(run_.close(), TAILRACE_EARLIER_FAILURE);
  const Error error = test::last_error(client);
  EXPECT_TRUE(error.earlier);
  EXPECT_EQ(error.more, unseen - 1);
  EXPECT_EQ(error.status, TAILRACE_IO_ERROR);
  EXPECT_GE(error.iteration, 0);
  EXPECT_EQ(tailrace_close(client), TAILRACE_CLOSED);
}

TEST_F(EarlierFailures, CloseFindsWhatFailsOnlyWhileItWaits) {
  block(0);
  const std::vector<double> values = test::block(0, 0);
  ASSERT_EQ(tailrace_write(run_, "a", 0, values.data()), TAILRACE_OK);
  const bool told = tailrace_end_iteration(run_, 0) == TAILRACE_EARLIER_FAILURE;
  EXPECT_EQ(run_.close(), told ? TAILRACE_OK : TAILRACE_EARLIER_FAILURE);
}

TEST_F(EarlierFailures, UnendedIterationsAreToldByCloseAndLeft) {
  const std::vector<double> values = test::block(0, 0);
  ASSERT_EQ(tailrace_write(run_, "a", 3, values.data()), TAILRACE_OK);
  ASSERT_EQ(tailrace_write(run_, "b", 3, values.data()), TAILRACE_OK);
  ASSERT_EQ(tailrace_write(run_, "a", 4, values.data()), TAILRACE_OK);
  tailrace_client* const client = run_;
  EXPECT_EQ(run_.close(), TAILRACE_EARLIER_FAILURE);
  const Error error = test::last_error(client);
  EXPECT_EQ(error.status, TAILRACE_NOT_PUBLISHED);
  EXPECT_EQ(error.iteration, 3);
  EXPECT_EQ(error.more, 1U);
  EXPECT_TRUE(error.says("2 blocks") && error.says("end_iteration")) << error.message;
  EXPECT_EQ(directory_.names(), (std::vector<std::string>{"run_c0_000003.h5.part", "run_c0_000004.h5.part"}));
}

// There are more failures than causes are kept: they are counted all the same.
TEST_F(EarlierFailures, ThousandsAreCounted) {
  test::fs::create_directory(file_of(0).string() + ".part");  // the file itself cannot be created, so every block
                                                              // fails
  const std::vector<double> values = test::block(0, 0);
  const std::string unknown = "nothing";
  constexpr uint64_t kBlocks = 3000;
  uint64_t told = 0;
  for (uint64_t i = 0; i < kBlocks; ++i) {
    told += tailrace_write(run_, "a", 0, values.data()) == TAILRACE_EARLIER_FAILURE ? 1U : 0U;
  }
  told += tailrace_end_iteration(run_, 0) == TAILRACE_EARLIER_FAILURE ? 1U : 0U;
  test::await_failures(run_, kBlocks + 1);
  EXPECT_EQ(run_.stats().blocks_failed, kBlocks);
  EXPECT_LE(run_.stats().failures_unseen, kBlocks + 1 - told);
  tailrace_client* const client = run_;
  const uint64_t unseen = run_.stats().failures_unseen;
  EXPECT_EQ(run_.close(), unseen > 0 ? TAILRACE_EARLIER_FAILURE : TAILRACE_OK);
  if (unseen > 0) {
    EXPECT_EQ(test::last_error(client).more, unseen - 1);
  }
}

}  // namespace
