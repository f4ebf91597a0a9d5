// Several clients in one process, and several threads on one client: the former are independent, the latter refused.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "hdf5_file.hpp"
#include "run_rig.hpp"
#include "slow_memory.hpp"

namespace {

using test::Config;
using test::Directory;
using test::OpenRun;

const char* const kVariables[] = {"a", "b", "c", "d", "e", "f"};

// A thread is certainly inside a call: it writes from memory whose reader is stopped.
class Busy : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(run_.opened()) << run_.error().message;
    const std::vector<double> values = test::block(0, 0);
    ASSERT_EQ(tailrace_write(run_, "a", 0, values.data()), TAILRACE_OK);
    ASSERT_EQ(tailrace_borrow(run_, "b", 0, values.data(), &ticket_), TAILRACE_OK);
    ASSERT_EQ(tailrace_end_iteration(run_, 0), TAILRACE_OK);
    ASSERT_EQ(tailrace_flush(run_), TAILRACE_OK);
    inside_ = std::thread([this] { result_ = tailrace_write(run_, "a", 1, slow_.data()); });
    slow_.wait_for_reader();
  }
  void let_go() {
    slow_.let_go();
    inside_.join();
  }
  void TearDown() override {
    if (inside_.joinable()) let_go();
  }

  Directory directory_;
  OpenRun run_{Config(), directory_};
  tailrace_ticket ticket_{};
  test::SlowMemory slow_{8192 * sizeof(double)};
  std::thread inside_;
  tailrace_status result_ = TAILRACE_BUSY;
};

TEST_F(Busy, EveryCallIsRefusedAndNothingHappens) {
  const std::vector<double> values = test::block(1, 0);
  std::vector<double> found(values.size());
  void* memory = found.data();
  tailrace_ticket ticket = ticket_;
  int ended = 7;
  const uint64_t shape[] = {8, 1024};
  const char* text = nullptr;
  tailrace_variable_info info{};
  info.struct_size = sizeof info;
  tailrace_stats stats{};
  stats.struct_size = sizeof stats;
  tailrace_error error{};
  error.struct_size = sizeof error;
  EXPECT_EQ(tailrace_write(run_, "a", 1, values.data()), TAILRACE_BUSY);
  EXPECT_EQ(tailrace_alloc(run_, "a", 1, &memory), TAILRACE_BUSY);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(tailrace_commit(run_, "a", 1), TAILRACE_BUSY);
  EXPECT_EQ(tailrace_borrow(run_, "a", 1, values.data(), &ticket), TAILRACE_BUSY);
  EXPECT_EQ(ticket.id, 0U);
  EXPECT_EQ(tailrace_end_iteration(run_, 1), TAILRACE_BUSY);
  EXPECT_EQ(tailrace_signal(run_, "event", 1), TAILRACE_BUSY);
  EXPECT_EQ(tailrace_wait(ticket_, 0), TAILRACE_BUSY);
  EXPECT_EQ(tailrace_test(ticket_, &ended), TAILRACE_BUSY);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(tailrace_flush(run_), TAILRACE_BUSY);
  EXPECT_EQ(tailrace_read(run_, "a", 1, found.data()), TAILRACE_BUSY);
  EXPECT_EQ(tailrace_variable(run_, "a", &info), TAILRACE_BUSY);
  EXPECT_EQ(tailrace_expect(run_, "a", TAILRACE_FLOAT64, 2, shape), TAILRACE_BUSY);
  EXPECT_EQ(tailrace_get_stats(run_, &stats), TAILRACE_BUSY);
  EXPECT_EQ(tailrace_describe(run_, &text), TAILRACE_BUSY);
  EXPECT_EQ(tailrace_last_error(run_, &error), TAILRACE_BUSY);
  EXPECT_EQ(tailrace_close(run_), TAILRACE_BUSY);
  let_go();
  EXPECT_EQ(result_, TAILRACE_OK);
  EXPECT_EQ(run_.stats().blocks_accepted, 3U);
  EXPECT_EQ(run_.stats().iterations_ended, 1U);
  EXPECT_EQ(tailrace_write(run_, "b", 1, values.data()), TAILRACE_OK);
  EXPECT_EQ(tailrace_end_iteration(run_, 1), TAILRACE_OK);
  EXPECT_EQ(run_.close(), TAILRACE_OK);
}

TEST_F(Busy, OtherClientsAreNotHeldUp) {
  OpenRun other(Config(), directory_, 1);
  ASSERT_TRUE(other.opened()) << other.error().message;
  const std::vector<double> values = test::block(1, 0);
  EXPECT_EQ(tailrace_write(other, "a", 1, values.data()), TAILRACE_OK);
  EXPECT_EQ(tailrace_end_iteration(other, 1), TAILRACE_OK);
  EXPECT_EQ(tailrace_flush(other), TAILRACE_OK);
  EXPECT_EQ(other.stats().iterations_published, 1U);
  EXPECT_EQ(other.close(), TAILRACE_OK);
}

