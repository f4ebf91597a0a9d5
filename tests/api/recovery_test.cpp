// Recovery of everything that it may find: files truncated anywhere, changed bytes, files that are not tailrace's,
// and the leftovers of a program that ended without close.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <random>

#include "other_process.hpp"
#include "run_rig.hpp"

namespace {

using test::Config;
using test::Directory;
using test::OpenRun;

struct Found {
  tailrace_leftover kind;
  bool done;
  tailrace_status status;
};
using Leftovers = std::map<std::string, Found>;

Leftovers recover(const test::fs::path& directory, bool apply) {
  Leftovers found;
  const auto take = [](void* context, const char* file, tailrace_leftover kind, int done, tailrace_status status,
                       const char*) {
    (*static_cast<Leftovers*>(context))[test::fs::path(file).filename()] = {kind, done != 0, status};
  };
  EXPECT_EQ(tailrace_recover(directory.c_str(), apply ? 1 : 0, take, &found), TAILRACE_OK);
  return found;
}

class Recovery : public ::testing::Test {
 protected:
  // A complete file that lacks its rename, and its bytes.
  void SetUp() override {
    Config config;
    config.shape = "[600]";
    OpenRun run(config, directory_);
    ASSERT_TRUE(run.opened()) << run.error().message;
    const std::vector<double> values = test::block(0, 0, 600);
    ASSERT_EQ(tailrace_write(run, "a", 0, values.data()), TAILRACE_OK);
    ASSERT_EQ(tailrace_write(run, "b", 0, values.data()), TAILRACE_OK);
    ASSERT_EQ(tailrace_end_iteration(run, 0), TAILRACE_OK);
    ASSERT_EQ(run.close(), TAILRACE_OK);
    test::fs::rename(file_, part_);
    bytes_.resize(test::fs::file_size(part_));
    std::ifstream(part_, std::ios::binary).read(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
    ASSERT_EQ(recover(directory_, false).at(part_.filename()).kind, TAILRACE_COMPLETE);
  }
  void put_part(const std::vector<char>& bytes) const {
    std::ofstream(part_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  Directory directory_;
  test::fs::path file_ = directory_.path() / "run_c0_000000.h5";
  test::fs::path part_ = file_.string() + ".part";
  std::vector<char> bytes_;
};

TEST_F(Recovery, OfAFileCutShortAnywhereFindsItIncomplete) {
  std::mt19937_64 random(1);
  std::vector<size_t> lengths = {0, 1, 47, 48, 49, 96, bytes_.size() - 1};
  for (int i = 0; i < 100; ++i) lengths.push_back(random() % bytes_.size());
  for (const size_t length : lengths) {
    put_part({bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(length)});
    EXPECT_EQ(recover(directory_, false).at(part_.filename()).kind, TAILRACE_INCOMPLETE) << length;
    EXPECT_TRUE(recover(directory_, true).at(part_.filename()).done);
    EXPECT_TRUE(directory_.names().empty());
  }
}

TEST_F(Recovery, OfAFileWithoutItsHeadFindsItIncomplete) {
  std::fill(bytes_.begin(), bytes_.begin() + 48, '\0');
  put_part(bytes_);
  EXPECT_EQ(recover(directory_, false).at(part_.filename()).kind, TAILRACE_INCOMPLETE);
}

// Any byte may be any other: recovery decides either way, and does not crash.
TEST_F(Recovery, OfGarbageComesToAnEnd) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 400; ++round) {
    std::vector<char> bytes = bytes_;
    const size_t within = round % 2 == 0 ? 48 : 1024;
    for (int i = 0; i < 1 + round % 7; ++i) bytes[random() % within] = static_cast<char>(random());
    put_part(bytes);
    const Leftovers found = recover(directory_, false);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found.begin()->second.kind == TAILRACE_COMPLETE || found.begin()->second.kind == TAILRACE_INCOMPLETE);
  }
}

TEST_F(Recovery, LeavesAloneWhatIsNotTailraces) {
  test::fs::remove(part_);
  const std::vector<std::string> strangers = {".lock",
                                              "notes.txt",
                                              "run.h5.part",
                                              "run_c0.h5.part",
                                              "run_00000.h5.part",
                                              "run000000.h5.part",
                                              "_000000.h5.part",
                                              "run_c0_000000.h5.part~",
                                              "._job.lock",
                                              ".run.lock",
                                              ".run_cx.lock"};
  for (const std::string& name : strangers) std::ofstream(directory_.path() / name) << "a stranger's";
  EXPECT_TRUE(recover(directory_, true).empty());
  EXPECT_EQ(directory_.names().size(), strangers.size());
}

// A file for the whole job has no client in its name.
TEST_F(Recovery, KnowsTheFilesOfJobs) {
  test::fs::rename(part_, directory_.path() / "run_c_000007.h5.part");
  std::ofstream(directory_.path() / "run_c_000008.h5.part") << "incomplete";
  std::ofstream(directory_.path() / ".run_c_job.lock") << "process 1 on a host";
  const Leftovers found = recover(directory_, false);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found.at("run_c_000007.h5.part").kind, TAILRACE_COMPLETE);
  EXPECT_EQ(found.at("run_c_000008.h5.part").kind, TAILRACE_INCOMPLETE);
  EXPECT_EQ(found.at(".run_c_job.lock").kind, TAILRACE_STALE_LOCK);
  for (const auto& [name, leftover] : recover(directory_, true)) EXPECT_TRUE(leftover.done) << name;
  EXPECT_EQ(directory_.names(), std::vector<std::string>{"run_c_000007.h5"});
}

