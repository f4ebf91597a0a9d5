// Hdf5Format: what it remembers, forgets and finds; events; devices in turn.
#include "format/hdf5/hdf5_format.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "format/hdf5/inspect_file.hpp"
#include "testing/hdf5_file.hpp"
#include "testing/sample_config.hpp"
#include "testing/scratch.hpp"
#include "written_file.hpp"

namespace tailrace::impl {
namespace {

Config two_variables(std::vector<std::string> paths) {
  return sample_config(std::move(paths), {{"a", ElementType::float64, {4, 4}}, {"b", ElementType::int32, {10}}});
}

TEST(Hdf5Format, OnePlaceForAVariable) {
  const Config config = two_variables({"out"});
  Hdf5Format format(config, os_files(), format_options());
  const Extent a = place_whole(format, block_of(config, 0, 1, 0)).value();
  const Extent b = place_whole(format, block_of(config, 1, 1, 0)).value();
  EXPECT_FALSE(a.overlaps(b));
  EXPECT_EQ(place_whole(format, block_of(config, 0, 1, 0)).value().offset, a.offset);
  EXPECT_EQ(format.locate(block_of(config, 0, 1, 0)).value().extents[0].offset, a.offset);
  EXPECT_TRUE(format.finish(1).ok());
}

TEST(Hdf5Format, LocateKnowsWhatWasPlacedLostAndDiscarded) {
  const ScratchDirectory directory;
  const Config config = two_variables({directory.path()});
  Hdf5Format format(config, os_files(), format_options());
  EXPECT_EQ(format.locate(block_of(config, 0, 1, 0)).status().code(), TAILRACE_NOT_FOUND);
  const Extent placed = place_whole(format, block_of(config, 0, 1, 0)).value();
  EXPECT_EQ(format.locate(block_of(config, 1, 1, 0)).status().code(), TAILRACE_NOT_FOUND) << "never placed";
  EXPECT_EQ(format.locate(block_of(config, 0, 1, 0)).value().path, directory / "sim_c0_000001.h5");
  ASSERT_TRUE(format.finish(1).ok());
  EXPECT_EQ(format.locate(block_of(config, 0, 1, 0)).value().extents[0].offset, placed.offset);
  format.forget(block_of(config, 0, 1, 0), Status::of_errno("write", "f", EIO));
  EXPECT_EQ(format.locate(block_of(config, 0, 1, 0)).status().fault().system_errno, EIO);
  ASSERT_TRUE(place_whole(format, block_of(config, 0, 2, 0)).ok());
  format.discard(2);
  EXPECT_EQ(format.locate(block_of(config, 0, 2, 0)).status().code(), TAILRACE_NOT_FOUND);
  format.discard(2);
  format.forget(block_of(config, 0, 2, 0),
                Status::of_errno("write", "f", EIO));  // of an iteration that is gone: nothing to do
  EXPECT_EQ(format.locate(block_of(config, 0, 2, 0)).status().code(), TAILRACE_NOT_FOUND);
}

TEST(Hdf5Format, OlderIterationsAreLookedUpInTheirFiles) {
  const ScratchDirectory directory;
  const Config config = two_variables({directory.path()});
  Hdf5Format format(config, os_files(), format_options());
  std::vector<uint64_t> offsets;
  const int64_t count = Hdf5Format::kRemembered + 20;
  for (int64_t iteration = 0; iteration < count; ++iteration) {
    const std::string path = directory / ("sim_c0_" +
                                          std::string(iteration < 10    ? "00000"
                                                      : iteration < 100 ? "0000"
                                                                        : "000") +
                                          std::to_string(iteration) + ".h5");
    std::vector<PlannedWrite> writes = whole_iteration(format, config, iteration);
    offsets.push_back(writes[0].offset);
    format.ended(iteration, iteration != 3);
    if (iteration == 3) continue;  // one that was never published
    for (const PlannedWrite& write : writes) put(path, write);
  }
  for (const int64_t iteration : {int64_t{0}, int64_t{5}, int64_t{19}, int64_t{20}, count - 1}) {
    const Result<Located> located = format.locate(block_of(config, 0, iteration, 0));
    ASSERT_TRUE(located.ok()) << iteration << ": " << located.status().fault().message;
    EXPECT_EQ(located.value().extents[0].offset, offsets[static_cast<size_t>(iteration)]);
    EXPECT_EQ(located.value().extents[0].length, 128u);
    const auto bytes = bytes_of_file(located.value().path);
    ASSERT_TRUE(bytes.has_value());
    const auto begin = bytes->begin() + static_cast<ptrdiff_t>(located.value().extents[0].offset);
    EXPECT_TRUE(std::equal(begin, begin + 128, pattern(128, 0).begin()));
  }
  EXPECT_EQ(format.locate(block_of(config, 0, 3, 0)).status().code(), TAILRACE_NOT_FOUND);
}

TEST(Hdf5Format, AFileOfAnotherShapeIsNotRead) {
  const ScratchDirectory directory;
  const Config before = sample_config({directory.path()}, {{"a", ElementType::float64, {3}}});
  {
    Hdf5Format format(before, os_files(), format_options());
    for (const PlannedWrite& write : whole_iteration(format, before, 7)) put(directory / "sim_c0_000007.h5", write);
  }
  const Config now = two_variables({directory.path()});
  Hdf5Format format(now, os_files(), format_options());
  EXPECT_EQ(format.locate(block_of(now, 0, 7, 0)).status().code(), TAILRACE_WRONG_SHAPE);
  EXPECT_EQ(format.locate(block_of(now, 1, 7, 0)).status().code(), TAILRACE_NOT_FOUND);
  std::ofstream(directory / "sim_c0_000008.h5") << "not HDF5";
  EXPECT_EQ(format.locate(block_of(now, 0, 8, 0)).status().code(), TAILRACE_IO_ERROR);
}

TEST(Hdf5Format, FilesGoToTheDevicesInTurn) {
  const ScratchDirectory first;
  const ScratchDirectory second;
  const Config config = two_variables({first.path(), second.path()});
  Hdf5Format format(config, os_files(), format_options(12));
  for (int64_t iteration = 0; iteration < 4; ++iteration) {
    ASSERT_TRUE(place_whole(format, block_of(config, 0, iteration, 12)).ok());
    const FileNames& names = format.files(iteration)[0];
    EXPECT_EQ(names.device, iteration % 2);
    const ScratchDirectory& directory = iteration % 2 == 0 ? first : second;
    EXPECT_EQ(names.directory, directory.path());
    EXPECT_EQ(names.final_path, directory / ("sim_c12_00000" + std::to_string(iteration) + ".h5"));
    for (const PlannedWrite& write : whole_iteration(format, config, iteration)) put(names.final_path, write);
  }
  // Another run finds them on any device.
  Hdf5Format later(config, os_files(), format_options(12));
  for (int64_t iteration = 0; iteration < 4; ++iteration)
    EXPECT_TRUE(later.locate(block_of(config, 1, iteration, 12)).ok());
}

TEST(Hdf5Format, EventsAloneMakeAFile) {
  const ScratchDirectory directory;
  const Config config = two_variables({directory.path()});
  Hdf5Format format(config, os_files(), format_options());
  ASSERT_TRUE(format.note_event(4, "storm").ok());
  ASSERT_TRUE(format.note_event(4, "a longer name, of 31 bytes here").ok());
  Result<PublicationPlan> ending = format.finish(4);
  ASSERT_TRUE(ending.ok());
  std::vector<std::byte> bytes;
  for (const PlannedWrite& write : writes_of(ending.value())) put(bytes, write);
  const std::unique_ptr<Hdf5File> file = Hdf5File::open(bytes);
  ASSERT_NE(file, nullptr);
  EXPECT_TRUE(file->variables(4).empty());
  EXPECT_EQ(file->texts("/data/4", "tailraceSignals"),
            (std::vector<std::string>{"storm", "a longer name, of 31 bytes here"}));
}

// HDF5 keeps small attributes in the object's header, which holds 64 KiB: more than that must work as well.
TEST(Hdf5Format, ManyEventsAndLongDescriptions) {
  Config config = two_variables({"out"});
  config.variables[0].description = std::string(100000, 'd');
  Hdf5Format format(config, os_files(), format_options());
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(format.note_event(4, "an event with a long name").ok());
  const Result<Extent> extent = place_whole(format, block_of(config, 0, 4, 0));
  EXPECT_TRUE(extent.ok()) << extent.status().fault().message;
  Result<PublicationPlan> ending = format.finish(4);
  ASSERT_TRUE(ending.ok()) << ending.status().fault().message;
  std::vector<std::byte> bytes;
  if (extent.ok()) put(bytes, {extent.value().offset, pattern(extent.value().length, 0)});
  for (const PlannedWrite& write : writes_of(ending.value())) put(bytes, write);
  const std::unique_ptr<Hdf5File> file = Hdf5File::open(bytes);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->texts("/data/4", "tailraceSignals").size(), 5000u);
  EXPECT_EQ(file->texts("/data/4/meshes/a", "description"), std::vector<std::string>{std::string(100000, 'd')});
}

TEST(Hdf5Format, ManyVariables) {
  std::vector<SampleVariable> variables;
  for (int i = 0; i < 300; ++i) variables.push_back({"variable_" + std::to_string(i), ElementType::int16, {3}});
  const Config config = sample_config({"out"}, variables);
  Hdf5Format format(config, os_files(), format_options());
  std::vector<std::byte> bytes;
  for (const PlannedWrite& write : whole_iteration(format, config, 1)) put(bytes, write);
  const std::unique_ptr<Hdf5File> file = Hdf5File::open(bytes);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->variables(1).size(), 300u);
  EXPECT_EQ(file->read(1, "variable_217"), pattern(6, 217));
}