// Threads that do not take turns: each call is either carried out or refused.
TEST(Threads, OnOneClientAreCarriedOutOrRefused) {
  const Directory directory;
  OpenRun run(Config(), directory);
  ASSERT_TRUE(run.opened());
  std::atomic<uint64_t> carried_out{0};
  const auto hammer = [&](int thread) {
    const std::vector<double> values = test::block(0, thread);
    for (int i = 0; i < 300; ++i) {
      const tailrace_status status = tailrace_write(run, kVariables[thread], 0, values.data());
      ASSERT_TRUE(status == TAILRACE_OK || status == TAILRACE_BUSY);
      carried_out += status == TAILRACE_OK ? 1 : 0;
    }
  };
  std::thread first(hammer, 0);
  std::thread second(hammer, 1);
  first.join();
  second.join();
  EXPECT_EQ(tailrace_end_iteration(run, 0), TAILRACE_OK);
  EXPECT_EQ(tailrace_flush(run), TAILRACE_OK);
  EXPECT_EQ(run.stats().blocks_accepted, carried_out);
  EXPECT_EQ(run.stats().blocks_written, carried_out);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

// While threads use a client, one closes it: exactly one close is carried out, and the others say why not.
TEST(Threads, CloseAmongOtherCallsHappensOnce) {
  for (int round = 0; round < 20; ++round) {
    const Directory directory;
    tailrace_client* client = nullptr;
    ASSERT_EQ(test::open_client(Config(), directory, 0, &client), TAILRACE_OK);
    std::atomic<int> closed{0};
    const auto use_then_close = [&] {
      const std::vector<double> values = test::block(0, 0);
      for (int i = 0; i < 10; ++i) (void)tailrace_write(client, "a", 0, values.data());
      tailrace_status status = TAILRACE_BUSY;
      while (status == TAILRACE_BUSY) status = tailrace_close(client);
      ASSERT_TRUE(status == TAILRACE_CLOSED || status == TAILRACE_EARLIER_FAILURE) << status;
      closed += status == TAILRACE_EARLIER_FAILURE ? 1 : 0;  // iteration 0 was not ended
    };
    std::thread first(use_then_close);
    std::thread second(use_then_close);
    first.join();
    second.join();
    EXPECT_EQ(closed, 1);
    test::await_left("run", 0);
    EXPECT_EQ(directory.names(), std::vector<std::string>{"run_c0_000000.h5.part"});
  }
}

TEST(Threads, ClientMayMoveBetweenThreads) {
  const Directory directory;
  OpenRun run(Config(), directory);
  ASSERT_TRUE(run.opened());
  for (int iteration = 0; iteration < 10; ++iteration) {
    std::thread([&run, iteration] {
      const std::vector<double> values = test::block(iteration, 0);
      EXPECT_EQ(tailrace_write(run, "a", iteration, values.data()), TAILRACE_OK);
      EXPECT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK);
    }).join();
  }
  EXPECT_EQ(run.close(), TAILRACE_OK);
  EXPECT_EQ(directory.names().size(), 10U);
}

// The last error without a client belongs to its thread.
TEST(Threads, LastErrorWithoutAClientIsOfTheThread) {
  tailrace_client* client = nullptr;
  EXPECT_EQ(tailrace_open("/nonexistent/a.yaml", 0, &client), TAILRACE_IO_ERROR);
  std::thread([] {
    EXPECT_EQ(test::last_error(nullptr).status, TAILRACE_OK);
    EXPECT_EQ(tailrace_check("/nonexistent/b.yaml", nullptr), TAILRACE_IO_ERROR);
    EXPECT_EQ(test::last_error(nullptr).file, "/nonexistent/b.yaml");
  }).join();
  EXPECT_EQ(test::last_error(nullptr).file, "/nonexistent/a.yaml");
}

TEST(Threads, ManyClientsAtOnce) {
  const Directory directory;
  constexpr int kClients = 8;
  constexpr int kIterations = 10;
  const auto simulate = [&](int id) {
    Config config;
    config.budget = "1 MiB";
    config.backend = id % 2 == 0 ? "auto" : "posix";
    OpenRun run(config, directory, id);
    ASSERT_TRUE(run.opened()) << run.error().message;
    for (int iteration = 0; iteration < kIterations; ++iteration) {
      for (int variable = 0; variable < 6; ++variable) {
        const std::vector<double> values = test::block(iteration * 100 + id, variable);
        ASSERT_EQ(tailrace_write(run, kVariables[variable], iteration, values.data()), TAILRACE_OK);
      }
      ASSERT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK);
    }
    ASSERT_EQ(run.close(), TAILRACE_OK);
  };
  std::vector<std::thread> threads;
  for (int id = 0; id < kClients; ++id) threads.emplace_back(simulate, id);
  for (std::thread& thread : threads) thread.join();
  for (int id = 0; id < kClients; ++id) {
    for (int iteration = 0; iteration < kIterations; ++iteration) {
      const std::string name = "run_c" + std::to_string(id) + "_00000" + std::to_string(iteration) + ".h5";
      const test::Hdf5File file(directory.path() / name);
      ASSERT_TRUE(file.opened()) << name;
      for (int variable = 0; variable < 6; ++variable) {
        const std::vector<double> expected = test::block(iteration * 100 + id, variable);
        const std::vector<std::byte> found = file.bytes(iteration, kVariables[variable]);
        ASSERT_EQ(found.size(), expected.size() * sizeof(double));
        EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size()), 0);
      }
    }
  }
  EXPECT_EQ(directory.names().size(), size_t{kClients} * kIterations);
}

}  // namespace