TEST_F(Recovery, SaysWhatItCannotRemove) {
  test::fs::remove(part_);
  test::fs::create_directory(part_);
  const Leftovers found = recover(directory_, true);
  ASSERT_TRUE(found.contains(part_.filename()));
  EXPECT_FALSE(found.at(part_.filename()).done);
  EXPECT_NE(found.at(part_.filename()).status, TAILRACE_OK);
  EXPECT_EQ(directory_.names(), std::vector<std::string>{part_.filename()});
}

// A file of that name is an earlier run's, or a stranger's.
TEST_F(Recovery, ReplacesNoFile) {
  for (const char* const what : {"a stranger's", ""}) {
    std::ofstream(file_) << what;
    for (const bool apply : {false, true}) {
      const Leftovers found = recover(directory_, apply);
      EXPECT_EQ(found.at(part_.filename()).kind, TAILRACE_COMPLETE);
      EXPECT_FALSE(found.at(part_.filename()).done);
      EXPECT_EQ(found.at(part_.filename()).status, TAILRACE_EXISTS);
      EXPECT_TRUE(test::fs::exists(part_));
      std::string text;
      std::getline(std::ifstream(file_) >> std::noskipws, text);
      EXPECT_EQ(text, what);
    }
  }
  // A link that leads nowhere is a name, too.
  test::fs::remove(file_);
  test::fs::create_symlink(directory_.path() / "nowhere", file_);
  EXPECT_EQ(recover(directory_, true).at(part_.filename()).status, TAILRACE_EXISTS);
  EXPECT_TRUE(test::fs::is_symlink(test::fs::symlink_status(file_)));
  test::fs::remove(file_);
  EXPECT_TRUE(recover(directory_, true).at(part_.filename()).done);
  EXPECT_EQ(directory_.names(), std::vector<std::string>{file_.filename()});
}

// A link to a whole file, and another user's whole file: neither gets a name that readers trust.
TEST_F(Recovery, PublishesNoLink) {
  const test::fs::path elsewhere = directory_.path() / "elsewhere";
  test::fs::rename(part_, elsewhere);
  test::fs::create_symlink(elsewhere, part_);
  const Leftovers found = recover(directory_, true);
  EXPECT_FALSE(found.at(part_.filename()).done);
  EXPECT_EQ(found.at(part_.filename()).status, TAILRACE_IO_ERROR);
  EXPECT_FALSE(test::fs::exists(test::fs::symlink_status(file_)));
  EXPECT_TRUE(test::fs::is_symlink(part_));
}

TEST_F(Recovery, PublishesNoStrangersFile) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  for (const bool complete : {true, false}) {
    if (!complete) put_part({});
    ASSERT_EQ(::chown(part_.c_str(), 65534, 65534), 0);
    const Leftovers found = recover(directory_, true);
    EXPECT_FALSE(found.at(part_.filename()).done);
    EXPECT_EQ(found.at(part_.filename()).status, TAILRACE_IO_ERROR);
    EXPECT_EQ(directory_.names(), std::vector<std::string>{part_.filename()});
  }
}

// Recovery touches nothing whose writer's lock it cannot take.
TEST_F(Recovery, ALockThatIsALinkIsTold) {
  const test::fs::path lock = directory_.path() / ".run_c0.lock";
  test::fs::create_symlink(directory_.path() / "none", lock);
  const Leftovers found = recover(directory_, true);
  EXPECT_FALSE(found.at(part_.filename()).done);
  EXPECT_FALSE(found.at(lock.filename()).done);
  EXPECT_EQ(found.at(lock.filename()).status, TAILRACE_IO_ERROR);
  EXPECT_FALSE(test::fs::exists(directory_.path() / "none"));
}

// The state after a death on a file system that cannot refuse to replace a file by a rename.
TEST_F(Recovery, OfAFileWithBothNamesTakesTheOldOneAway) {
  test::fs::create_hard_link(part_, file_);
  const Leftovers found = recover(directory_, true);
  EXPECT_EQ(found.at(part_.filename()).kind, TAILRACE_COMPLETE);
  EXPECT_TRUE(found.at(part_.filename()).done);
  EXPECT_EQ(directory_.names(), std::vector<std::string>{file_.filename()});
}

TEST_F(Recovery, OfAFileInPlaceOfADirectoryIsRefused) {
  EXPECT_EQ(tailrace_recover(part_.c_str(), 0, nullptr, nullptr), TAILRACE_IO_ERROR);
  EXPECT_EQ(test::last_error(nullptr).system_errno, ENOTDIR);
  EXPECT_EQ(test::last_error(nullptr).file, part_);
}

// A program that ends without close, whatever its writer is doing, ends as it would without tailrace.
TEST_F(Recovery, AfterAnExitWithoutClose) {
  test::fs::remove(part_);
  const int rounds = test::kSanitized ? 5 : 20;  // the thread sanitizer takes a second for each end
  for (int round = 0; round < rounds; ++round) {
    test::OtherProcess other(TEST_OTHER_PROCESS);
    ASSERT_EQ(other.ask("open " + directory_.path().string() + " run 0"), "0");
    for (int iteration = 0; iteration < round % 5; ++iteration) {
      ASSERT_EQ(other.ask("write " + std::to_string(iteration)), "0");
      ASSERT_EQ(other.ask("end " + std::to_string(iteration)), "0");
    }
    ASSERT_EQ(other.ask("write 99"), "0");
    EXPECT_EQ(other.ask("quit"), "");
    EXPECT_EQ(other.wait_end(), 0);
    test::await_left("run", 0);
    recover(directory_, true);
    for (const std::string& name : directory_.names()) {
      EXPECT_TRUE(name.ends_with(".h5")) << name;
      test::fs::remove(directory_.path() / name);  // recovery replaces no file of an earlier round
    }
  }
}

}  // namespace