TEST(Hdf5Format, LargeIterationNumbers) {
  const Config config = two_variables({"out"});
  Hdf5Format format(config, os_files(), format_options());
  const int64_t largest = INT64_MAX;
  ASSERT_TRUE(place_whole(format, block_of(config, 0, largest, 0)).ok());
  EXPECT_EQ(format.files(largest)[0].final_path, "out/sim_c0_9223372036854775807.h5");
  EXPECT_TRUE(format.finish(largest).ok());
  ASSERT_TRUE(place_whole(format, block_of(config, 0, 1234567, 0)).ok());
  EXPECT_EQ(format.files(1234567)[0].final_path, "out/sim_c0_1234567.h5");
  EXPECT_TRUE(format.finish(1234567).ok());
}

// An image that is thrown away while blocks are open leaves nothing behind.
TEST(Hdf5Format, ManyOpenImagesAtOnce) {
  const Config config = two_variables({"out"});
  Hdf5Format format(config, os_files(), format_options());
  for (int64_t iteration = 0; iteration < 70; ++iteration) {
    ASSERT_TRUE(place_whole(format, block_of(config, static_cast<uint32_t>(iteration % 2), iteration, 0)).ok());
  }
  for (int64_t iteration = 0; iteration < 70; iteration += 3) format.discard(iteration);
  for (int64_t iteration = 1; iteration < 70; iteration += 3) EXPECT_TRUE(format.finish(iteration).ok());
}

