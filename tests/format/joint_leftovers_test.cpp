// Leftovers of nodes that wrote files together: recovery, and the next run, complete the whole ones and remove the
// rest. rest.
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/os/lock_file.hpp"
#include "runtime/output/earlier_files.hpp"
#include "runtime/output/output_directories.hpp"
#include "runtime/parts/provenance.hpp"
#include "runtime/recover.hpp"
#include "testing/blocks.hpp"
#include "testing/forwarding_file_system.hpp"
#include "testing/kept_log.hpp"
#include "two_nodes.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;

class JointLeftovers : public TwoNodes {
 protected:
  // A lock file that a dead server has left, with the names of its files.
  void put_lock(int node, const std::string& machine = machine_name()) const {
    std::ofstream(lock_of(node)) << "process 1 on " << machine << ", writing 'sim_It{iteration}.h5'";
  }
  std::string lock_of(int node) const { return directory_ / ".sim_n" + std::to_string(node) + ".lock"; }
  bool is_there(const std::string& name) const { return fs::exists(directory_ / name); }
  // Returns what recovery said of each file.
  std::map<std::string, Leftover> recovered(bool apply) const {
    std::map<std::string, Leftover> found;
    const Status status = recover(directory_.path(), apply, [&](const Leftover& one) {
      EXPECT_TRUE(found.emplace(fs::path(one.file).filename(), one).second) << one.file << " is treated twice";
    });
    EXPECT_TRUE(status.ok());
    return found;
  }
  // Returns all names but marks: these stay where a test opens without a lock.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_.path())) {
      if (entry.path().extension() != ".opened") names.push_back(entry.path().filename());
    }
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

// Its data may still be in the memory of the other machine.
TEST_F(JointLeftovers, AFileWaitsForANodeOfAnotherMachine) {
  write(1);
  put_lock(0, "c042");
  put_lock(1);
  for (const bool apply : {false, true}) {
    const Leftover left = recovered(apply).at("sim_It5.h5.part");
    EXPECT_EQ(left.kind, TAILRACE_IN_USE);
    EXPECT_FALSE(left.done);
    EXPECT_NE(left.status.fault().message.find("node 0"), std::string::npos) << left.status.fault().message;
    EXPECT_NE(left.status.fault().message.find("c042"), std::string::npos) << left.status.fault().message;
  }
  EXPECT_TRUE(is_there("sim_It5.h5.part") && is_there("sim_It5.h5.part.n1") && fs::exists(lock_of(0)));
  EXPECT_FALSE(fs::exists(lock_of(1)));
  Config config = this->config(0);
  KeptLog log;
  const auto locks = take_output_directories(config, os_files(), "n0", 0, log);
  EXPECT_EQ(locks.status().code(), TAILRACE_EXISTS) << "another machine takes its place";
  write(0);
  EXPECT_TRUE(recovered(true).at("sim_It5.h5.part").done);
  EXPECT_EQ(names(), std::vector<std::string>{"sim_It5.h5"});
  expect_whole(directory_ / "sim_It5.h5");
}

// Its lock is taken, and its name is not written yet.
TEST_F(JointLeftovers, AFileWaitsForANodeWhoseLockHasNoNameYet) {
  write(1);
  put_lock(1);
  const Result<LockFile> lock = LockFile::acquire(lock_of(0));
  ASSERT_TRUE(lock.ok());
  const Leftover left = recovered(true).at("sim_It5.h5.part");
  EXPECT_EQ(left.kind, TAILRACE_IN_USE);
  EXPECT_TRUE(is_there("sim_It5.h5.part") && is_there("sim_It5.h5.part.n1"));
}

// By removing its lock.
TEST_F(JointLeftovers, ANodeOfAnotherMachineCanBeGivenUp) {
  write(1);
  put_lock(0, "c042");
  put_lock(1);
  EXPECT_FALSE(recovered(true).at("sim_It5.h5.part").done);
  fs::remove(lock_of(0));
  EXPECT_TRUE(recovered(true).at("sim_It5.h5.part").done);
  EXPECT_EQ(names(), std::vector<std::string>());
}

