// Every element type in every rank: HDF5 reads back what was placed.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstring>
#include <numeric>

#include "testing/hdf5_file.hpp"
#include "testing/sample_config.hpp"
#include "testing/scratch.hpp"
#include "written_file.hpp"

namespace tailrace::impl {
namespace {

const ElementType kTypes[] = {ElementType::int8,    ElementType::int16,      ElementType::int32,
                              ElementType::int64,   ElementType::uint8,      ElementType::uint16,
                              ElementType::uint32,  ElementType::uint64,     ElementType::float32,
                              ElementType::float64, ElementType::long_double};
const std::vector<uint64_t> kShapes[] = {{7}, {3, 5}, {2, 3, 4}, {2, 1, 3, 700}};

std::vector<SampleVariable> all_types(const std::vector<uint64_t>& shape) {
  std::vector<SampleVariable> variables;
  for (const ElementType type : kTypes) variables.push_back({name_of(type), type, shape});
  return variables;
}

// Returns bytes that are valid values of any type; for long double only 10 of the 16 matter.
std::vector<std::byte> values(const Layout& layout, uint64_t seed) {
  std::vector<std::byte> bytes = pattern(layout.bytes(), seed);
  if (layout.type != ElementType::long_double) return bytes;
  for (uint64_t i = 0; i < layout.elements(); ++i) {
    const long double value = 1.0L / static_cast<long double>(i + seed + 3);
    std::memset(&bytes[i * sizeof value], 0, sizeof value);
    std::memcpy(&bytes[i * sizeof value], &value, 10);
  }
  return bytes;
}

TEST(Hdf5Format, EveryTypeAndRankIsReadBackEqual) {
  for (const std::vector<uint64_t>& shape : kShapes) {
    SCOPED_TRACE(shape.size());
    const ScratchDirectory directory;
    const Config config = sample_config({directory.path()}, all_types(shape));
    Hdf5Format format(config, os_files(), format_options());
    std::vector<PlannedWrite> writes;
    for (uint32_t variable = 0; variable < config.variables.size(); ++variable) {
      const Result<Extent> extent = place_whole(format, block_of(config, variable, 5, 0));
      ASSERT_TRUE(extent.ok());
      if (extent.value().length >= 4096) {
        EXPECT_EQ(extent.value().offset % 4096, 0u);
      }
      EXPECT_EQ(extent.value().length, config.layouts[variable].bytes());
      writes.push_back({extent.value().offset, values(config.layouts[variable], variable)});
    }
    const FileNames names = format.files(5)[0];
    EXPECT_EQ(names.final_path, directory / "sim_c0_000005.h5");
    EXPECT_EQ(names.temporary, names.final_path + ".part");
    EXPECT_EQ(names.directory, directory.path());
    Result<PublicationPlan> ending = format.finish(5);
    ASSERT_TRUE(ending.ok());
    for (const PlannedWrite& write : writes) put(names.temporary, write);
    for (const PlannedWrite& write : writes_of(ending.value())) put(names.temporary, write);
    const std::unique_ptr<Hdf5File> file = Hdf5File::open(names.temporary);
    ASSERT_NE(file, nullptr);
    for (uint32_t variable = 0; variable < config.variables.size(); ++variable) {
      const std::string& name = config.variables[variable].name;
      EXPECT_TRUE(file->has_type(5, name, name)) << name;
      EXPECT_EQ(file->shape(5, name), shape) << name;
      EXPECT_EQ(file->read(5, name), writes[variable].bytes) << name;
    }
    EXPECT_EQ(file->texts("/", "openPMD"), std::vector<std::string>{"1.1.0"});
    EXPECT_EQ(file->texts("/", "iterationFormat"), std::vector<std::string>{"sim_c0_%06T"});
  }
}

std::string output_of(const std::string& command) {
  std::string output;
  FILE* const pipe = popen(command.c_str(), "r");
  char line[256];
  while (std::fgets(line, sizeof line, pipe) != nullptr) output += line;
  return pclose(pipe) == 0 ? output : "(failed) " + output;
}

TEST(Hdf5Format, H5dumpReadsIt) {
  if (std::system("command -v h5dump > /dev/null") != 0) GTEST_SKIP() << "no h5dump here";
  const ScratchDirectory directory;
  const Config config = sample_config({directory.path()}, {{"count", ElementType::int32, {2, 3}}});
  Hdf5Format format(config, os_files(), format_options());
  const Result<Extent> extent = place_whole(format, block_of(config, 0, 12, 0));
  ASSERT_TRUE(extent.ok());
  std::vector<int32_t> numbers(6);
  std::iota(numbers.begin(), numbers.end(), 41);
  std::vector<std::byte> bytes(24);
  std::memcpy(bytes.data(), numbers.data(), 24);
  const std::string path = directory / "file.h5";
  put(path, {extent.value().offset, bytes});
  Result<PublicationPlan> ending = format.finish(12);
  for (const PlannedWrite& write : writes_of(ending.value())) put(path, write);
  const std::string output = output_of("h5dump -d /data/12/meshes/count '" + path + "' 2>&1");
  EXPECT_NE(output.find("(0,0): 41, 42, 43"), std::string::npos) << output;
  EXPECT_NE(output.find("(1,0): 44, 45, 46"), std::string::npos) << output;
}

}  // namespace
}  // namespace tailrace::impl
