// RuntimeDirectory, and the places where the server's program is looked for.
#include "place/core/runtime_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "base/os/file_mutex.hpp"
#include "place/core/server_executable.hpp"
#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// An environment variable for one test.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* old = getenv(name); old != nullptr) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (old_) {
      setenv(name_, old_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(RuntimeDirectory, TheRootIsTheUsersOrAsSet) {
  {
    const Environment unset("TAILRACE_RUNTIME_DIR", "");
    EXPECT_EQ(RuntimeDirectory::default_root(), "/dev/shm/tailrace-" + std::to_string(geteuid()));
  }
  const Environment set("TAILRACE_RUNTIME_DIR", "/somewhere/else");
  EXPECT_EQ(RuntimeDirectory::default_root(), "/somewhere/else");
}

TEST(RuntimeDirectory, AJobIsItsNameAndWhereItWrites) {
  const ScratchDirectory scratch;
  fs::create_directory(scratch / "out");
  fs::create_directory_symlink(scratch / "out", scratch / "link");
  const std::string job = RuntimeDirectory::job_name("cm1", scratch / "out");
  EXPECT_EQ(job.substr(0, 4), "cm1-");
  EXPECT_EQ(job.size(), 20u);
  EXPECT_EQ(RuntimeDirectory::name_in(job), "cm1");
  EXPECT_EQ(RuntimeDirectory::name_in(RuntimeDirectory::job_name("with-a-dash", scratch / "out")), "with-a-dash");
  EXPECT_EQ(job.find_first_not_of("0123456789abcdef", 4), std::string::npos) << job;
  EXPECT_EQ(RuntimeDirectory::job_name("cm1", scratch / "out/"), job);
  EXPECT_EQ(RuntimeDirectory::job_name("cm1", scratch / "./x/../out"), job);
  EXPECT_EQ(RuntimeDirectory::job_name("cm1", scratch / "link"), job);
  EXPECT_EQ(RuntimeDirectory::job_name("cm1", fs::relative(scratch / "out")), job);
  EXPECT_NE(RuntimeDirectory::job_name("cm1", scratch / "other"), job);
  EXPECT_NE(RuntimeDirectory::job_name("cm2", scratch / "out"), job);
  EXPECT_EQ(RuntimeDirectory::job_name("a", "/no/such/directory"),
            RuntimeDirectory::job_name("a", "/no/such/directory/"));
  EXPECT_EQ(RuntimeDirectory::job_name("cm1", "/out"), "cm1-7b0d546c37674465") << "the same in all versions";
}

TEST(RuntimeDirectory, NamesOfFiles) {
  EXPECT_EQ(RuntimeDirectory::server_lock(0), "server_0.lock");
  EXPECT_EQ(RuntimeDirectory::server_socket(1), "server_1.sock");
  EXPECT_EQ(RuntimeDirectory::client_segment(12), "client_12.segment");
  const std::vector<std::string> names = {"client_.segment",   "client_10.segment",          "client_3.segment",
                                          "client_-1.segment", "client_03.segment",          "client_x.segment",
                                          "client_4.segmen",   "client_99999999999.segment", "server_0.sock",
                                          "segment",           "client_5.segment.part"};
  EXPECT_EQ(RuntimeDirectory::clients_of(names), (std::vector<int>{3, 10}));
  EXPECT_EQ(RuntimeDirectory::noted_clients(names), std::vector<int>());
  EXPECT_EQ(RuntimeDirectory::noted_clients({"client_4.json", "client_05.json", "client_4.segment", "server_0.json"}),
            std::vector<int>{4});
}

TEST(RuntimeDirectory, IsMadeAndListed) {
  const ScratchDirectory scratch;
  const std::string root = scratch / "root";
  EXPECT_EQ(RuntimeDirectory::jobs(root).value(), std::vector<std::string>{});
  const Result<RuntimeDirectory> a = RuntimeDirectory::open(root, "a-0");
  const Result<RuntimeDirectory> b = RuntimeDirectory::open(root, "b-0");
  ASSERT_TRUE(a.ok());
  ASSERT_TRUE(b.ok());
  EXPECT_EQ(a.value().directory().path(), root + "/a-0");
  EXPECT_EQ(RuntimeDirectory::jobs(root).value(), (std::vector<std::string>{"a-0", "b-0"}));
  EXPECT_TRUE(RuntimeDirectory::open_existing(root, "a-0").ok());
  EXPECT_EQ(RuntimeDirectory::open_existing(root, "c-0").status().fault().system_errno, ENOENT);
  EXPECT_EQ(RuntimeDirectory::jobs(root).value(), (std::vector<std::string>{"a-0", "b-0"}));
  ASSERT_EQ(chmod(root.c_str(), 0755), 0);
  EXPECT_NE(RuntimeDirectory::open(root, "a-0").status().fault().message.find("mode 0755"), std::string::npos);
  EXPECT_FALSE(RuntimeDirectory::jobs(root).ok());
  ASSERT_EQ(chmod(root.c_str(), 0700), 0);
  ASSERT_EQ(chmod((root + "/a-0").c_str(), 0750), 0);
  EXPECT_NE(RuntimeDirectory::open(root, "a-0").status().fault().message.find("mode 0750"), std::string::npos);
}

TEST(RuntimeDirectory, GoesWhenItIsUnusedAndComesAgain) {
  const ScratchDirectory scratch;
  Result<RuntimeDirectory> opened = RuntimeDirectory::open(scratch / "root", "job");
  ASSERT_TRUE(opened.ok());
  RuntimeDirectory& job = opened.value();
  const std::string path = job.directory().path();
  std::ofstream(path + "/client_0.segment") << "x";
  EXPECT_FALSE(job.remove_if_unused().value());
  ASSERT_TRUE(job.directory().remove_file("client_0.segment").ok());
  {
    Result<FileMutex> alive = FileMutex::open(job.directory(), RuntimeDirectory::server_lock(1));
    ASSERT_TRUE(alive.ok());
    const Result<FileMutex::Held> held = alive.value().lock(0s);
    ASSERT_TRUE(held.ok());
    EXPECT_FALSE(job.remove_if_unused().value()) << "a server lives";
  }
  // From here on it is the lock of a server that was killed.
  {
    Result<FileMutex> election = FileMutex::open(job.directory(), RuntimeDirectory::election_lock());
    ASSERT_TRUE(election.ok());
    const Result<FileMutex::Held> held = election.value().lock(0s);
    ASSERT_TRUE(held.ok());
    EXPECT_FALSE(job.remove_if_unused().value()) << "somebody is electing";
  }
  EXPECT_TRUE(job.remove_if_unused().value());
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(scratch / "root"));
  EXPECT_TRUE(job.remove_if_unused().value());
  ASSERT_TRUE(job.make_again().ok());
  EXPECT_TRUE(fs::exists(path));
  EXPECT_TRUE(job.make_again().ok());
  EXPECT_TRUE(job.directory().open_file("file", O_RDWR | O_CREAT).ok());
}