// Confirmed iterations were lost: the first node removed its data when it opened, before the second one had written
// what was in its memory.
TEST_F(JointLeftovers, TheNextRunWaitsForTheDataOfEachNode) {
  KeptLog log;
  const auto open = [&](int node) {
    Config config = this->config(node);
    config.storage.existing = Existing::resume;
    return make_way(config, os_files(), node, log);
  };
  write(0);
  put_lock(0);
  put_lock(1);
  ASSERT_OK(open(0));
  EXPECT_TRUE(is_there("sim_It5.h5.part") && is_there("sim_It5.h5.part.n0"));
  write(1);  // the server of node 1 writes this before its clients come
  ASSERT_OK(open(1));
  expect_whole(directory_ / "sim_It5.h5");
  EXPECT_FALSE(is_there("sim_It5.h5.part") || is_there("sim_It5.h5.part.n0") || is_there("sim_It5.h5.part.n1"));
}

// Found by the simulator (joint, seed 1): the parts were read before this moment, and the file was removed.
TEST_F(JointLeftovers, APartThatComesBetweenTwoLooksCounts) {
  write(0);
  const auto publishes_meanwhile = [this](const std::string&) {
    write(1);
    return std::optional<NodeOfFiles>();
  };
  const Leftover left = treat_part(os_files(), unfinished(), directory_.path(), true, publishes_meanwhile);
  EXPECT_EQ(left.kind, TAILRACE_COMPLETE);
  ASSERT_OK(left.status);
  expect_whole(directory_ / "sim_It5.h5");
}

// A file system on which the part of node 1 cannot be opened.
class WithoutDescriptors final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override {
    if (path.ends_with(".n1")) return Status::of_errno("open", path, EMFILE);
    return ForwardingFileSystem::open(path, mode, device);
  }
};

// Found by the simulator (joint, seed 2684): it counted as missing, and the file was removed.
TEST_F(JointLeftovers, APartThatCannotBeReadIsNotMissing) {
  write(0);
  write(1);
  WithoutDescriptors files(os_files());
  const auto nobody = [](const std::string&) { return std::optional<NodeOfFiles>(); };
  const Leftover left = treat_part(files, unfinished(), directory_.path(), true, nobody);
  EXPECT_FALSE(left.done);
  EXPECT_EQ(left.status.fault().system_errno, EMFILE);
  EXPECT_EQ(names(), (std::vector<std::string>{"sim_It5.h5.part", "sim_It5.h5.part.n0", "sim_It5.h5.part.n1"}));
}

class WithoutRemoval final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  Status remove(const std::string& path) override {
    if (path.ends_with(".n1")) return Status::of_errno("remove", path, EIO);
    return ForwardingFileSystem::remove(path);
  }
};

// Found by the simulator (joint, seed 5918274): as the file had gone, it counted as removed, and the next run
// published the part as its own.
TEST_F(JointLeftovers, APartThatCannotBeRemovedIsReported) {
  write(1);
  WithoutRemoval files(os_files());
  const auto none = [](const std::string&) { return std::optional<NodeOfFiles>(); };
  const Leftover left = treat_part(files, unfinished(), directory_.path(), true, none);
  ASSERT_FALSE(left.done || left.status.ok());
  EXPECT_EQ(left.status.fault().system_errno, EIO);
  EXPECT_EQ(names(), std::vector<std::string>{"sim_It5.h5.part.n1"});
}

// The last of the nodes without a part that opens removes it.
TEST_F(JointLeftovers, AFileGoesWhenNoNodeHasItsDataAnyMore) {
  KeptLog log;
  for (const std::vector<int>& order : {std::vector<int>{0, 1, 2}, {2, 0, 1}, {1, 2, 0}}) {
    for (int node = 0; node < 3; ++node) put_lock(node);
    write(0);
    std::set<int> opened;
    for (const int node : order) {
      EXPECT_EQ(is_there("sim_It5.h5.part"), !opened.contains(1) || !opened.contains(2)) << node;
      opened.insert(node);
      Config config = this->config(node);
      config.storage.existing = Existing::resume;
      config.place.nodes = 3;
      ASSERT_OK(make_way(config, os_files(), node, log));
    }
    for (int node = 0; node < 3; ++node) fs::remove(lock_of(node));
    EXPECT_EQ(names(), std::vector<std::string>());
  }
}

