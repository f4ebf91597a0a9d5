// An output directory in which others may write: tailrace never writes through their files under its names, and
// reports each file that it could not create.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "run_rig.hpp"

namespace {

using test::Config;
using test::Directory;
using test::OpenRun;

class SharedDirectory : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(victim_) << "precious"; }
  void TearDown() override { EXPECT_EQ(text(victim_), "precious"); }

  static std::string text(const test::fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  test::fs::path at(const std::string& name) const { return directory_.path() / name; }
  static std::string name_of(int iteration) {
    char name[32];
    std::snprintf(name, sizeof name, "run_c0_%06d.h5", iteration);
    return name;
  }
  static tailrace_status write(tailrace_client* client, int iteration) {
    const std::vector<double> values = test::block(0, iteration, 8192);
    const tailrace_status written = tailrace_write(client, "a", iteration, values.data());
    const tailrace_status ended = tailrace_end_iteration(client, iteration);
    return written == TAILRACE_OK ? ended : written;
  }

  Directory directory_;
  Directory elsewhere_;
  test::fs::path victim_ = elsewhere_.path() / "victim";
};

TEST_F(SharedDirectory, LinksUnderTheNamesOfIterationsFailAndAreTold) {
  constexpr int kLinks = 10;
  OpenRun run(Config(), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  for (int i = 0; i < kLinks; ++i) test::fs::create_symlink(victim_, at(name_of(i) + ".part"));
  for (int i = 0; i <= kLinks; ++i) write(run, i);
  tailrace_flush(run);
  EXPECT_EQ(run.stats().iterations_published, 1U);
  EXPECT_EQ(run.stats().iterations_failed, static_cast<uint64_t>(kLinks));
  bool told = false;
  while (write(run, kLinks + 1) != TAILRACE_OK && !told) told = run.error().says("symbolic link");
  run.close();
  for (int i = 0; i < kLinks; ++i) EXPECT_FALSE(test::fs::exists(at(name_of(i)))) << i;
  EXPECT_TRUE(test::fs::is_regular_file(test::fs::symlink_status(at(name_of(kLinks)))));
}

// Files that exist before the open belong to an earlier run and are to be finished; but no link and no other user's
// file is used.
TEST_F(SharedDirectory, APartThatIsALinkRefusesTheOpen) {
  test::fs::create_symlink(victim_, at(name_of(0) + ".part"));
  const OpenRun run(Config(), directory_);
  ASSERT_FALSE(run.opened());
  EXPECT_TRUE(run.error().says("symbolic link")) << run.error().message;
}

TEST_F(SharedDirectory, APartThatIsLinkedElsewhereIsMadeAnew) {
  const std::string part = at(name_of(0) + ".part");
  const std::string second = elsewhere_.path() / "second";
  OpenRun run(Config(), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  std::ofstream(part) << "of an earlier run";
  test::fs::create_hard_link(part, second);
  EXPECT_EQ(write(run, 0), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  EXPECT_EQ(text(second), "of an earlier run");
  EXPECT_TRUE(test::fs::exists(at(name_of(0))));
}

TEST_F(SharedDirectory, AStrangersPartIsNotWrittenInto) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  const std::string part = at(name_of(0) + ".part");
  OpenRun run(Config(), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  std::ofstream(part) << "theirs";
  ASSERT_EQ(::chown(part.c_str(), 65534, 65534), 0);
  write(run, 0);
  EXPECT_NE(run.close(), TAILRACE_OK);
  EXPECT_EQ(text(part), "theirs");
  EXPECT_FALSE(test::fs::exists(at(name_of(0))));
}

TEST_F(SharedDirectory, APartThatIsReplacedByALinkIsNotPublished) {
  OpenRun run(Config(), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  const std::vector<double> values = test::block(0, 0, 8192);
  ASSERT_EQ(tailrace_write(run, "a", 0, values.data()), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  test::fs::rename(at(name_of(0) + ".part"), at("away"));
  test::fs::create_symlink(victim_, at(name_of(0) + ".part"));
  tailrace_end_iteration(run, 0);
  EXPECT_NE(run.close(), TAILRACE_OK);
  EXPECT_FALSE(test::fs::exists(test::fs::symlink_status(at(name_of(0)))));
}

TEST_F(SharedDirectory, ALockThatIsALinkRefusesTheOpen) {
  test::fs::create_symlink(victim_, at(".run_c0.lock"));
  const OpenRun run(Config(), directory_);
  ASSERT_FALSE(run.opened());
  EXPECT_TRUE(run.error().says(".run_c0.lock")) << run.error().message;
  EXPECT_TRUE(run.error().says("symbolic link")) << run.error().message;
}

TEST_F(SharedDirectory, ALogThatIsALinkRefusesTheOpen) {
  if (!test::in_place_core()) GTEST_SKIP() << "a server of place core has a log, a thread has none";
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
  const test::fs::path log = at(std::string("run_core0_") + host + ".log");
  test::fs::create_symlink(victim_, log);
  Config config;
  config.log = "{level: \"off\"}";
  const OpenRun refused(config, directory_);
  ASSERT_FALSE(refused.opened());
  EXPECT_TRUE(refused.error().says("symbolic link")) << refused.error().message;
  test::fs::remove(log);
  OpenRun run(config, directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_F(SharedDirectory, MeasurementsAreNotWrittenThroughALink) {
  for (const char* name : {"run_c0.stats.json.tmp", "run_c0.trace.json.tmp"}) {
    test::fs::create_symlink(victim_, at(name));
  }
  Config config;
  config.measurements = "{report: true, trace: true}";
  OpenRun run(config, directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  EXPECT_EQ(write(run, 0), TAILRACE_OK);
  EXPECT_NE(run.close(), TAILRACE_OK);
  EXPECT_FALSE(test::fs::exists(at("run_c0.stats.json")));
}

TEST_F(SharedDirectory, TheJournalIsNotWrittenThroughALink) {
  test::fs::create_symlink(victim_, at("run_c0.dropped"));
  Config config;
  config.budget = "1 MiB";
  config.shape = "[8, 4096]";  // four blocks in the budget
  config.when_full = "drop";
  OpenRun run(config, directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  void* memory = nullptr;
  tailrace_status status = TAILRACE_OK;
  for (const char* variable : {"a", "b", "c", "d", "e"}) {
    if (status == TAILRACE_OK) status = tailrace_alloc(run, variable, 0, &memory);
  }
  EXPECT_EQ(status, TAILRACE_DROPPED);
  tailrace_end_iteration(run, 0);
  EXPECT_NE(run.close(), TAILRACE_OK);
}

TEST_F(SharedDirectory, TheDirectoryItselfMayBeALink) {
  const test::fs::path behind = elsewhere_.path() / "behind";
  test::fs::create_directory_symlink(directory_.path(), behind);
  OpenRun run(Config(), behind);
  ASSERT_TRUE(run.opened()) << run.error().message;
  EXPECT_EQ(write(run, 0), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  EXPECT_TRUE(test::fs::exists(at(name_of(0))));
}

}  // namespace
