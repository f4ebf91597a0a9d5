// A forked child has its parent's handles, tickets and files: each call refuses them at once, and touches nothing. In
// place `thread` and in place `core`.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "hdf5_file.hpp"
#include "other_process.hpp"
#include "run_rig.hpp"
#include "slow_memory.hpp"

namespace {

using test::Config;
using test::Directory;
using test::OpenRun;
using test::OtherProcess;
using test::SlowMemory;

constexpr unsigned kPatience = 60;  // seconds after which a child that hangs is killed: no test takes that long

// Runs `body` in a child; returns the first line that it printed, "" if all was well, or how the child ended.
std::string in_child(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) abort();
  const pid_t child = fork();
  if (child == 0) {
    alarm(kPatience);
    const std::string said = body();
    const bool told = write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  char piece[512];
  for (ssize_t count = 0; (count = read(ends[0], piece, sizeof piece)) > 0;)
    said.append(piece, static_cast<size_t>(count));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "ended by signal " + std::to_string(WTERMSIG(status));
  return status == 0 ? said : "ended with " + std::to_string(status);
}

struct Handles {
  tailrace_client* client;
  tailrace_ticket ticket;
  tailrace_file file;
};

struct Call {
  const char* name;
  std::function<tailrace_status(const Handles&)> make;
};

double values[8192];

std::vector<Call> calls_with_blocks() {
  static tailrace_ticket ticket;
  static void* memory;
  return {{"write", [](const Handles& of) { return tailrace_write(of.client, "a", 1, values); }},
          {"alloc", [](const Handles& of) { return tailrace_alloc(of.client, "a", 1, &memory); }},
          {"commit", [](const Handles& of) { return tailrace_commit(of.client, "c", 0); }},
          {"borrow", [](const Handles& of) { return tailrace_borrow(of.client, "a", 1, values, &ticket); }},
          {"read", [](const Handles& of) { return tailrace_read(of.client, "a", 0, values); }},
          {"signal", [](const Handles& of) { return tailrace_signal(of.client, "event", 0); }},
          {"end_iteration", [](const Handles& of) { return tailrace_end_iteration(of.client, 0); }},
          {"enable", [](const Handles& of) { return tailrace_enable(of.client, "a", 0); }},
          {"set_parameters", [](const Handles& of) { return tailrace_set_parameters(of.client, nullptr, 0); }},
          {"flush", [](const Handles& of) { return tailrace_flush(of.client); }},
          {"iflush", [](const Handles& of) { return tailrace_iflush(of.client, &ticket); }},
          {"wait", [](const Handles& of) { return tailrace_wait(of.ticket, -1); }},
          {"test", [](const Handles& of) {
             int ended = 7;
             const tailrace_status status = tailrace_test(of.ticket, &ended);
             return ended == 0 ? status : TAILRACE_OK;
           }}};
}

std::vector<Call> calls_with_files() {
  static const tailrace_extent extent{0, 8};
  static tailrace_ticket ticket;
  static tailrace_file file;
  static uint64_t bytes_of_file;
  return {
      {"file_open",
       [](const Handles& of) { return tailrace_file_open(of.client, "other", TAILRACE_FILE_WRITE, &file); }},
      {"file_write", [](const Handles& of) { return tailrace_file_write(of.file, 1, &extent, values); }},
      {"file_iwrite", [](const Handles& of) { return tailrace_file_iwrite(of.file, 1, &extent, values, &ticket); }},
      {"file_borrow", [](const Handles& of) { return tailrace_file_borrow(of.file, 1, &extent, values, &ticket); }},
      {"file_read", [](const Handles& of) { return tailrace_file_read(of.file, 1, &extent, values); }},
      {"file_sync", [](const Handles& of) { return tailrace_file_sync(of.file); }},
      {"file_size", [](const Handles& of) { return tailrace_file_size(of.file, &bytes_of_file); }},
      {"file_truncate", [](const Handles& of) { return tailrace_file_truncate(of.file, 0); }},
      {"file_allocate", [](const Handles& of) { return tailrace_file_allocate(of.file, 0, 1); }},
      {"file_remove", [](const Handles& of) { return tailrace_file_remove(of.client, "data.raw"); }},
      {"file_give_up", [](const Handles& of) { return tailrace_file_give_up(of.file); }},
      {"file_iclose", [](const Handles& of) { return tailrace_file_iclose(of.file, &ticket); }},
      {"file_close", [](const Handles& of) { return tailrace_file_close(of.file); }}};
}

std::vector<Call> calls_that_ask() {
  static tailrace_variable_info info{sizeof info, {}, 0, {}, 0};
  static tailrace_stats stats;
  static tailrace_variable_stats of_variable;
  static tailrace_file_stats of_file;
  static const char* text;
  stats.struct_size = sizeof stats;
  of_variable.struct_size = sizeof of_variable;
  of_file.struct_size = sizeof of_file;
  return {{"variable", [](const Handles& of) { return tailrace_variable(of.client, "a", &info); }},
          {"expect", [](const Handles& of) { return tailrace_expect(of.client, "a", TAILRACE_FLOAT64, 0, nullptr); }},
          {"get_stats", [](const Handles& of) { return tailrace_get_stats(of.client, &stats); }},
          {"get_variable_stats",
           [](const Handles& of) { return tailrace_get_variable_stats(of.client, "a", &of_variable); }},
          {"get_file_stats", [](const Handles& of) { return tailrace_get_file_stats(of.client, nullptr, &of_file); }},
          {"describe", [](const Handles& of) { return tailrace_describe(of.client, &text); }},
          {"close", [](const Handles& of) { return tailrace_close(of.client); }}};
}

std::vector<Call> all_calls() {
  std::vector<Call> all = calls_with_blocks();
  for (const Call& call : calls_with_files()) all.push_back(call);
  for (const Call& call : calls_that_ask()) all.push_back(call);
  return all;
}

// Returns "" if every call is refused as it must be.
std::string all_refused(const Handles& handles, pid_t parent) {
  for (const Call& call : all_calls()) {
    const tailrace_status status = call.make(handles);
    if (status != TAILRACE_FORKED) return std::string(call.name) + " returned " + std::to_string(status);
    const test::Error error = test::last_error(handles.client);
    if (error.status != TAILRACE_FORKED) return std::string(call.name) + ": the last error is another";
    if (!error.says("process " + std::to_string(parent) + ", which opened it")) return error.message;
  }
  return "";
}

class Fork : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(run_.opened()) << run_.error().message;
    ASSERT_EQ(tailrace_write(run_, "a", 0, first_.data()), TAILRACE_OK);
    ASSERT_EQ(tailrace_borrow(run_, "b", 0, second_.data(), &ticket_), TAILRACE_OK);
    void* memory = nullptr;
    ASSERT_EQ(tailrace_alloc(run_, "c", 0, &memory), TAILRACE_OK);
    std::memcpy(memory, third_.data(), third_.size() * sizeof(double));
    ASSERT_EQ(tailrace_file_open(run_, "raw", TAILRACE_FILE_WRITE, &file_), TAILRACE_OK);
  }
  Handles handles() const { return {run_, ticket_, file_}; }
  // The parent continues as if nothing had happened.
  void finish_whole() {
    const tailrace_extent extent{0, 8};
    ASSERT_EQ(tailrace_file_write(file_, 1, &extent, "8 bytes."), TAILRACE_OK);
    ASSERT_EQ(tailrace_file_close(file_), TAILRACE_OK);
    ASSERT_EQ(tailrace_commit(run_, "c", 0), TAILRACE_OK);
    ASSERT_EQ(tailrace_end_iteration(run_, 0), TAILRACE_OK);
    ASSERT_EQ(run_.close(), TAILRACE_OK);
    const test::Hdf5File file(directory_.path() / "run_c0_000000.h5");
    ASSERT_TRUE(file.opened());
    EXPECT_EQ(file.variables(0).size(), 3U);
    EXPECT_EQ(test::fs::file_size(directory_.path() / "raw"), 8U);
  }

  const std::vector<double> first_ = test::block(0, 0);
  const std::vector<double> second_ = test::block(0, 1);
  const std::vector<double> third_ = test::block(0, 2);
  Directory directory_;
  OpenRun run_{Config(), directory_};
  tailrace_ticket ticket_{};
  tailrace_file file_{};
};

