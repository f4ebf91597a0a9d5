// Sizes and names of raw files through the C API, in both places: size, truncate, allocate, remove, and how many may
// be open.
//
// TAILRACE_SEED=… repeats the random parts.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "raw_file.hpp"

namespace {

using test::Bytes;
using test::Directory;
using test::OpenRun;

constexpr int kRead = TAILRACE_FILE_READ;
constexpr int kWrite = TAILRACE_FILE_WRITE;

tailrace_file open_file(OpenRun& run, const std::string& path, int mode = kWrite) {
  tailrace_file file{};
  EXPECT_EQ(tailrace_file_open(run, path.c_str(), mode, &file), TAILRACE_OK) << run.error().message;
  return file;
}

uint64_t size_of(tailrace_file file) {
  uint64_t bytes = 7;
  EXPECT_EQ(tailrace_file_size(file, &bytes), TAILRACE_OK);
  return bytes;
}

void write(tailrace_file file, uint64_t offset, const Bytes& data) {
  const tailrace_extent all{offset, data.size()};
  ASSERT_EQ(tailrace_file_write(file, 1, &all, data.data()), TAILRACE_OK);
}

class FileSizes : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(run_.close(), TAILRACE_OK); }

  Directory directory_;
  OpenRun run_{test::Config(), directory_};
};

