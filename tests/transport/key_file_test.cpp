// Key files: what is made can be read again, by this user alone; and everything that is refused, with its message.
#include "transport/key/key_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "key_rig.hpp"
#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

constexpr uid_t kStranger = 65534;
const std::string kDigits = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
const std::string kLine = "tailrace-key-1 " + kDigits + "\n";

class KeyFile : public ::testing::Test {
 protected:
  void SetUp() override { mask_ = ::umask(022); }
  void TearDown() override { ::umask(mask_); }

  void write(const std::string& text, mode_t mode = 0600) {
    std::ofstream(path_, std::ios::binary) << text;
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
  }
  std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Status status() const { return read_key(path_).status(); }
  // Expects that a file of this text is refused, with the line and without showing the text.
  void expect_wrong(const std::string& text, size_t line, const std::string& word) {
    write(text);
    const Status refused = status();
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_EQ(refused.code(), TAILRACE_INVALID_CONFIG);
    const std::string message = refused.fault().message;
    EXPECT_TRUE(message.starts_with(path_ + ":" + std::to_string(line) + ": ")) << message;
    EXPECT_NE(message.find(word), std::string::npos) << message;
    EXPECT_NE(message.find("expected"), std::string::npos) << message;
    EXPECT_EQ(message.find("0102"), std::string::npos) << "shows the key: " << message;
  }

  ScratchDirectory directory_;
  const std::string path_ = directory_ / "key";
  mode_t mask_ = 0;
};

TEST_F(KeyFile, ANewKeyCanBeReadAgain) {
  ASSERT_TRUE(make_key(path_).ok());
  const Result<ForwardKey> key = read_key(path_);
  ASSERT_TRUE(key.ok()) << message_of(key.status());
  ASSERT_TRUE(make_key(directory_ / "other").ok());
  EXPECT_NE(name_of(key.value()), name_of(read_key(directory_ / "other").value()));
}