TEST_F(Fork, EveryCallOfAChildIsRefused) {
  const pid_t parent = getpid();
  EXPECT_EQ(in_child([&] { return all_refused(handles(), parent); }), "");
  finish_whole();
}

TEST_F(Fork, AGrandchildIsRefusedToo) {
  const pid_t parent = getpid();
  EXPECT_EQ(in_child([&] { return in_child([&] { return all_refused(handles(), parent); }); }), "");
  finish_whole();
}

// The fork happens while the parent's memory is being touched; the child has none of it. The child ends as programs
// do, and forks itself.
TEST(ForkAtOnce, IsHarmlessWhileMemoryIsTaken) {
  const Directory directory;
  Config large;
  large.budget = "256 MiB";
  OpenRun run(large, directory);
  ASSERT_TRUE(run.opened()) << run.error().message;
  EXPECT_EQ(in_child([&]() -> std::string {
              if (tailrace_close(run) != TAILRACE_FORKED) return "the close is not refused";
              return in_child([&] { return tailrace_close(run) == TAILRACE_FORKED ? "" : "nor that of its child"; });
            }),
            "");
  ASSERT_EQ(tailrace_write(run, "a", 0, values), TAILRACE_OK);
  ASSERT_EQ(tailrace_end_iteration(run, 0), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

// Two processes that share only what was open at the fork.
TEST_F(Fork, AChildOpensAClientOfItsOwn) {
  const pid_t parent = getpid();
  EXPECT_EQ(in_child([&]() -> std::string {
              OpenRun own(Config(), directory_, 7);
              if (!own.opened()) return own.error().message;
              if (tailrace_write(own, "a", 0, first_.data()) != TAILRACE_OK) return own.error().message;
              if (tailrace_end_iteration(own, 0) != TAILRACE_OK) return own.error().message;
              if (const std::string refused = all_refused(handles(), parent); !refused.empty()) return refused;
              // A child of the child knows neither.
              const pid_t middle = getpid();
              const std::string inner = in_child([&] {
                return all_refused({own, {own, 1}, {own, 1}}, middle) + all_refused(handles(), parent);
              });
              if (!inner.empty()) return "the child's child: " + inner;
              return own.close() == TAILRACE_OK ? "" : "its close failed";
            }),
            "");
  finish_whole();
  EXPECT_TRUE(test::fs::exists(directory_.path() / "run_c7_000000.h5"));
}

TEST_F(Fork, AClosedHandleOfTheParentsIsTheParents) {
  ASSERT_EQ(tailrace_commit(run_, "c", 0), TAILRACE_OK);
  ASSERT_EQ(tailrace_end_iteration(run_, 0), TAILRACE_OK);
  const Handles before = handles();
  const pid_t parent = getpid();
  ASSERT_EQ(run_.close(), TAILRACE_OK);
  EXPECT_EQ(in_child([&] { return all_refused(before, parent); }), "");
}

// The fork happens while another thread of the parent is inside a call: it writes from memory whose reader is
// stopped.
TEST_F(Fork, AChildOfABusyParentIsNotBusy) {
  SlowMemory slow(8192 * sizeof(double));
  std::thread inside([&] { EXPECT_EQ(tailrace_write(run_, "a", 1, slow.data()), TAILRACE_OK); });
  slow.wait_for_reader();
  const char* text = nullptr;
  EXPECT_EQ(tailrace_describe(run_, &text), TAILRACE_BUSY);
  const pid_t parent = getpid();
  EXPECT_EQ(in_child([&] { return all_refused(handles(), parent); }), "");
  slow.let_go();
  inside.join();
}

// ---- a child that outlives its parent -------------------------------------------------------------------------

// A process that opens client 3, writes, forks a child that does nothing but live, and is killed. The child ends with
// the test.
class Orphan : public ::testing::Test {
 protected:
  void TearDown() override {
    if (child_ > 0) kill(child_, SIGKILL);
  }
  void leave_orphan() {
    OtherProcess parent(TEST_OTHER_PROCESS);
    ASSERT_EQ(parent.ask("open " + directory_.path().string() + " run 3"), "0");
    for (const char* command : {"write 0", "end 0", "write 1", "flush"}) ASSERT_EQ(parent.ask(command), "0");
    child_ = std::stoi(parent.ask("fork"));
    ASSERT_GT(child_, 0);
    parent.end(SIGKILL);
    ASSERT_EQ(kill(child_, 0), 0);
  }

  Directory directory_;
  pid_t child_ = -1;
};

TEST_F(Orphan, DoesNotKeepTheClientOpen) {
  leave_orphan();
  OpenRun again(Config(), directory_, 3);
  ASSERT_TRUE(again.opened()) << again.error().message;
  EXPECT_EQ(again.close(), TAILRACE_OK);
}

TEST_F(Orphan, DoesNotKeepWhatTheParentLeftFromRecovery) {
  leave_orphan();
  test::await_left("run", 3);
  std::string kinds;
  const auto note = [](void* to, const char*, tailrace_leftover kind, int, tailrace_status, const char*) {
    *static_cast<std::string*>(to) += std::to_string(kind) + " ";
  };
  ASSERT_EQ(tailrace_recover(directory_.path().c_str(), 1, note, &kinds), TAILRACE_OK);
  EXPECT_EQ(kinds.find(std::to_string(TAILRACE_IN_USE)), std::string::npos) << kinds;
  EXPECT_EQ(directory_.names(), std::vector<std::string>{"run_c3_000000.h5"});
}

}  // namespace
