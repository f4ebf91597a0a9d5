// ObjectHeader: it finds values where HDF5 has put them, and nothing in incomplete bytes.
#include "format/metadata/object_header.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "format/image/iteration_image.hpp"
#include "testing/sample_config.hpp"

namespace tailrace::impl {
namespace {

// The bytes of a file of one iteration, as far as HDF5 writes them.
class WrittenHeaders : public ::testing::Test {
 protected:
  void SetUp() override {
    IterationPlan plan(config_, "file");
    where_ = plan.place(block_of(config_, 0, 42)).value().at(0).offset;
    image_ = make_image(config_, {"sim_%06T", "machine", "today", "", {}, {}}, 42, plan, "file").value();
    for (const MetadataPiece& piece : image_.pieces) {
      bytes_.resize(std::max<size_t>(bytes_.size(), piece.end()));
      std::memcpy(&bytes_[piece.offset], piece.bytes.data(), piece.bytes.size());
    }
  }

  std::optional<ObjectHeader> header_at(uint64_t address) const {
    return ObjectHeader::read(address, [this](uint64_t offset, std::span<std::byte> to) {
      if (offset > bytes_.size() || bytes_.size() - offset < to.size()) return false;
      std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(offset), to.size(), to.begin());
      return true;
    });
  }
  std::string text_at(const Extent& extent) const {
    return {reinterpret_cast<const char*>(&bytes_[extent.offset]), extent.length};
  }

  Config config_ = sample_config({"out"}, {{"a", ElementType::float64, {4, 4}}});
  uint64_t where_ = 0;
  IterationImage image_;
  std::vector<std::byte> bytes_;
};

TEST_F(WrittenHeaders, ValuesAreFound) {
  const std::optional<HeaderField> date = header_at(image_.root)->attribute("date", 6);
  ASSERT_TRUE(date);
  EXPECT_EQ(text_at(date->value), std::string("today\0", 6));
  const std::optional<HeaderField> link = header_at(image_.data)->link_name("42");
  ASSERT_TRUE(link);
  EXPECT_EQ(text_at(link->value), "42");
  const std::optional<HeaderField> time = header_at(image_.iteration)->attribute("time", 8);
  ASSERT_TRUE(time);
  double value = 0;
  std::memcpy(&value, &bytes_[time->value.offset], sizeof value);
  EXPECT_EQ(value, 42.0);
  ASSERT_EQ(image_.datasets.size(), 1u);
  const std::optional<HeaderField> address = header_at(image_.datasets[0])->raw_address();
  ASSERT_TRUE(address);
  std::array<std::byte, 8> expected{};
  put_number(where_, expected);
  EXPECT_EQ(std::memcmp(&bytes_[address->value.offset], expected.data(), 8), 0);
}

TEST_F(WrittenHeaders, WhatIsNotThereIsNotFound) {
  const std::optional<ObjectHeader> root = header_at(image_.root);
  ASSERT_TRUE(root);
  EXPECT_FALSE(root->attribute("date", 5)) << "of another size";
  EXPECT_FALSE(root->attribute("dat", 6));
  EXPECT_FALSE(root->attribute("dates", 6));
  EXPECT_FALSE(root->raw_address()) << "a group has no raw data";
  EXPECT_FALSE(header_at(image_.data)->link_name("4"));
  EXPECT_FALSE(header_at(image_.data)->link_name("43"));
  EXPECT_FALSE(header_at(image_.root + 1)) << "not a header";
  EXPECT_FALSE(header_at(bytes_.size() - 3));
  EXPECT_FALSE(header_at(~uint64_t{0} - 2));
}

TEST_F(WrittenHeaders, OneWrongBitMakesItNone) {
  const Extent chunk = header_at(image_.iteration)->attribute("time", 8)->chunk;
  for (uint64_t bit = 0; bit < 8 * chunk.length; ++bit) {
    bytes_[chunk.offset + bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(header_at(image_.iteration)) << bit;
    bytes_[chunk.offset + bit / 8] ^= std::byte{1} << (bit % 8);
  }
  EXPECT_TRUE(header_at(image_.iteration));
}

// Even a forged one, with a valid checksum, is read within its bounds.
TEST_F(WrittenHeaders, AForgedOneIsReadWithinItsBounds) {
  const Extent chunk = header_at(image_.iteration)->attribute("time", 8)->chunk;
  const std::vector<std::byte> before = bytes_;
  for (uint64_t at = 0; at < chunk.length - 4; ++at) {
    for (const int value : {0x00, 0x01, 0x10, 0x7f, 0xff}) {
      bytes_[chunk.offset + at] = std::byte(value);
      seal_chunk(std::span(bytes_).subspan(chunk.offset, chunk.length));
      if (const std::optional<ObjectHeader> forged = header_at(image_.iteration)) {
        const std::optional<HeaderField> time = forged->attribute("time", 8);
        EXPECT_TRUE(!time || (time->value.offset >= chunk.offset && time->value.end() <= chunk.end()));
        (void)forged->link_name("meshes");
      }
      bytes_ = before;
    }
  }
}

}  // namespace
}  // namespace tailrace::impl