TEST(ServerExecutable, IsTheOneThatIsNamed) {
  const ScratchDirectory scratch;
  const std::string program = scratch / "mine";
  std::ofstream(program) << "#!/bin/sh\n";
  const std::string message = find_server_executable(program).status().fault().message;
  EXPECT_NE(message.find("'" + program + "', as the configuration says, is not an executable file"),
            std::string::npos);
  ASSERT_EQ(chmod(program.c_str(), 0700), 0);
  EXPECT_EQ(find_server_executable(program).value(), fs::canonical(program));
  EXPECT_EQ(find_server_executable(fs::relative(program)).value(), fs::canonical(program));
  const Environment set("TAILRACE_SERVER", program);
  EXPECT_EQ(find_server_executable("").value(), fs::canonical(program));
  const Environment wrong("TAILRACE_SERVER", scratch.path());
  EXPECT_NE(find_server_executable("").status().fault().message.find("as TAILRACE_SERVER says"), std::string::npos);
}

TEST(ServerExecutable, IsLookedForBesideThisProgramAndOnThePath) {
  const ScratchDirectory scratch;
  const Environment unset("TAILRACE_SERVER", "");
  const Environment path("PATH", "relative:" + scratch / "a" + "::" + scratch / "b");
  const Status none = find_server_executable("").status();
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.code(), TAILRACE_NOT_FOUND);
  const std::string here = fs::read_symlink("/proc/self/exe").parent_path();
  const std::string message = none.fault().message;
  EXPECT_NE(message.find(here + "/tailrace-core, "), std::string::npos) << message;
  EXPECT_NE(message.find(fs::path(here).parent_path().string() + "/bin/tailrace-core, "), std::string::npos);
  EXPECT_NE(message.find(scratch / "a/tailrace-core, " + scratch / "b/tailrace-core"), std::string::npos) << message;
  EXPECT_EQ(message.find("relative"), std::string::npos);
  fs::create_directory(scratch / "b");
  std::ofstream(scratch / "b/tailrace-core") << "#!/bin/sh\n";
  ASSERT_EQ(chmod((scratch / "b/tailrace-core").c_str(), 0700), 0);
  EXPECT_EQ(find_server_executable("").value(), fs::canonical(scratch / "b/tailrace-core"));
}

}  // namespace
}  // namespace tailrace::impl
