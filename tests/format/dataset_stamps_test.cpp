// DatasetStamps: a dataset that is like another one has the header that HDF5 makes for it alone, and HDF5 reads it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "format/image/iteration_image.hpp"
#include "format/metadata/commit_record.hpp"
#include "format/metadata/object_header.hpp"
#include "testing/hdf5_file.hpp"
#include "testing/sample_config.hpp"
#include "written_file.hpp"

namespace tailrace::impl {
namespace {

constexpr int64_t kIteration = 42;
constexpr size_t kMostKinds = 32;  // DatasetStamps::kMostKinds, whose header needs HDF5's

// Returns a configuration with `count` variables of one layout.
Config of_one_layout(size_t count, const std::vector<uint64_t>& shape = {4, 4}) {
  Config config = sample_config({"out"}, {{"v0", ElementType::float64, shape}});
  for (size_t i = 1; i < count; ++i) config.variables.push_back({"v" + std::to_string(i), 0, {}, {}});
  return config;
}

// The file of an iteration with some of the variables.
class File {
 public:
  using Note = std::function<void(IterationPlan&)>;

  File(const Config& config, const std::vector<uint32_t>& variables, const Note& note = {}) : plan_(config, "file") {
    std::vector<PlannedWrite> raw;
    for (const uint32_t variable : variables) {
      const Block block = block_of(config, variable, kIteration);
      const std::vector<Extent> extents = plan_.place(block).value();
      for (const Extent& extent : extents) {
        raw.push_back({extent.offset, pattern(extent.length, variable)});
      }
    }
    if (note) note(plan_);
    Provenance provenance;
    provenance.series = "sim_%06T";
    Result<IterationImage> image = make_image(config, provenance, kIteration, plan_, "file");
    EXPECT_TRUE(image.ok());
    image_ = std::move(image).value();
    const FileEnding ending = image_.ending(plan_.reached());
    for (const PlannedWrite& write : raw) impl::put(bytes_, write);
    for (const MetadataPiece& piece : ending.body) put(piece);
    put(ending.head);
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

  // Returns the messages of a dataset's header, without the place of its raw data. HDF5 may move some of them to make
  // room for others, so their order does not matter.
  std::multiset<std::vector<std::byte>> messages(const std::string& name) const {
    const std::optional<ObjectHeader> header = header_at(bytes_, address(name));
    if (!header) return {};
    std::vector<std::byte> whole = header->in_one_chunk().value();
    const Extent raw = header_at(whole, 0)->raw_address()->value;
    std::fill_n(whole.begin() + static_cast<ptrdiff_t>(raw.offset), raw.length, std::byte{0});
    constexpr size_t prefix = 14;
    constexpr size_t before = 4;  // the payload: type, size and flags
    constexpr size_t checksum = 4;
    std::multiset<std::vector<std::byte>> messages;
    for (size_t at = prefix; at + checksum < whole.size();) {
      const size_t end = at + before + little_endian(whole, at + 1, 2);
      messages.emplace(whole.begin() + static_cast<ptrdiff_t>(at), whole.begin() + static_cast<ptrdiff_t>(end));
      at = end;
    }
    return messages;
  }
  // Returns true if the header has the form of in_one_chunk(): its size takes four bytes, of which HDF5 uses two.
  bool is_stamped(const std::string& name) const {
    return (bytes_[address(name) + 5] & std::byte{3}) == std::byte{2};
  }

 private:
  uint64_t address(const std::string& name) const {
    const auto found = plan_.datasets().find(name);
    return image_.datasets[static_cast<size_t>(std::distance(plan_.datasets().begin(), found))];
  }
  void put(const MetadataPiece& piece) {
    const std::span<const std::byte> all = piece.bytes.all();
    impl::put(bytes_, {piece.offset, {all.begin(), all.end()}});
  }

  static std::optional<ObjectHeader> header_at(const std::vector<std::byte>& bytes, uint64_t address) {
    return ObjectHeader::read(address, [&](uint64_t offset, std::span<std::byte> to) {
      if (offset > bytes.size() || bytes.size() - offset < to.size()) return false;
      std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(offset), to.size(), to.begin());
      return true;
    });
  }