// A client of a node whose four doubles are a part of an array of three clients' ones.
Config part_of_three(const std::string& directory, int client) {
  Config config = sample_config({directory}, {{"a", ElementType::float64, {4}}});
  config.storage.file_per = FilePer::node;
  config.place.clients = 3;
  config.layouts[0].global_shape = {12};
  config.layouts[0].offset = {static_cast<uint64_t>(4 * client)};
  return config;
}

TEST(Hdf5Format, AWholeOfWhichTheLastPartNeverCameIsAWholeFile) {
  const ScratchDirectory directory;
  std::vector<Config> configs;
  for (int client = 0; client < 3; ++client) configs.push_back(part_of_three(directory.path(), client));
  Hdf5Format format(configs[0], os_files(), format_options());
  const Extent first = place_whole(format, block_of(configs[0], 0, 7, 0)).value();
  EXPECT_EQ(format.locate(block_of(configs[0], 0, 7, 0)).value().extents[0].offset, first.offset);
  EXPECT_EQ(format.locate(block_of(configs[2], 0, 7, 2)).status().code(), TAILRACE_NOT_FOUND) << "another's part";
  std::vector<std::byte> bytes;
  put(bytes, {first.offset, pattern(first.length, 1)});
  Result<PublicationPlan> ending = format.finish(7);
  ASSERT_TRUE(ending.ok());
  for (const PlannedWrite& write : writes_of(ending.value())) {
    put(bytes, write);
    put(directory / "sim_n0_000007.h5", write);
  }
  put(directory / "sim_n0_000007.h5", {first.offset, pattern(first.length, 1)});
  const auto file = Hdf5File::open(bytes);
  ASSERT_NE(file, nullptr);
  const auto whole = file->read(7, "a");
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(std::vector<std::byte>(whole->begin(), whole->begin() + 32), pattern(32, 1));
  EXPECT_EQ(format.locate(block_of(configs[2], 0, 7, 2)).status().code(), TAILRACE_NOT_FOUND) << "of a finished one";
  // Another program that knows only the file.
  Hdf5Format later(configs[0], os_files(), format_options());
  const Result<Located> found = later.locate(block_of(configs[0], 0, 7, 0));
  ASSERT_TRUE(found.ok()) << found.status().fault().message;
  EXPECT_EQ(found.value().extents[0].offset, first.offset);
  EXPECT_EQ(later.locate(block_of(configs[2], 0, 7, 2)).status().code(), TAILRACE_NOT_FOUND);
}