TEST_F(KeyFile, IsForThisUserAloneWhateverTheMaskIs) {
  for (const mode_t mask : {0000u, 0022u, 0777u}) {
    ::umask(mask);
    ASSERT_TRUE(make_key(path_).ok());
    struct stat info {};
    ASSERT_EQ(::stat(path_.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0600u);
    EXPECT_TRUE(status().ok());
    ::unlink(path_.c_str());
  }
}

TEST_F(KeyFile, HasTheFormatThatIsDocumented) {
  ASSERT_TRUE(make_key(path_, [](std::span<std::byte> bytes) {
                std::byte next{1};
                for (std::byte& byte : bytes) {
                  byte = next;
                  next = static_cast<std::byte>(static_cast<unsigned>(next) + 1);
                }
              }).ok());
  EXPECT_EQ(text(),
            "# A key of tailrace. Forwarders and clients that have it trust each other: keep it secret, with mode "
            "0600.\n" +
                kLine);
  // tests/python/command/test_key.py has the same name.
  EXPECT_EQ(name_of(read_key(path_).value()), "17a2-f6b3-3888-cdfa");
}

TEST_F(KeyFile, IsNeverReplaced) {
  write("precious");
  expect_refused(make_key(path_), EEXIST, {path_});
  EXPECT_EQ(text(), "precious");
  ASSERT_EQ(::symlink((directory_ / "none").c_str(), (directory_ / "link").c_str()), 0);
  expect_refused(make_key(directory_ / "link"), EEXIST);
  EXPECT_NE(::access((directory_ / "none").c_str(), F_OK), 0);
  expect_refused(make_key(directory_ / "no/such"), ENOENT, {directory_ / "no/such"});
}

TEST_F(KeyFile, CommentsAndEmptyLinesDoNotMatter) {
  for (const std::string& text :
       {kLine, "\n# tailrace-key-2\n\n" + kLine + "\n# end", kLine.substr(0, kLine.size() - 1)}) {
    write(text);
    const Result<ForwardKey> key = read_key(path_);
    ASSERT_TRUE(key.ok()) << message_of(key.status());
    EXPECT_EQ(key.value().secret.bytes, key_of(1).secret.bytes);
  }
  std::string capitals = kDigits;
  std::transform(capitals.begin(), capitals.end(), capitals.begin(), [](char c) { return std::toupper(c); });
  write("tailrace-key-1 " + capitals);
  EXPECT_TRUE(status().ok());
}

TEST_F(KeyFile, WhatIsNoKeyIsRefusedWithItsLine) {
  expect_wrong("", 1, "end of the file");
  expect_wrong("# only\n# comments\n", 3, "end of the file");
  expect_wrong(kDigits + "\n", 1, "found no key");
  expect_wrong("#\n\nssh-rsa AAAA\n" + kLine, 3, "found no key");
  expect_wrong(" " + kLine, 1, "found no key");
  expect_wrong("tailrace-key-" + kDigits + "\n", 1, "no version");
  expect_wrong("tailrace-key-1" + kDigits + "\n", 1, "no version");
  expect_wrong("tailrace-key-2 " + kDigits + "\n", 1, "version 2");
  expect_wrong("tailrace-key-1 " + kDigits.substr(1) + "\n", 1, "length 63,");
  expect_wrong("tailrace-key-1 " + kDigits + "0\n", 1, "length 65,");
  expect_wrong("tailrace-key-1 " + kDigits + "\r\n", 1, "length 65,");
  expect_wrong("tailrace-key-1 \n", 1, "length 0,");
  expect_wrong("tailrace-key-1 " + kDigits.substr(1) + "g\n", 1, "other characters than digits");
  expect_wrong("tailrace-key-1 " + kDigits.substr(1) + '\0' + "\n", 1, "other characters than digits");
  expect_wrong("tailrace-key-1 " + std::string(64, '0') + "\n", 1, "key of zeros");
  expect_wrong(kLine + "#\n" + kLine, 3, "more behind the key");
}

TEST_F(KeyFile, AFileThatIsTooLongIsRefused) {
  write(kLine + "#" + std::string(4096 - kLine.size() - 1, ' '));
  EXPECT_TRUE(status().ok());
  write(kLine + "#" + std::string(4096 - kLine.size(), ' '));
  expect_refused(status(), EFBIG, {"more than 4096 bytes"});
}

TEST_F(KeyFile, AFileThatOthersCanUseIsRefused) {
  for (const mode_t mode : {0644u, 0640u, 0604u, 0620u, 0602u, 0610u, 0601u, 0666u, 0777u}) {
    write(kLine, mode);
    const std::string digits = std::to_string(mode / 64) + std::to_string(mode / 8 % 8) + std::to_string(mode % 8);
    expect_refused(status(), EPERM, {"mode 0" + digits, "chmod 600 '" + path_ + "'"});
  }
  for (const mode_t mode : {0600u, 0400u, 0700u}) {
    write(kLine, mode);
    EXPECT_TRUE(status().ok()) << message_of(status());
  }
}

TEST_F(KeyFile, AStrangersFileIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  write(kLine);
  ASSERT_EQ(::chown(path_.c_str(), kStranger, kStranger), 0);
  expect_refused(status(), EPERM, {"a file of user 65534; expected a key file of user 0"});
}

TEST_F(KeyFile, WhatIsNoFileIsRefusedAndNotWaitedFor) {
  expect_refused(status(), ENOENT, {path_});
  expect_refused(read_key(directory_.path()).status(), EISDIR, {"is a directory"});
  write(kLine);
  ASSERT_EQ(::symlink(path_.c_str(), (directory_ / "link").c_str()), 0);
  expect_refused(read_key(directory_ / "link").status(), ELOOP, {"is a symbolic link"});
  ASSERT_EQ(::mkfifo((directory_ / "fifo").c_str(), 0600), 0);
  expect_refused(read_key(directory_ / "fifo").status(), EINVAL, {"no regular file"});
}

TEST_F(KeyFile, ATildeIsTheHomeDirectory) {
  const char* const home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  ::setenv("HOME", directory_.path().c_str(), 1);
  EXPECT_TRUE(make_key("~/key").ok());
  EXPECT_EQ(::access(path_.c_str(), F_OK), 0);
  EXPECT_TRUE(read_key("~/key").ok());
  EXPECT_FALSE(read_key("~stranger/key").ok());
  ::unsetenv("HOME");
  const Status listed = read_key("~/no/such/key/of/tailrace").status();  // in the home directory of the list of users
  EXPECT_FALSE(listed.ok());
  EXPECT_EQ(message_of(listed).find('~'), std::string::npos) << message_of(listed);
  if (home != nullptr) ::setenv("HOME", before.c_str(), 1);
}

}  // namespace
}  // namespace tailrace::impl