// Found by the simulator (joint, seeds 501808 and 702483): it stayed for ever, and a run that wrote the iteration
// again would have taken the part for one of its own.
TEST_F(JointLeftovers, AFileThatComesAfterTheOpeningsOfOthersGoes) {
  KeptLog log;
  for (const int first : {0, 1}) {
    const auto open = [&](int node) {
      Config config = this->config(node);
      config.storage.existing = Existing::resume;
      auto locks = take_output_directories(config, os_files(), shared_writer_of(config), 0, log);
      EXPECT_OK(locks.status());
      EXPECT_OK(make_way(config, os_files(), 0, log));
      return std::move(locks).value();
    };
    put_lock(1 - first);
    const auto locks = open(first);
    EXPECT_TRUE(fs::exists(mark_path(lock_of(first))));
    write(1 - first);  // the server writes what was left to it, before its clients come
    std::ofstream(directory_ / "sim_It9.h5.part.n" + std::to_string(first)).flush();  // its removal had failed
    const auto others = open(1 - first);
    EXPECT_EQ(names(), (std::vector<std::string>{".sim_n0.lock", ".sim_n1.lock"}));
    EXPECT_FALSE(fs::exists(mark_path(lock_of(0))) || fs::exists(mark_path(lock_of(1))));
  }
  EXPECT_EQ(names(), std::vector<std::string>());
}

// Its mark says that it has opened, but it has died since.
TEST_F(JointLeftovers, AMarkCountsNoLongerThanItsLock) {
  KeptLog log;
  Config config = this->config(0);
  config.storage.existing = Existing::resume;
  put_lock(1);
  std::ofstream(mark_path(lock_of(1))).flush();
  write(0);
  {
    const auto locks = take_output_directories(config, os_files(), "n0", 0, log);
    ASSERT_OK(make_way(config, os_files(), 0, log));
    EXPECT_TRUE(is_there("sim_It5.h5.part") && is_there("sim_It5.h5.part.n0"));
    EXPECT_TRUE(fs::exists(mark_path(lock_of(0))));
  }
  EXPECT_FALSE(fs::exists(mark_path(lock_of(0)))) << "it goes with the lock";
  EXPECT_TRUE(recovered(true).at("sim_It5.h5.part").done);
  EXPECT_TRUE(fs::is_empty(directory_.path()));
}

// Found by the simulator (joint, seed 101361): the first node had looked before the server of another one died again.
TEST_F(JointLeftovers, ANodeRemovesItsOwnPartsWithoutAFile) {
  KeptLog log;
  for (const Existing existing : {Existing::replace, Existing::resume, Existing::refuse}) {
    write(0);
    write(1);
    fs::remove(unfinished());
    fs::copy_file(part_path(unfinished(), 1), part_path(unfinished(), 12));
    fs::copy_file(part_path(unfinished(), 1), part_path(unfinished(), 1) + ".tmp");
    Config config = this->config(1);
    config.storage.existing = existing;
    ASSERT_OK(make_way(config, os_files(), 1, log));
    EXPECT_EQ(names(), (std::vector<std::string>{"sim_It5.h5.part.n0", "sim_It5.h5.part.n12"}));
    for (const std::string& name : names()) fs::remove(directory_ / name);
  }
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
    if (existing == Existing::refuse) {
      // It has written that after the first node had looked.
      EXPECT_EQ(make_way(second, os_files(), 1, log).code(), TAILRACE_EXISTS);
      fs::resize_file(part_path(unfinished(), 1), 0);
      EXPECT_OK(make_way(second, os_files(), 1, log)) << "the first node refuses for all";
      EXPECT_EQ(names().size(), 3u);
    }
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