  IterationPlan plan_;
  IterationImage image_;
  std::vector<std::byte> bytes_;
};

std::vector<uint32_t> all_of(const Config& config) {
  std::vector<uint32_t> all;
  for (uint32_t variable = 0; variable < config.variables.size(); ++variable) all.push_back(variable);
  return all;
}

// Compares each dataset's header with that of a file which has no other dataset.
void expect_headers_as_alone(const Config& config, const File::Note& note = {}) {
  const File together(config, all_of(config), note);
  for (const uint32_t variable : all_of(config)) {
    const std::string& name = config.variables[variable].name;
    const File alone(config, {variable}, note);
    EXPECT_TRUE(together.messages(name) == alone.messages(name)) << name;
    EXPECT_GE(alone.messages(name).size(), 9u);
  }
}

TEST(DatasetStamps, Hdf5DescribesTheFirstOfAKind) {
  Config config = of_one_layout(5);
  config.variables[3].description = "another kind";
  const File file(config, all_of(config));
  for (const char* name : {"v0", "v3"}) EXPECT_FALSE(file.is_stamped(name)) << name;
  for (const char* name : {"v1", "v2", "v4"}) EXPECT_TRUE(file.is_stamped(name)) << name;
}

TEST(DatasetStamps, HeadersAreThoseThatHdf5Makes) {
  Config config = of_one_layout(24);
  for (size_t i = 0; i < config.variables.size(); ++i) {
    Variable& variable = config.variables[i];
    if (i % 2 == 1) variable.unit = {"km/h", 1.0 / 3.6, {1, 0, -1, 0, 0, 0, 0}};
    if (i % 3 == 1) variable.description = "every third";
    if (i % 4 == 1) variable.fill_value = Number(std::nan(""));
    if (i % 5 == 1) variable.attributes = {{"note", std::string("text")}, {"level", int64_t{3}}};
    if (i % 6 == 1) variable.record.position = {0.5, 0.0};
  }
  expect_headers_as_alone(config);
}

TEST(DatasetStamps, WhatTheProgramSetsIsTheDatasetsOwn) {
  const Config config = of_one_layout(6);
  expect_headers_as_alone(config, [](IterationPlan& plan) {
    EXPECT_TRUE(plan.note_attribute("v1", 0, {"quality", 0.5}).ok());
    EXPECT_TRUE(plan.note_attribute("v3", 0, {"quality", 0.5}).ok());
    EXPECT_TRUE(plan.note_attribute("v4", 0, {"quality", -0.5}).ok());
  });
}

TEST(DatasetStamps, ComponentsAreLikeOneAnother) {
  Config config = of_one_layout(6);
  const char* const names[] = {"B/x", "B/y", "B/z", "E/x", "E/y", "E/z"};
  for (size_t i = 0; i < config.variables.size(); ++i) {
    config.variables[i].name = names[i];
    config.variables[i].record.vector = true;
  }
  expect_headers_as_alone(config);
  const File file(config, all_of(config));
  const auto read = Hdf5File::open(file.bytes());
  ASSERT_NE(read, nullptr);
  for (uint32_t i = 0; i < config.variables.size(); ++i) {
    EXPECT_EQ(read->read(kIteration, names[i]), pattern(128, i)) << names[i];
  }
}

TEST(DatasetStamps, EmptyDatasetsAreLikeOneAnother) {
  const Config config = of_one_layout(4, {0, 4});
  expect_headers_as_alone(config);
  const auto read = Hdf5File::open(File(config, all_of(config)).bytes());
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->shape(kIteration, "v3"), (std::vector<uint64_t>{0, 4}));
}

// More kinds than are compared: HDF5 describes the others.
TEST(DatasetStamps, ManyKindsAreRight) {
  Config config = of_one_layout(3 * kMostKinds);
  for (size_t i = 0; i < config.variables.size(); ++i) {
    config.variables[i].description = std::string(1 + i % (kMostKinds + 5), 'd');
  }
  expect_headers_as_alone(config);
}

Attribute text_of(const std::string& name, size_t length) { return {name, std::string(length, 't')}; }

// From 65 attributes on, HDF5 keeps them in a heap of the dataset's own.
TEST(DatasetStamps, AttributesInAHeapAreNotShared) {
  for (const size_t count : {40u, 60u}) {
    Config config = of_one_layout(3);
    for (Variable& variable : config.variables) {
      for (size_t i = 0; i < count; ++i) variable.attributes.push_back(text_of("a" + std::to_string(i), 5));
    }
    const File file(config, all_of(config));
    EXPECT_EQ(file.is_stamped("v1"), count == 40) << count;
    EXPECT_EQ(file.is_stamped("v2"), count == 40) << count;
  }
}

// The header of a group cannot have room for every header of a dataset.
TEST(DatasetStamps, TheLongestHeadersAreRight) {
  bool some_stamped = false;
  bool some_not = false;
  for (size_t last = 0; last < 2000; last += 7) {
    Config config = of_one_layout(2);
    for (Variable& variable : config.variables) {
      for (int i = 0; i < 8; ++i) variable.attributes.push_back(text_of("t" + std::to_string(i), 7900));
      variable.attributes.push_back(text_of("last", last));
    }
    const File file(config, all_of(config));
    (file.is_stamped("v1") ? some_stamped : some_not) = true;
    const auto read = Hdf5File::open(file.bytes());
    ASSERT_NE(read, nullptr) << last;
    ASSERT_EQ(read->texts("/data/42/meshes/v1", "last"), std::vector<std::string>{std::string(last, 't')});
  }
  EXPECT_TRUE(some_stamped && some_not);
}

// Far more links than a group keeps in its header.
TEST(DatasetStamps, Hdf5ReadsThousandsOfThem) {
  const Config config = of_one_layout(5000);
  const File file(config, all_of(config));
  const auto read = Hdf5File::open(file.bytes());
  ASSERT_NE(read, nullptr);
  ASSERT_EQ(read->variables(kIteration).size(), config.variables.size());
  for (uint32_t i = 0; i < config.variables.size(); ++i) {
    const std::string& name = config.variables[i].name;
    const std::string object = "/data/42/meshes/" + name;
    ASSERT_EQ(read->read(kIteration, name), pattern(128, i)) << name;
    ASSERT_EQ(read->texts(object, "unit"), std::vector<std::string>{"1"}) << name;
    ASSERT_EQ(read->numbers(object, "tailraceGlobalShape"), (std::vector<uint64_t>{4, 4})) << name;
  }
}

}  // namespace
}  // namespace tailrace::impl
