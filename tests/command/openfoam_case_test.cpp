// Removals in a case of OpenFOAM that are cut short. tests/openfoam/test_recover_case.py has what is removed.
#include "command/openfoam_case.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

class OpenfoamCase : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tailrace-case-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    // Process 1 was killed while it wrote the time that process 0 has.
    for (const char* part : {"system", "processor0/1", "processor1/1.partial"}) fs::create_directories(folder / part);
    std::ofstream(folder / "system/controlDict") << "";
  }
  void TearDown() override { fs::remove_all(folder); }

  fs::path folder;
};

TEST_F(OpenfoamCase, ARemovalThatIsCutShortLeavesNoHalfTime) {
  std::vector<std::string> removed;
  const Remove fails = [&](const fs::path& path, std::error_code& error) {
    removed.push_back(path.filename().string());
    error = std::make_error_code(std::errc::io_error);
  };
  const auto left = left_in_openfoam_case(folder, fails, [](const fs::path&, const std::string&) {});
  EXPECT_EQ(removed, (std::vector<std::string>{"1.partial", "1.partial"}));
  ASSERT_EQ(left.size(), 2u);
  for (const LeftInCase& one : left) {
    EXPECT_FALSE(one.done);
    EXPECT_NE(one.failure.find("Input/output error"), std::string::npos) << one.failure;
  }
  EXPECT_TRUE(fs::exists(folder / "processor0/1.partial"));
  EXPECT_FALSE(fs::exists(folder / "processor0/1"));
}

TEST_F(OpenfoamCase, APartIsNamedBeforeItLosesItsName) {
  bool told = false;
  const TellRemoval tell = [&](const fs::path& part, const std::string& unfinished) {
    EXPECT_TRUE(fs::exists(part));
    EXPECT_EQ(part, folder / "processor0/1");
    EXPECT_EQ(unfinished, "processor1");
    told = true;
  };
  const Remove remove = [](const fs::path& path, std::error_code& error) { fs::remove_all(path, error); };
  left_in_openfoam_case(folder, remove, tell);
  EXPECT_TRUE(told);
  EXPECT_FALSE(fs::exists(folder / "processor0/1"));
}

// Root may recover the case of a user, who must not remove others' files with that.
TEST_F(OpenfoamCase, FollowsNoLinkOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a link of another user";
  fs::create_directories(folder / "elsewhere/7");
  for (const char* file : {"elsewhere/a.partial", "elsewhere/7/b.partial"}) std::ofstream(folder / file) << "";
  fs::create_directory_symlink(folder / "elsewhere", folder / "5");
  fs::create_directory_symlink(folder / "elsewhere", folder / "processor2");
  const Remove remove = [](const fs::path& path, std::error_code& error) { fs::remove_all(path, error); };
  const auto tell = [](const fs::path&, const std::string&) {};
  for (const char* link : {"5", "processor2"}) ASSERT_EQ(lchown((folder / link).c_str(), kNobody, kNobody), 0);
  left_in_openfoam_case(folder, remove, tell);
  EXPECT_TRUE(fs::exists(folder / "elsewhere/a.partial") && fs::exists(folder / "elsewhere/7/b.partial"));
  for (const char* link : {"5", "processor2"}) ASSERT_EQ(lchown((folder / link).c_str(), geteuid(), kNobody), 0);
  left_in_openfoam_case(folder, remove, tell);
  EXPECT_FALSE(fs::exists(folder / "elsewhere/a.partial") || fs::exists(folder / "elsewhere/7/b.partial"));
}

TEST_F(OpenfoamCase, WithoutARemoverNothingIsTouched) {
  const TellRemoval never = [](const fs::path&, const std::string&) { FAIL(); };
  const auto left = left_in_openfoam_case(folder, {}, never);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].path, "processor1/1.partial");
  EXPECT_EQ(left[1].path, "processor0/1");
  EXPECT_TRUE(fs::exists(folder / "processor0/1") && fs::exists(folder / "processor1/1.partial"));
}

}  // namespace
}  // namespace tailrace::impl
