// In whatever order the bytes of a file are written, it is not an HDF5 file before it has its head, and a complete
// one after that.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "format/hdf5/inspect_file.hpp"
#include "testing/hdf5_file.hpp"
#include "testing/sample_config.hpp"
#include "testing/scratch.hpp"
#include "testing/seeds.hpp"
#include "written_file.hpp"

namespace tailrace::impl {
namespace {

bool complete(const std::string& path) {
  const Result<bool> answer = is_complete(os_files(), path);
  EXPECT_TRUE(answer.ok());
  return answer.ok() && answer.value();
}

std::vector<SampleVariable> some_variables(Dice& dice) {
  std::vector<SampleVariable> variables;
  for (uint64_t i = dice.between(0, 5); i > 0; --i) {
    variables.push_back({"v" + std::to_string(i), ElementType::uint8, {dice.between(1, 20000)}});
  }
  return variables;
}

TEST(Hdf5Format, NothingIsAFileBeforeItsHead) {
  for_seeds(40, [](uint64_t seed) {
    Dice dice(seed);
    const ScratchDirectory directory;
    const Config config = sample_config({directory.path()}, some_variables(dice));
    Hdf5Format format(config, os_files(), format_options());
    ASSERT_TRUE(format.note_event(3, "begin").ok());
    std::vector<PlannedWrite> writes = whole_iteration(format, config, 3);
    const std::vector<PlannedWrite> in_order = writes;
    const PlannedWrite head = std::move(writes.back());
    writes.pop_back();
    for (size_t i = writes.size(); i > 1; --i) std::swap(writes[i - 1], writes[dice.below(i)]);
    const std::string path = directory / "file";
    for (const PlannedWrite& write : writes) {
      put(path, write);
      EXPECT_FALSE(complete(path));
    }
    // A torn head is no head. The bytes that lack are zeros, so one that lacks only zeros, as the last byte of its
    // checksum may be, is whole.
    size_t last = head.bytes.size() - 1;
    while (head.bytes[last] == std::byte{0}) --last;
    put(path, {0, {head.bytes.begin(), head.bytes.begin() + static_cast<ptrdiff_t>(dice.between(1, last))}});
    EXPECT_FALSE(complete(path));
    put(path, head);
    EXPECT_TRUE(complete(path));
    const std::unique_ptr<Hdf5File> file = Hdf5File::open(path);
    ASSERT_NE(file, nullptr);
    for (uint32_t variable = 0; variable < config.variables.size(); ++variable) {
      EXPECT_EQ(file->read(3, config.variables[variable].name), in_order[variable].bytes);
    }
    EXPECT_EQ(file->texts("/data/3", "tailraceSignals"), std::vector<std::string>{"begin"});
    const auto length = std::filesystem::file_size(path);
    std::filesystem::resize_file(path, length - 1);
    EXPECT_FALSE(complete(path)) << "a file that is cut short";
  });
}

TEST(Hdf5Format, TheHeadIsTheSuperblockAndTheLengthIsWhatItSays) {
  for_seeds(40, [](uint64_t seed) {
    Dice dice(seed);
    const Config config = sample_config({"out"}, some_variables(dice));
    Hdf5Format format(config, os_files(), format_options());
    ASSERT_TRUE(format.note_event(0, "e").ok());
    const std::vector<PlannedWrite> writes = whole_iteration(format, config, 0);
    const PlannedWrite& head = writes.back();
    EXPECT_EQ(head.offset, 0u);
    ASSERT_EQ(head.bytes.size(), 48u);
    EXPECT_EQ(std::memcmp(head.bytes.data(), "\x89HDF\r\n\x1a\n\x02", 9), 0);
    std::vector<std::byte> file;
    std::vector<bool> written;
    for (const PlannedWrite& write : writes) {
      put(file, write);
      written.resize(file.size());
      for (uint64_t i = 0; i < write.bytes.size(); ++i) {
        ASSERT_FALSE(written[write.offset + i]) << "byte " << write.offset + i << " is written twice";
        written[write.offset + i] = true;
      }
    }
    uint64_t end = 0;
    std::memcpy(&end, head.bytes.data() + 28, 8);
    EXPECT_EQ(file.size(), end) << "length against the superblock's end of file";
    EXPECT_NE(Hdf5File::open(file), nullptr);
  });
}

TEST(Hdf5Format, IsCompleteOfStrangeFiles) {
  const ScratchDirectory directory;
  const std::string path = directory / "file";
  EXPECT_EQ(is_complete(os_files(), path).status().fault().system_errno, ENOENT);
  std::ofstream{path};
  EXPECT_FALSE(complete(path));
  std::ofstream(path) << std::string(10000, 'x');
  EXPECT_FALSE(complete(path));
  std::ofstream(path) << "\x89HDF\r\n\x1a\n";
  EXPECT_FALSE(complete(path));
}

}  // namespace
}  // namespace tailrace::impl