// Any sequence of writes and changes of size has the same result as in a plain vector of bytes.
TEST_F(FileSizes, EqualAPlainModel) {
  const uint64_t seed = test::seed_of_test();
  SCOPED_TRACE("repeat with TAILRACE_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const tailrace_file file = open_file(run_, "data.raw");
  Bytes model;
  for (int step = 0; step < 200; ++step) {
    const uint64_t offset = random() % 40'000;
    const uint64_t length = 1 + random() % 9'000;
    switch (random() % 6) {
      case 0:
        ASSERT_EQ(tailrace_file_truncate(file, offset), TAILRACE_OK) << run_.error().message;
        model.resize(offset);
        break;
      case 1:
        ASSERT_EQ(tailrace_file_allocate(file, offset, length), TAILRACE_OK) << run_.error().message;
        model.resize(std::max<size_t>(model.size(), offset + length));
        break;
      case 2: ASSERT_EQ(size_of(file), model.size()); break;
      case 3: {
        if (model.empty()) break;
        Bytes found(1 + random() % model.size());
        const tailrace_extent some{random() % (model.size() - found.size() + 1), found.size()};
        ASSERT_EQ(tailrace_file_read(file, 1, &some, found.data()), TAILRACE_OK) << run_.error().message;
        ASSERT_TRUE(std::equal(found.begin(), found.end(), model.begin() + static_cast<ptrdiff_t>(some.offset)));
        break;
      }
      default: {
        Bytes data(length);
        for (auto& byte : data) byte = static_cast<Bytes::value_type>(random());
        write(file, offset, data);
        model.resize(std::max<size_t>(model.size(), offset + length));
        std::copy(data.begin(), data.end(), model.begin() + static_cast<ptrdiff_t>(offset));
      }
    }
  }
  ASSERT_EQ(tailrace_file_close(file), TAILRACE_OK) << run_.error().message;
  EXPECT_EQ(test::fs::file_size(directory_.path() / "data.raw"), model.size());
}

TEST_F(FileSizes, NothingIsReadBehindTheCut) {
  const tailrace_file file = open_file(run_, "data.raw");
  write(file, 0, Bytes(100));
  ASSERT_EQ(tailrace_file_truncate(file, 10), TAILRACE_OK);
  Bytes found(20);
  const tailrace_extent beyond{5, found.size()};
  EXPECT_EQ(tailrace_file_read(file, 1, &beyond, found.data()), TAILRACE_IO_ERROR);
  EXPECT_TRUE(run_.error().says("the file ends")) << run_.error().message;
  write(file, 50, Bytes(1));
  ASSERT_EQ(tailrace_file_read(file, 1, &beyond, found.data()), TAILRACE_OK) << "now there is a hole";
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
}

TEST_F(FileSizes, AReaderChangesNothing) {
  const tailrace_file written = open_file(run_, "data.raw");
  write(written, 0, Bytes(100));
  ASSERT_EQ(tailrace_file_close(written), TAILRACE_OK);
  const tailrace_file file = open_file(run_, "data.raw", kRead);
  EXPECT_EQ(size_of(file), 100u);
  EXPECT_EQ(tailrace_file_truncate(file, 0), TAILRACE_INVALID_ARGUMENT);
  EXPECT_TRUE(run_.error().says("opened for reading")) << run_.error().message;
  EXPECT_EQ(run_.error().operation, "file_truncate");
  EXPECT_EQ(tailrace_file_allocate(file, 0, 1000), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_file_size(file, nullptr), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  uint64_t bytes = 7;
  EXPECT_EQ(tailrace_file_size(file, &bytes), TAILRACE_CLOSED);
  EXPECT_EQ(bytes, 0u);
}

TEST_F(FileSizes, BeyondTheEndOfAllFilesIsRefused) {
  const tailrace_file file = open_file(run_, "data.raw");
  EXPECT_EQ(tailrace_file_truncate(file, (uint64_t{1} << 62) + 1), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_file_allocate(file, uint64_t{1} << 62, 1), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(size_of(file), 0u);
  write(file, 0, Bytes(10));
  EXPECT_EQ(size_of(file), 10u) << "the refusals have not spoilt it";
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
}

TEST_F(FileSizes, APublishedFileIsCutBeforeItGetsItsName) {
  const tailrace_file file = open_file(run_, "data.raw", kWrite | TAILRACE_FILE_PUBLISH);
  write(file, 0, Bytes(1000));
  ASSERT_EQ(tailrace_file_truncate(file, 10), TAILRACE_OK);
  ASSERT_EQ(tailrace_file_close(file), TAILRACE_OK) << run_.error().message;
  EXPECT_EQ(test::fs::file_size(directory_.path() / "data.raw"), 10u);
}

TEST_F(FileSizes, RemoveTakesWhatNobodyHasOpen) {
  const auto path = directory_.path() / "data.raw";
  const tailrace_file file = open_file(run_, "data.raw");
  EXPECT_EQ(tailrace_file_remove(run_, "data.raw"), TAILRACE_WRONG_ORDER);
  EXPECT_TRUE(run_.error().says("close it first")) << run_.error().message;
  ASSERT_EQ(tailrace_file_close(file), TAILRACE_OK);
  ASSERT_TRUE(test::fs::exists(path));
  ASSERT_EQ(tailrace_file_remove(run_, "./data.raw"), TAILRACE_OK) << run_.error().message;
  EXPECT_FALSE(test::fs::exists(path));
  EXPECT_EQ(tailrace_file_remove(run_, "data.raw"), TAILRACE_NOT_FOUND);
  EXPECT_EQ(run_.error().operation, "file_remove");
  EXPECT_EQ(tailrace_file_remove(run_, "../data.raw"), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_file_remove(run_, nullptr), TAILRACE_INVALID_ARGUMENT);
}

// Absolute paths lead below one of several directories, and nowhere else.
TEST(FileRoots, AbsolutePathsLieBelowOneOfThem) {
  const Directory directory;
  const Directory second;
  const Directory elsewhere;
  test::Config config;
  config.files = ", files: [" + directory.path().string() + ", " + second.path().string() + "]";
  OpenRun run(config, directory);
  ASSERT_TRUE(run.opened()) << run.error().message;
  for (const auto& root : {directory.path(), second.path()}) {
    const std::string path = root.string() + "//./data.raw";
    const tailrace_file file = open_file(run, path);
    write(file, 0, Bytes(10));
    ASSERT_EQ(tailrace_file_close(file), TAILRACE_OK) << run.error().message;
    EXPECT_EQ(test::fs::file_size(root / "data.raw"), 10u);
  }
  const tailrace_file same = open_file(run, "data.raw");
  EXPECT_EQ(tailrace_file_remove(run, (directory.path() / "data.raw").c_str()), TAILRACE_WRONG_ORDER);
  EXPECT_EQ(tailrace_file_close(same), TAILRACE_OK);
  EXPECT_EQ(tailrace_file_remove(run, (second.path() / "data.raw").c_str()), TAILRACE_OK) << run.error().message;
  tailrace_file file{};
  for (const std::string& path : {(elsewhere.path() / "data.raw").string(), second.path().string(),
                                  second.path().string() + "er/data.raw", second.path().string() + "/../data.raw"}) {
    EXPECT_EQ(tailrace_file_open(run, path.c_str(), kWrite, &file), TAILRACE_INVALID_ARGUMENT) << path;
  }
  test::fs::create_symlink(elsewhere.path(), second.path() / "away");
  EXPECT_EQ(tailrace_file_open(run, (second.path() / "away/data.raw").c_str(), kWrite, &file),
            TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

// Each file has its own bytes, also those that are counted together, and can be read while its writes are under way.
TEST_F(FileSizes, ManyAreOpenAtOnce) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const size_t count = std::min<size_t>(1000, limit.rlim_cur / 8);
  ASSERT_GT(count, 64u);
  std::vector<tailrace_file> files;
  const auto bytes_of = [](size_t i) { return Bytes(32, static_cast<Bytes::value_type>(i % 251)); };
  for (size_t i = 0; i < count; ++i) files.push_back(open_file(run_, "file" + std::to_string(i)));
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < count; ++i) {
      write(files[i], static_cast<uint64_t>(round) * 32, bytes_of(i));
      Bytes found(32);
      const tailrace_extent all{static_cast<uint64_t>(round) * 32, found.size()};
      ASSERT_EQ(tailrace_file_read(files[i], 1, &all, found.data()), TAILRACE_OK) << run_.error().message;
      ASSERT_EQ(found, bytes_of(i)) << i;
    }
  }
  for (const tailrace_file file : files) ASSERT_EQ(tailrace_file_close(file), TAILRACE_OK) << run_.error().message;
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(test::fs::file_size(directory_.path() / ("file" + std::to_string(i))), 64u);
  }
}

}  // namespace
