// The commit record: what HDF5 has written is read back unchanged, and one wrong bit anywhere invalidates it. Files
// that are incomplete, or not files, are judged without the HDF5 library.
#include "format/metadata/commit_record.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>
#include <utility>

#include "format/hdf5/hdf5_format.hpp"
#include "format/hdf5/inspect_file.hpp"
#include "testing/forwarding_file_system.hpp"
#include "testing/sample_config.hpp"
#include "testing/scratch.hpp"
#include "written_file.hpp"

namespace tailrace::impl {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

// The self-test values that stand in Jenkins' lookup3.c, and lengths around the step of 12.
TEST(CommitRecord, ChecksumIsLookup3) {
  EXPECT_EQ(metadata_checksum({}), 0xdeadbeefU);
  EXPECT_EQ(metadata_checksum(bytes_of("Four score and seven years ago")), 0x17770551U);
}

class WrittenRecord : public ::testing::Test {
 protected:
  // A file of one iteration, whole.
  void SetUp() override {
    const Config config = sample_config({directory_.path()}, {{"a", ElementType::float64, {4, 4}}});
    layout_ = config.layouts[0];
    Hdf5Format format(config, os_files(), format_options());
    for (const PlannedWrite& write : whole_iteration(format, config, 1)) put(path_, write);
    bytes_ = bytes_of_file(path_).value();
  }
  void replace(const std::vector<std::byte>& bytes) const {
    std::filesystem::remove(path_);
    put(path_, {0, bytes});
  }
  bool complete() const { return is_complete(os_files(), path_).value(); }

  ScratchDirectory directory_;
  std::string path_ = directory_ / "sim_c0_000001.h5";
  std::vector<std::byte> bytes_;
  Layout layout_;
  const StoredAs as_{"a", "meshes", &layout_, false};
};

TEST_F(WrittenRecord, SaysHowLongTheFileIs) {
  const std::optional<CommitRecord> record = parse_commit_record(bytes_);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->end, bytes_.size());
  EXPECT_EQ(record->root, kSuperblockBytes);
  EXPECT_TRUE(complete());
  EXPECT_TRUE(find_dataset(os_files(), path_, 1, as_).ok());
}

TEST_F(WrittenRecord, OneWrongBitMakesItNone) {
  for (size_t bit = 0; bit < 8 * kSuperblockBytes; ++bit) {
    std::vector<std::byte> bytes = bytes_;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(parse_commit_record(bytes)) << bit;
    replace(bytes);
    EXPECT_FALSE(complete()) << bit;
  }
}

TEST_F(WrittenRecord, ShorterIsNoneLongerIsOne) {
  for (size_t length = 0; length < kSuperblockBytes; ++length) {
    EXPECT_FALSE(parse_commit_record(std::span(bytes_).first(length)));
  }
  std::vector<std::byte> bytes = bytes_;
  bytes.pop_back();
  replace(bytes);
  EXPECT_FALSE(complete());
  bytes = bytes_;
  bytes.resize(bytes.size() + 100);
  replace(bytes);
  EXPECT_TRUE(complete());
}

// A loss of power may leave the superblock without what it names.
TEST_F(WrittenRecord, ARootThatIsNotThereMakesTheFileIncomplete) {
  std::vector<std::byte> bytes = bytes_;
  std::fill(bytes.begin() + kSuperblockBytes, bytes.end(), std::byte{0});
  replace(bytes);
  EXPECT_TRUE(parse_commit_record(bytes));
  EXPECT_FALSE(complete());
  EXPECT_FALSE(find_dataset(os_files(), path_, 1, as_).ok());
}

// A file system whose reads wait for a thread that uses HDF5, as the server's thread may.
class WaitsForHdf5 final : public ForwardingFileSystem {
 public:
  WaitsForHdf5(FileSystem& inner, std::function<void()> use) : ForwardingFileSystem(inner), use_(std::move(use)) {}
  Result<size_t> read(FileHandle file, uint64_t offset, std::span<std::byte> to) const override {
    std::thread(use_).join();
    return ForwardingFileSystem::read(file, offset, to);
  }

 private:
  const std::function<void()> use_;
};

TEST_F(WrittenRecord, NobodyWaitsForStorageWithTheLockOfHdf5) {
  WaitsForHdf5 files(os_files(), [this] { EXPECT_TRUE(find_dataset(os_files(), path_, 1, as_).ok()); });
  EXPECT_TRUE(find_dataset(files, path_, 1, as_).ok());
  EXPECT_EQ(find_dataset(files, path_, 2, as_).status().code(), TAILRACE_NOT_FOUND);
  EXPECT_TRUE(find_time(files, path_, "/data/1").ok());
}

// Found by fuzzing: opening a pipe waited for ever for a writer.
TEST_F(WrittenRecord, APipeOrADirectoryIsNoFile) {
  const std::string pipe = directory_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, directory_.path()}) {
    EXPECT_EQ(is_complete(os_files(), path).status().code(), TAILRACE_IO_ERROR) << path;
    EXPECT_EQ(find_dataset(os_files(), path, 1, as_).status().code(), TAILRACE_IO_ERROR) << path;
  }
  EXPECT_EQ(is_complete(os_files(), directory_ / "none").status().fault().system_errno, ENOENT);
  EXPECT_EQ(find_dataset(os_files(), directory_ / "none", 1, as_).status().code(), TAILRACE_NOT_FOUND);
}

}  // namespace
}  // namespace tailrace::impl