// 64 KiB of numbers say where 1365 blocks of three dimensions lie.
TEST(Hdf5Format, OfManyBlocksTheMissingOneIsNotFound) {
  const ScratchDirectory directory;
  constexpr int kBlocks = 1367;
  Config config = sample_config({directory.path()}, {{"a", ElementType::uint8, {1, 1, 1}}});
  config.storage.file_per = FilePer::node;
  config.place.clients = kBlocks;
  config.layouts[0].global_shape = {kBlocks, 1, 1};
  const auto of_client = [&config](int client) {
    Layout layout = config.layouts[0];
    layout.offset[0] = static_cast<uint64_t>(client);
    return Block{0, 7, client, std::make_shared<const Layout>(layout)};
  };
  Hdf5Format format(config, os_files(), format_options());
  for (int client = 0; client < kBlocks; ++client) {
    if (client == 1000) continue;
    const Extent placed = place_whole(format, of_client(client)).value();
    if (client == kBlocks - 1) put(directory / "sim_n0_000007.h5", {placed.offset, pattern(1, 0)});
  }
  Result<PublicationPlan> ending = format.finish(7);
  ASSERT_TRUE(ending.ok()) << ending.status().fault().message;
  for (const PlannedWrite& write : writes_of(ending.value())) put(directory / "sim_n0_000007.h5", write);
  Hdf5Format later(config, os_files(), format_options());
  EXPECT_TRUE(later.locate(of_client(999)).ok());
  EXPECT_TRUE(later.locate(of_client(kBlocks - 1)).ok());
  EXPECT_EQ(later.locate(of_client(1000)).status().code(), TAILRACE_NOT_FOUND);
}

// 64 KiB of references say which 4095 datasets an axis belongs to.
TEST(Hdf5Format, ManyVariablesShareAnAxis) {
  std::vector<SampleVariable> variables;
  for (int i = 0; i < 4098; ++i) variables.push_back({"v" + std::to_string(i), ElementType::uint8, {2}});
  Config config = sample_config({"out"}, variables);
  config.format.dimension_scales = true;
  Hdf5Format format(config, os_files(), format_options());
  std::vector<std::byte> bytes;
  for (const PlannedWrite& write : whole_iteration(format, config, 1)) put(bytes, write);
  const std::unique_ptr<Hdf5File> file = Hdf5File::open(bytes);
  ASSERT_NE(file, nullptr);
  for (const char* const variable : {"v0", "v1", "v4097"}) {
    EXPECT_EQ(file->coordinates(1, variable, 0), (std::vector<double>{0, 1})) << variable;
  }
}

// An axis with one point more than a dimension scale has (DimensionScales::kMostPoints).
TEST(Hdf5Format, AnAxisOfTooManyPointsHasNoScale) {
  for (const uint64_t points : {uint64_t{1} << 20, (uint64_t{1} << 20) + 1}) {
    Config config = sample_config({"out"}, {{"a", ElementType::uint8, {points}}});
    config.format.dimension_scales = true;
    Hdf5Format format(config, os_files(), format_options());
    std::vector<std::byte> bytes;
    for (const PlannedWrite& write : whole_iteration(format, config, 1)) put(bytes, write);
    const std::unique_ptr<Hdf5File> file = Hdf5File::open(bytes);
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(file->coordinates(1, "a", 0).has_value(), points == uint64_t{1} << 20) << points;
  }
}

