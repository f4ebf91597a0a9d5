// One client id, one open handle: in this process, in another one, and after a death. Also recovery beside a client
// that is alive.
#include <gtest/gtest.h>

#include <map>

#include "hdf5_file.hpp"
#include "other_process.hpp"
#include "run_rig.hpp"

namespace {

using test::Config;
using test::Directory;
using test::OpenRun;
using test::OtherProcess;

const std::string kOk = "0";

// The refusal names what is taken: the client's lock, or in place `core` its process.
void expect_in_use(const OpenRun& second, const test::fs::path& lock) {
  ASSERT_FALSE(second.opened());
  EXPECT_EQ(second.error().status, TAILRACE_CLIENT_IN_USE);
  EXPECT_TRUE(second.error().says("open already")) << second.error().message;
  if (test::in_place_core()) return;
  EXPECT_EQ(second.error().file, lock);
  EXPECT_TRUE(second.error().says(lock.filename())) << second.error().message;
}

class InUse : public ::testing::Test {
 protected:
  std::string open_command(const std::string& name, int client) const {
    return "open " + directory_.path().string() + " " + name + " " + std::to_string(client);
  }
  Directory directory_;
};

TEST_F(InUse, SecondOpenInThisProcessIsRefused) {
  OpenRun first(Config(), directory_, 3);
  ASSERT_TRUE(first.opened()) << first.error().message;
  const OpenRun second(Config(), directory_, 3);
  expect_in_use(second, directory_.path() / ".run_c3.lock");
  Config renamed;
  renamed.name = "another";
  const OpenRun other_name(renamed, directory_, 3);
  EXPECT_TRUE(other_name.opened());
  const OpenRun other_client(Config(), directory_, 4);
  EXPECT_TRUE(other_client.opened());
  EXPECT_EQ(first.close(), TAILRACE_OK);
  const OpenRun again(Config(), directory_, 3);
  EXPECT_TRUE(again.opened());
}

TEST_F(InUse, SecondOpenInAnotherProcessIsRefused) {
  OtherProcess other(TEST_OTHER_PROCESS);
  {
    const OpenRun mine(Config(), directory_, 3);
    ASSERT_TRUE(mine.opened()) << mine.error().message;
    EXPECT_EQ(other.ask(open_command("run", 3)), std::to_string(TAILRACE_CLIENT_IN_USE));
    EXPECT_EQ(other.ask(open_command("run", 5)), kOk);
    EXPECT_EQ(other.ask("close"), kOk);
  }
  ASSERT_EQ(other.ask(open_command("run", 3)), kOk);
  const OpenRun mine(Config(), directory_, 3);
  expect_in_use(mine, directory_.path() / ".run_c3.lock");
}

TEST_F(InUse, DeathFreesTheClient) {
  OtherProcess other(TEST_OTHER_PROCESS);
  ASSERT_EQ(other.ask(open_command("run", 3)), kOk);
  ASSERT_EQ(other.ask("write 0"), kOk);
  other.end(SIGKILL);
  OpenRun mine(Config(), directory_, 3);
  ASSERT_TRUE(mine.opened()) << mine.error().message;
  EXPECT_EQ(mine.close(), TAILRACE_OK);
}

// The application forks while a client is open: the child has nothing of it, and its end changes nothing.
TEST_F(InUse, ForkOfTheApplicationHarmsNothing) {
  OpenRun run(Config(), directory_, 3);
  ASSERT_TRUE(run.opened()) << run.error().message;
  for (int iteration = 0; iteration < 10; ++iteration) {
    const std::vector<double> values = test::block(iteration, 0);
    ASSERT_EQ(tailrace_write(run, "a", iteration, values.data()), TAILRACE_OK);
    const pid_t child = fork();
    // With its destructors and without; in a sanitizer's run, a normal exit would look for leaks.
    if (child == 0 && (iteration % 2 == 0 || test::kSanitized)) _exit(0);
    if (child == 0) std::exit(0);
    ASSERT_GT(child, 0);
    ASSERT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const OpenRun second(Config(), directory_, 3);
  EXPECT_FALSE(second.opened()) << "the lock is still there";
  EXPECT_EQ(run.close(), TAILRACE_OK);
  EXPECT_EQ(directory_.names().size(), 10U);
}

// A child that outlives the close keeps a copy of the lock's descriptor; the client can be opened again all the same.
TEST_F(InUse, ForkedChildDoesNotKeepTheClient) {
  OpenRun run(Config(), directory_, 3);
  ASSERT_TRUE(run.opened()) << run.error().message;
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  EXPECT_EQ(run.close(), TAILRACE_OK);
  OpenRun again(Config(), directory_, 3);
  EXPECT_TRUE(again.opened()) << again.error().message;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

// ---- recovery ------------------------------------------------------------------------------------------------

struct Found {
  tailrace_leftover kind;
  bool done;
  tailrace_status status;
};
using Leftovers = std::map<std::string, Found>;

void take_leftover(void* context, const char* file, tailrace_leftover kind, int done, tailrace_status status,
                   const char*) {
  (*static_cast<Leftovers*>(context))[test::fs::path(file).filename()] = {kind, done != 0, status};
}

Leftovers recover(const test::fs::path& directory, bool apply) {
  Leftovers found;
  EXPECT_EQ(tailrace_recover(directory.c_str(), apply ? 1 : 0, take_leftover, &found), TAILRACE_OK);
  return found;
}

TEST_F(InUse, RecoveryLeavesALivingClientAlone) {
  OtherProcess other(TEST_OTHER_PROCESS);
  ASSERT_EQ(other.ask(open_command("run", 3)), kOk);
  ASSERT_EQ(other.ask("write 0"), kOk);
  ASSERT_EQ(other.ask("flush"), kOk);
  const std::vector<std::string> before = directory_.names();
  ASSERT_EQ(before, (std::vector<std::string>{".run_c3.lock", "run_c3_000000.h5.part"}));
  for (const bool apply : {false, true}) {
    const Leftovers found = recover(directory_, apply);
    EXPECT_EQ(found.size(), 1U);
    ASSERT_TRUE(found.contains("run_c3_000000.h5.part"));
    EXPECT_EQ(found.at("run_c3_000000.h5.part").kind, TAILRACE_IN_USE);
    EXPECT_FALSE(found.at("run_c3_000000.h5.part").done);
    EXPECT_EQ(directory_.names(), before);
  }
  ASSERT_EQ(other.ask("end 0"), kOk);
  ASSERT_EQ(other.ask("close"), kOk);
  const test::Hdf5File file(directory_.path() / "run_c3_000000.h5");
  EXPECT_TRUE(file.opened());
}

TEST_F(InUse, RecoveryOfTheDeadBesideTheLiving) {
  OtherProcess dead(TEST_OTHER_PROCESS);
  OtherProcess alive(TEST_OTHER_PROCESS);
  ASSERT_EQ(dead.ask(open_command("run", 1)), kOk);
  ASSERT_EQ(alive.ask(open_command("run", 2)), kOk);
  for (OtherProcess* process : {&dead, &alive}) {
    ASSERT_EQ(process->ask("write 0"), kOk);
    ASSERT_EQ(process->ask("end 0"), kOk);
    ASSERT_EQ(process->ask("write 1"), kOk);
    ASSERT_EQ(process->ask("flush"), kOk);
  }
  dead.end(SIGKILL);
  test::await_left("run", 1);
  const std::vector<std::string> before = directory_.names();
  Leftovers found = recover(directory_, false);
  EXPECT_EQ(directory_.names(), before) << "listing changes nothing";
  const bool has_lock = !test::in_place_core();  // else the server, which lives, has removed it
  EXPECT_EQ(found.size(), has_lock ? 3U : 2U);
  EXPECT_EQ(found.contains(".run_c1.lock"), has_lock);
  if (has_lock) {
    EXPECT_EQ(found[".run_c1.lock"].kind, TAILRACE_STALE_LOCK);
  }
  EXPECT_EQ(found["run_c1_000001.h5.part"].kind, TAILRACE_INCOMPLETE);
  EXPECT_EQ(found["run_c2_000001.h5.part"].kind, TAILRACE_IN_USE);
  found = recover(directory_, true);
  EXPECT_EQ(found.size(), has_lock ? 3U : 2U);
  if (has_lock) {
    EXPECT_TRUE(found[".run_c1.lock"].done);
  }
  EXPECT_TRUE(found["run_c1_000001.h5.part"].done);
  EXPECT_FALSE(found["run_c2_000001.h5.part"].done);
  EXPECT_EQ(directory_.names(), (std::vector<std::string>{".run_c2.lock", "run_c1_000000.h5", "run_c2_000000.h5",
                                                          "run_c2_000001.h5.part"}));
  ASSERT_EQ(alive.ask("end 1"), kOk);
  ASSERT_EQ(alive.ask("close"), kOk);
  test::await_left("run", 2);
  EXPECT_EQ(recover(directory_, true).size(), 0U);
}

// A file that lacks nothing but its rename is published by recovery.
TEST_F(InUse, RecoveryPublishesACompleteFile) {
  {
    OpenRun run(Config(), directory_, 1);
    ASSERT_TRUE(run.opened());
    const std::vector<double> values = test::block(0, 0);
    ASSERT_EQ(tailrace_write(run, "a", 0, values.data()), TAILRACE_OK);
    ASSERT_EQ(tailrace_end_iteration(run, 0), TAILRACE_OK);
    ASSERT_EQ(run.close(), TAILRACE_OK);
  }
  const test::fs::path file = directory_.path() / "run_c1_000000.h5";
  test::fs::rename(file, file.string() + ".part");
  Leftovers found = recover(directory_, false);
  EXPECT_EQ(found["run_c1_000000.h5.part"].kind, TAILRACE_COMPLETE);
  EXPECT_FALSE(test::fs::exists(file));
  found = recover(directory_, true);
  EXPECT_TRUE(found["run_c1_000000.h5.part"].done);
  EXPECT_EQ(directory_.names(), std::vector<std::string>{"run_c1_000000.h5"});
}

// Repeated recovery while a client opens, writes, publishes and closes: it loses nothing.
TEST_F(InUse, RecoveryRacesWithARunningClient) {
  OtherProcess other(TEST_OTHER_PROCESS);
  for (int iteration = 0; iteration < 30; ++iteration) {
    const std::string number = std::to_string(iteration);
    std::string opened = other.ask(open_command("run", 3));
    // Recovery takes the lock for a moment; a client that comes just then is refused.
    while (opened == std::to_string(TAILRACE_CLIENT_IN_USE)) opened = other.ask(open_command("run", 3));
    ASSERT_EQ(opened, kOk);
    ASSERT_EQ(other.ask("write " + number), kOk);
    recover(directory_, true);
    ASSERT_EQ(other.ask("end " + number), kOk);
    recover(directory_, true);
    recover(directory_, false);
    ASSERT_EQ(other.ask("close"), kOk);
  }
  test::await_left("run", 3);
  recover(directory_, true);
  const std::vector<std::string> names = directory_.names();
  ASSERT_EQ(names.size(), 30U);
  for (int iteration = 0; iteration < 30; ++iteration) {
    const test::Hdf5File file(directory_.path() / names[static_cast<size_t>(iteration)]);
    EXPECT_EQ(file.variables(iteration).size(), 6U);
  }
}

}  // namespace
