// write_scattered: what the file has afterwards, beside other writers, and what it reports where it cannot write.
#include "storage/os/scattered_write.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/os/file_descriptor.hpp"
#include "storage_driver.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kPiece = 8;

// `count` pieces of kPiece bytes, all of them `value`, with holes of `hole` bytes between them.
struct Comb {
  std::vector<std::byte> bytes;
  std::vector<iovec> segments;

  Comb(size_t count, size_t hole, char value) : bytes(count * kPiece, static_cast<std::byte>(value)) {
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) segments.push_back({nullptr, hole});
      segments.push_back({bytes.data() + i * kPiece, kPiece});
    }
  }
};

class ScatteredWrite : public ::testing::Test {
 protected:
  FileDescriptor open(int flags) { return FileDescriptor(::open((directory_ / "file").c_str(), flags, 0600)); }
  std::string contents() const {
    std::ifstream in(directory_ / "file", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TemporaryDirectory directory_;
};

TEST_F(ScatteredWrite, MakesTheFileLongerAndLeavesItsHolesZero) {
  const FileDescriptor file = open(O_RDWR | O_CREAT);
  const Comb comb(3, 5, 'a');
  EXPECT_EQ(write_scattered(file.get(), 4, comb.segments), 3 * 8 + 2 * 5);
  const std::string hole(5, '\0');
  EXPECT_EQ(contents(), std::string(4, '\0') + "aaaaaaaa" + hole + "aaaaaaaa" + hole + "aaaaaaaa");
}

TEST_F(ScatteredWrite, NeverMakesItShorter) {
  std::ofstream(directory_ / "file") << std::string(100, 'x');
  const FileDescriptor file = open(O_RDWR);
  const Comb comb(3, 5, 'a');
  EXPECT_EQ(write_scattered(file.get(), 4, comb.segments), 34);
  EXPECT_EQ(contents(), "xxxxaaaaaaaaxxxxxaaaaaaaaxxxxxaaaaaaaa" + std::string(62, 'x'));
}

TEST_F(ScatteredWrite, TakesAFileThatIsOpenForWritingAlone) {
  const FileDescriptor file = open(O_WRONLY | O_CREAT);
  const Comb comb(2, 1, 'a');
  EXPECT_EQ(write_scattered(file.get(), 0, comb.segments), 17);
  EXPECT_EQ(contents(), std::string("aaaaaaaa") + '\0' + "aaaaaaaa");
}

TEST_F(ScatteredWrite, FailsOnAFileThatIsOpenForReadingAlone) {
  std::ofstream(directory_ / "file") << std::string(10, 'x');
  const FileDescriptor file = open(O_RDONLY);
  const Comb comb(2, 1, 'a');
  EXPECT_EQ(write_scattered(file.get(), 0, comb.segments), -EBADF);
  EXPECT_EQ(contents(), std::string(10, 'x'));
}

// Long pieces, and more of them than one system call takes.
TEST_F(ScatteredWrite, TakesPiecesOfAllLengths) {
  const FileDescriptor file = open(O_RDWR | O_CREAT);
  std::mt19937_64 random(test_seed());
  std::vector<std::byte> memory(4 << 20);
  fill(memory, random);
  std::vector<iovec> segments;
  std::string expected;
  for (size_t used = 0; used < memory.size();) {
    const size_t most = random() % 20 == 0 ? 400'000 : 1 + random() % 2000;
    const size_t length = std::min<size_t>(1 + random() % most, memory.size() - used);
    segments.push_back({memory.data() + used, length});
    expected.append(reinterpret_cast<const char*>(memory.data()) + used, length);
    used += length;
    const size_t hole = random() % 3000;
    if (used == memory.size()) break;
    segments.push_back({nullptr, hole});
    expected.append(hole, '\0');
  }
  EXPECT_EQ(write_scattered(file.get(), 0, segments), expected.size());
  EXPECT_TRUE(contents() == expected);
}

// Two writers have pieces in the same pages: none rewrites the other's bytes.
TEST_F(ScatteredWrite, SharesPagesWithOtherWriters) {
  constexpr size_t kCount = 20'000;
  const FileDescriptor file = open(O_RDWR | O_CREAT);
  const auto write = [&](char value, uint64_t offset) {
    const Comb comb(kCount, kPiece, value);
    for (int round = 0; round < 20; ++round) {
      EXPECT_EQ(write_scattered(file.get(), offset, comb.segments), (2 * kCount - 1) * kPiece);
    }
  };
  std::thread other(write, 'b', kPiece);
  write('a', 0);
  other.join();
  std::string expected;
  for (size_t i = 0; i < kCount; ++i) expected += "aaaaaaaabbbbbbbb";
  EXPECT_TRUE(contents() == expected);
}

// Another process truncates the file at any time: no signal, and every call reports all of its bytes.
TEST_F(ScatteredWrite, SurvivesATruncation) {
  constexpr size_t kCount = 20'000;
  const FileDescriptor file = open(O_RDWR | O_CREAT);
  const Comb comb(kCount, kPiece, 'a');
  std::atomic<bool> ends{false};
  std::thread other([&] {
    while (!ends.load()) EXPECT_EQ(::ftruncate(file.get(), 10), 0);
  });
  for (int round = 0; round < 50; ++round) {
    EXPECT_EQ(write_scattered(file.get(), 0, comb.segments), (2 * kCount - 1) * kPiece);
  }
  ends.store(true);
  other.join();
}

TEST_F(ScatteredWrite, ReportsWhereTheFileMayNotGrow) {
  const FileDescriptor file = open(O_RDWR | O_CREAT);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{5000, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Comb comb(1000, 2, 'a');
  const int64_t written = write_scattered(file.get(), 0, comb.segments);
  const int64_t nothing = write_scattered(file.get(), 6000, comb.segments);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(written, 5000);
  EXPECT_EQ(nothing, -EFBIG);
  EXPECT_EQ(contents().size(), 4998u);
}

// Needs the right to mount, and is skipped without it.
TEST_F(ScatteredWrite, ReportsAFullDisk) {
  constexpr size_t kDiskBytes = size_t{1} << 20;
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tailrace-test", directory_.path().c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "mounting a tmpfs: " << std::strerror(errno);
  }
  {
    const FileDescriptor file = open(O_RDWR | O_CREAT);
    const Comb comb(2 * kDiskBytes / 16, 8, 'a');
    const int64_t written = write_scattered(file.get(), 0, comb.segments);
    EXPECT_GT(written, 0);
    EXPECT_LE(written, kDiskBytes);
    const Comb rest(1000, 8, 'b');
    EXPECT_EQ(write_scattered(file.get(), static_cast<uint64_t>(written) + 4096, rest.segments), -ENOSPC);
    const std::string found = contents();
    for (size_t at = 0; at + 16 <= static_cast<size_t>(written); at += 16) {
      ASSERT_EQ(found.substr(at, 8), "aaaaaaaa") << at;
    }
  }
  EXPECT_EQ(::umount2(directory_.path().c_str(), MNT_DETACH), 0);
}

}  // namespace
}  // namespace tailrace::impl
