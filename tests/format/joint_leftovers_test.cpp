// Leftovers of nodes that wrote files together: recovery, and the next run, complete the whole ones and remove the
// rest. rest.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "runtime/output/earlier_files.hpp"
#include "runtime/recover.hpp"
#include "testing/session_rig.hpp"
#include "two_nodes.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;

class JointLeftovers : public TwoNodes {
 protected:
  // A lock file that a dead server has left, with the names of its files.
  void put_lock(int node) const {
    std::ofstream(directory_ / ".sim_n" + std::to_string(node) + ".lock")
        << "process 1 on m, writing 'sim_It{iteration}.h5'";
  }
  // Returns what recovery said of each file.
  std::map<std::string, Leftover> recovered(bool apply) const {
    std::map<std::string, Leftover> found;
    const Status status = recover(directory_.path(), apply, [&](const Leftover& one) {
      EXPECT_TRUE(found.emplace(fs::path(one.file).filename(), one).second) << one.file << " is treated twice";
    });
    EXPECT_TRUE(status.ok());
    return found;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_.path())) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(JointLeftovers, AWholeFileIsCompleted) {
  for (const bool locked : {true, false}) {
    write(0);
    write(1);
    for (const int node : {0, 1}) {
      if (locked) put_lock(node);
    }
    EXPECT_EQ(recovered(false).at("sim_It5.h5.part").kind, TAILRACE_COMPLETE);
    EXPECT_TRUE(fs::exists(unfinished())) << "it only looked";
    const Leftover left = recovered(true).at("sim_It5.h5.part");
    EXPECT_TRUE(left.done && left.status.ok()) << left.status.fault().message;
    EXPECT_EQ(names(), std::vector<std::string>{"sim_It5.h5"});
    expect_whole(directory_ / "sim_It5.h5");
    fs::remove(directory_ / "sim_It5.h5");
  }
}

TEST_F(JointLeftovers, AFileThatLacksANodeIsRemoved) {
  write(1);
  put_lock(0);
  const Leftover left = recovered(true).at("sim_It5.h5.part");
  EXPECT_EQ(left.kind, TAILRACE_INCOMPLETE);
  EXPECT_TRUE(left.done);
  EXPECT_EQ(names(), std::vector<std::string>());
}

TEST_F(JointLeftovers, PartsWithoutTheirFileAreRemoved) {
  for (const bool locked : {true, false}) {
    write(0);
    fs::remove(unfinished());
    if (locked) put_lock(1);
    EXPECT_TRUE(recovered(true).at("sim_It5.h5.part.n0").done);
    EXPECT_EQ(names(), std::vector<std::string>());
  }
}

// The first node makes way for all, before any of them writes.
TEST_F(JointLeftovers, TheNextRunMakesWay) {
  KeptLog log;
  for (const Existing existing : {Existing::replace, Existing::resume, Existing::refuse}) {
    Config first = config(0);
    Config second = config(1);
    first.storage.existing = second.storage.existing = existing;
    write(0);
    write(1);
    EXPECT_TRUE(make_way(second, os_files(), 1, log).ok());
    EXPECT_EQ(names().size(), 3u) << "this is not for the second node";
    const Status status = make_way(first, os_files(), 0, log);
    EXPECT_EQ(status.code(), existing == Existing::refuse ? TAILRACE_EXISTS : TAILRACE_OK);
    if (existing == Existing::replace) {
      EXPECT_EQ(names(), std::vector<std::string>());
    }
    if (existing == Existing::resume) {
      EXPECT_EQ(names(), std::vector<std::string>{"sim_It5.h5"});
      expect_whole(directory_ / "sim_It5.h5");
      fs::remove(directory_ / "sim_It5.h5");
    }
  }
  fs::remove(unfinished());
  EXPECT_TRUE(make_way(config(0), os_files(), 0, log).ok());
  EXPECT_EQ(names(), std::vector<std::string>()) << "parts of an earlier run would be taken for those of this one";
}

}  // namespace
}  // namespace tailrace::impl