// An iteration with one dataset more than the format remembers of all finished ones.
TEST(Hdf5Format, OneDatasetMoreThanIsRemembered) {
  const ScratchDirectory directory;
  std::vector<SampleVariable> variables;
  for (size_t i = 0; i <= Hdf5Format::kPartsRemembered; ++i) {
    variables.push_back({"v" + std::to_string(i), ElementType::uint8, {1}});
  }
  const Config config = sample_config({directory.path()}, variables);
  Hdf5Format format(config, os_files(), format_options());
  for (int64_t iteration = 0; iteration < 2; ++iteration) {
    const std::string path = directory / ("sim_c0_00000" + std::to_string(iteration) + ".h5");
    std::vector<std::byte> bytes;
    for (const PlannedWrite& write : whole_iteration(format, config, iteration)) put(bytes, write);
    EXPECT_TRUE(format.locate(block_of(config, 4096, iteration, 0)).ok()) << "its file has no name yet";
    put(path, {0, bytes});
    format.ended(iteration, true);
    const std::unique_ptr<Hdf5File> file = Hdf5File::open(path);
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(file->variables(iteration).size(), variables.size());
    EXPECT_EQ(file->read(iteration, "v4096"), pattern(1, 4096));
    EXPECT_EQ(format.locate(block_of(config, 4096, iteration, 0)).value().path, path);
  }
}

// Limits on iterations that have left do not concern one that has begun again.
TEST(Hdf5Format, AnIterationThatBeginsAgainIsKeptUntilItEnds) {
  const Config config = two_variables({"out"});
  Hdf5Format format(config, os_files(), format_options());
  (void)whole_iteration(format, config, 1);
  format.ended(1, false);
  ASSERT_TRUE(place_whole(format, block_of(config, 0, 1, 0)).ok());
  (void)whole_iteration(format, config, 2);
  format.ended(2, false);
  format.discard(2);
  const int64_t last = 3 + Hdf5Format::kRemembered;
  for (int64_t iteration = 3; iteration <= last; ++iteration) {
    (void)whole_iteration(format, config, iteration);
    format.ended(iteration, true);
  }
  EXPECT_TRUE(format.begun(1));
  EXPECT_TRUE(format.locate(block_of(config, 0, 1, 0)).ok());
  EXPECT_TRUE(format.finish(1).ok());
  format.ended(1, true);
  EXPECT_TRUE(format.locate(block_of(config, 0, last, 0)).ok());
  EXPECT_EQ(format.locate(block_of(config, 0, 3, 0)).status().code(), TAILRACE_NOT_FOUND) << "looked up in its file";
}

// The plan of an earlier attempt may end after the iteration has begun again.
TEST(Hdf5Format, TheEndOfADiscardedPlanIsNotThatOfTheIteration) {
  const Config config = two_variables({"out"});
  Hdf5Format format(config, os_files(), format_options());
  (void)whole_iteration(format, config, 1);
  format.discard(1);
  ASSERT_TRUE(place_whole(format, block_of(config, 0, 1, 0)).ok());
  format.ended(1, true);
  EXPECT_TRUE(format.begun(1));
  EXPECT_TRUE(format.finish(1).ok());
}

// One particle of each client. Compact datasets have room for 64 KiB; a file with more patches has none.
TEST(Hdf5Format, HasSoManyPatchesOfParticlesOrNone) {
  constexpr uint64_t kMostPatches = 7500;
  for (const uint64_t clients : {kMostPatches, kMostPatches + 1}) {
    Config config = sample_config({"out"}, {{"e/position/x", ElementType::uint8, {1}}});
    config.storage.file_per = FilePer::job;
    config.variables[0].record.of_particles = config.variables[0].record.vector = true;
    config.layouts[0].global_shape = {clients};
    config.layouts[0].patch_offset = config.layouts[0].patch_extent = {1.0};
    Hdf5Format format(config, os_files(), format_options());
    std::vector<std::byte> bytes;
    for (uint64_t client = 0; client < clients; ++client) {
      Layout layout = config.layouts[0];
      layout.offset = {client};
      const Block block{0, 7, static_cast<int>(client), std::make_shared<const Layout>(std::move(layout))};
      put(bytes, {format.place(block).value().extents.at(0).offset, {std::byte{1}}});
    }
    const Result<PublicationPlan> plan = format.finish(7);
    ASSERT_TRUE(plan.ok());
    for (const PlannedWrite& write : writes_of(plan.value())) put(bytes, write);
    const auto file = Hdf5File::open(bytes);
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(file->read(7, "e/position/x"), std::vector<std::byte>(clients, std::byte{1}));
    const std::string patches = "e/particlePatches";
    for (const char* const name : {"/numParticles", "/numParticlesOffset", "/offset/x", "/extent/x"}) {
      EXPECT_EQ(file->shape(7, patches + name).empty(), clients > kMostPatches) << name;
    }
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    EXPECT_EQ(text.find("particlePatches") == std::string_view::npos, clients > kMostPatches) << "no empty group";
  }
}

}  // namespace
}  // namespace tailrace::impl
