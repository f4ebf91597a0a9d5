// Archives, indices and rows: what is read is what the bytes say, and damage is an error that names it.
#include "cube/archive/archive.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cube/archive/rows.hpp"
#include "testing/dice.hpp"
#include "testing/scratch.hpp"
#include "testing/seeds.hpp"
#include "tests/cube/archives.hpp"

namespace tailrace::cube {
namespace {

using impl::Dice;
using impl::for_seeds;
using impl::ScratchDirectory;

class CubeArchive : public ::testing::Test {
 protected:
  // Returns an archive of these bytes.
  std::unique_ptr<Archive> open(const std::string& bytes) {
    return std::make_unique<Archive>(write_file(path_, bytes), scratch_.path());
  }
  std::string refusal(const std::string& bytes) {
    return error_of([&] { open(bytes); });
  }

  ScratchDirectory scratch_;
  const std::string path_ = scratch_ / "profile.cubex";
};

// Sets a field of the header at `at`, and the check sum that belongs to it.
void patch_header(std::string& tar, size_t at, size_t field, const std::string& bytes) {
  tar.replace(at + field, bytes.size(), bytes);
  tar.replace(at + 148, 8, "        ");
  unsigned sum = 0;
  for (size_t byte = 0; byte < 512; ++byte) sum += static_cast<unsigned char>(tar[at + byte]);
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%06o", sum);
  tar.replace(at + 148, 7, text.data(), 7);
}

constexpr size_t kSizeField = 124, kKindField = 156, kMagicField = 257, kSparseField = 386, kRealSizeField = 483;

TEST_F(CubeArchive, HasTheMembersOfATar) {
  const auto archive = open(tar_of({{"./1.data", "hello"}, {"empty", ""}, {"anchor.xml", std::string(1000, 'x')}}));
  ASSERT_EQ(archive->members().size(), 3u);
  EXPECT_EQ(archive->members()[0].name, "1.data");
  EXPECT_EQ(archive->get("1.data").offset, 512u);
  EXPECT_EQ(archive->text(archive->get("1.data")), "hello");
  EXPECT_EQ(archive->text(archive->get("empty")), "");
  EXPECT_EQ(archive->text(archive->get("anchor.xml")), std::string(1000, 'x'));
  EXPECT_EQ(archive->find("none"), nullptr);
  EXPECT_ERROR(archive->get("none"), "profile.cubex: expected a member none, found none");
  EXPECT_ERROR(archive->text(archive->get("anchor.xml"), 999), "anchor.xml: expected at most 999 bytes, found 1000");
  std::array<std::byte, 4> four{};
  EXPECT_ERROR(archive->read(archive->get("1.data"), 2, four), "1.data: expected 6 bytes, found 5");
}

TEST_F(CubeArchive, FoldersAreNoMembers) {
  std::string tar = tar_of({{"folder/", ""}, {"a", "1"}});
  patch_header(tar, 0, kKindField, "5");
  for (const std::string& bytes : {tar, gzip_of(tar)}) {
    const auto archive = open(bytes);
    ASSERT_EQ(archive->members().size(), 1u);
    EXPECT_EQ(archive->text(archive->members()[0]), "1");
  }
}

TEST_F(CubeArchive, LongNamesOfGnuAndOfPax) {
  const std::string name(150, 'n');
  const std::string record = "160 path=" + name + "\n";
  ASSERT_EQ(record.size(), 160u);
  for (const auto& [kind, text] : {std::pair<std::string, std::string>{"L", name + '\0'}, {"x", record}}) {
    std::string tar = tar_of({{"long", text}, {"short", "content"}, {"next", "more"}});
    patch_header(tar, 0, kKindField, kind);
    const auto archive = open(tar);
    ASSERT_EQ(archive->members().size(), 2u) << kind;
    EXPECT_EQ(archive->text(archive->get(name)), "content");
    EXPECT_EQ(archive->text(archive->get("next")), "more");
  }
}

TEST_F(CubeArchive, MembersOfManyGigabytesAreNotRead) {
  TarLayout layout;
  const uint64_t large = (uint64_t{9} << 30) + 1;
  const TarLayout::Place first = layout.add("0.data", large);
  const TarLayout::Place second = layout.add("anchor.xml", 2);
  EXPECT_EQ(first.padding, 511u);
  write_file(path_, first.header_bytes);
  std::filesystem::resize_file(path_, second.header);
  std::ofstream(path_, std::ios::binary | std::ios::app)
      << second.header_bytes << "ok" << std::string(second.padding, '\0');
  std::filesystem::resize_file(path_, layout.end() + TarLayout::kEndBytes);
  const Archive archive(path_);
  EXPECT_EQ(archive.get("0.data").bytes, large);
  EXPECT_EQ(archive.text(archive.get("anchor.xml")), "ok");
}

TEST_F(CubeArchive, CompressedAsAWhole) {
  const std::string large(300'000, 'y');
  const std::string packed = gzip_of(tar_of({{"a", "first"}, {"b", large}}));
  const auto archive = open(packed);
  EXPECT_EQ(archive->text(archive->get("a")), "first");
  EXPECT_EQ(archive->text(archive->get("b")), large);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch_.path()), {}), 1) << "a file was left";
  EXPECT_THAT_ERROR(refusal(packed.substr(0, packed.size() / 2)), "profile.cubex: ");
  const std::string nowhere = scratch_ / "none";
  EXPECT_ERROR(Archive(path_, nowhere), "none: the profile cannot be unpacked there: No such file");
}

TEST_F(CubeArchive, DamageInACompressedArchiveIsRefusedOrChangesNothing) {
  const std::string content(3000, 'y');
  const std::string packed = gzip_of(tar_of({{"a", "first"}, {"b", content}}));
  for (size_t at = 10; at < packed.size(); ++at) {
    std::string damaged = packed;
    damaged[at] ^= '\x10';
    const std::string error = error_of([&] {
      const auto archive = open(damaged);
      EXPECT_EQ(archive->text(archive->get("a")), "first") << "with byte " << at << " changed";
      EXPECT_EQ(archive->text(archive->get("b")), content) << "with byte " << at << " changed";
    });
    if (at + 8 >= packed.size()) {
      EXPECT_THAT_ERROR(error, "profile.cubex: expected a whole gzip stream: ");
    }
    EXPECT_THAT_ERROR(refusal(packed.substr(0, at)), "profile.cubex: ") << " of " << at << " bytes";
  }
}

TEST_F(CubeArchive, MembersMayBeCompressed) {
  const std::string text = "<cube/>" + std::string(200'000, ' ');
  const std::string packed = gzip_of(text);
  const auto archive = open(tar_of({{"anchor.xml", packed}, {"cut", packed.substr(0, packed.size() - 9)}}));
  EXPECT_EQ(archive->text(archive->get("anchor.xml")), text);
  EXPECT_ERROR(archive->text(archive->get("cut")), "cut: expected a whole gzip stream");
  EXPECT_ERROR(archive->text(archive->get("anchor.xml"), 100'000),
               "anchor.xml: expected a gzip stream of at most 100000 bytes, found more");
}

// A gzip stream of a few KiB may contain gigabytes.
TEST_F(CubeArchive, WhatUnpacksToFarMoreThanProfilesDoIsRefused) {
  const std::string bomb = gzip_of(std::string(100 << 20, '\0'));
  ASSERT_LT(bomb.size(), size_t{200'000});
  const auto archive = open(tar_of({{"anchor.xml", bomb}}));
  EXPECT_ERROR(archive->text(archive->get("anchor.xml")), "anchor.xml: expected a gzip stream of at most " +
                                                              std::to_string(Archive::most_unpacked(bomb.size())));
  EXPECT_LT(Archive::most_unpacked(bomb.size()), uint64_t{120} << 20);
  EXPECT_ERROR(
      Archive(write_file(path_, gzip_of(tar_of({{"0.data", std::string(1 << 20, 'x')}}))), scratch_.path(), 1000),
      "profile.cubex: expected a compressed profile of at most ");
}

TEST_F(CubeArchive, WhatIsNoArchiveIsRefused) {
  EXPECT_THAT_ERROR(refusal(""), "profile.cubex: expected a Cube profile, a tar archive");
  EXPECT_THAT_ERROR(refusal(std::string(2000, 'x')), "expected a Cube profile, a tar archive");
  EXPECT_ERROR(Archive(scratch_.path()), "expected a regular file");
  EXPECT_ERROR(Archive("/nowhere/none.cubex"), "/nowhere/none.cubex: No such file");
  EXPECT_THAT_ERROR(refusal(tar_of({{"a", "1"}, {"a", "2"}})), "found two members a");
}

TEST_F(CubeArchive, DamagedHeadersAreRefused) {
  const std::string tar = tar_of({{"a", "1"}, {"b", "2"}});
  std::string wrong = tar;
  wrong[1024 + 20] = 'x';
  EXPECT_THAT_ERROR(refusal(wrong), "expected the header of a member: Damaged tar archive");
  EXPECT_THAT_ERROR(refusal(tar.substr(0, 1024 + 100)), "Truncated");
  EXPECT_THAT_ERROR(refusal(tar.substr(0, 1024 + 512)),
                    "b: expected 1 byte from 1536 on, found the end of the file at 1536");
  wrong = tar;
  patch_header(wrong, 1024, kSizeField, "77777777777");
  EXPECT_THAT_ERROR(refusal(wrong), "b: expected 8589934591 bytes from 1536 on");
  wrong = tar;
  patch_header(wrong, 1024, kSizeField, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff");
  EXPECT_NE(refusal(wrong), "");
}

// Sets the check sum of each header off by `more`.
void shift_sums(std::string& tar, int more, size_t least = 0) {
  for (size_t at = 0; tar[at] != '\0';) {
    const unsigned long sum = std::stoul(tar.substr(at + 148, 6), nullptr, 8);
    const unsigned long bytes = std::stoul(tar.substr(at + kSizeField, 11), nullptr, 8);
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "%06lo", sum + static_cast<unsigned long>(more));
    if (at >= least) tar.replace(at + 148, 6, text.data());
    at += 512 + (bytes + 511) / 512 * 512;
  }
}

TEST_F(CubeArchive, CheckSumsThatAreOffByABlankAreAWarning) {
  const std::string content(700, 'y');
  const std::string tar = tar_of({{"a", "first"}, {"b", content}, {"c", "last"}});
  for (const int off : {32, -32}) {
    for (const bool zipped : {false, true}) {
      std::string odd = tar;
      shift_sums(odd, off);
      const auto archive = open(zipped ? gzip_of(odd) : odd);
      EXPECT_EQ(archive->text(archive->get("a")), "first");
      EXPECT_EQ(archive->text(archive->get("b")), content);
      EXPECT_EQ(archive->text(archive->get("c")), "last");
      EXPECT_THAT_ERROR(archive->warning(), "profile.cubex: the check sums of 3 headers are off by octal 40");
    }
  }
  std::string odd = tar;
  shift_sums(odd, 32, 1024);  // not the first one
  EXPECT_THAT_ERROR(open(odd)->warning(), "the check sums of 2 headers");
  EXPECT_EQ(open(tar)->warning(), "");
  for (const int off : {1, 8, 64, -40}) {
    std::string wrong = tar;
    shift_sums(wrong, off);
    EXPECT_THAT_ERROR(refusal(wrong), "profile.cubex: expected a Cube profile, a tar archive");
  }
  EXPECT_THAT_ERROR(refusal(odd.substr(0, 1800)), "b: expected 700 bytes from 1536 on, found the end");
}

TEST_F(CubeArchive, MembersWithHolesAreRefused) {
  std::string tar = tar_of({{"holes", "12345"}, {"rest", std::string(9000, 'r')}});
  patch_header(tar, 0, kMagicField, std::string("ustar  \0", 8));
  patch_header(tar, 0, kSparseField,
               std::string("00000002000\0"
                           "00000000005\0",
                           24));
  patch_header(tar, 0, kRealSizeField, std::string("00000002005\0", 12));
  patch_header(tar, 0, kKindField, "S");
  EXPECT_THAT_ERROR(refusal(tar), "holes: expected a member that is stored whole, found one with holes");
}

// ---- types --------------------------------------------------------------------------------------------------

const std::vector<std::string> kTypes = {"UINT8",
                                         "UINT16",
                                         "UINT32",
                                         "UINT64",
                                         "INT8",
                                         "INT16",
                                         "INT32",
                                         "INT64",
                                         "INTEGER",
                                         "INT",
                                         "CHAR",
                                         "SHORT INT",
                                         "SIGNED INT",
                                         "UNSIGNED INT",
                                         "DOUBLE",
                                         "FLOAT",
                                         "MINDOUBLE",
                                         "MAXDOUBLE",
                                         "COMPLEX",
                                         "UNSIGNED INTEGER",
                                         "UNSIGNED SHORT INT",
                                         "RATE",
                                         "TAU_ATOMIC",
                                         "NDOUBLES(3)",
                                         "SIGNED INTEGER",
                                         "SIGNED SHORT INT"};

TEST(CubeDataType, HasTheSizesOfCube) {
  EXPECT_EQ(data_type("INTEGER").bytes(), 8u);
  EXPECT_EQ(data_type("INT").bytes(), 4u);
  EXPECT_EQ(data_type("SHORT INT").bytes(), 2u);
  EXPECT_EQ(data_type("CHAR").bytes(), 1u);
  EXPECT_EQ(data_type("FLOAT").bytes(), 8u);
  EXPECT_EQ(data_type("COMPLEX").bytes(), 16u);
  EXPECT_EQ(data_type("TAU_ATOMIC").bytes(), 36u);
  EXPECT_EQ(data_type("NDOUBLES(3)").bytes(), 24u);
  EXPECT_FALSE(data_type("RATE").number);
  EXPECT_EQ(data_type("MINDOUBLE").number->combine, Number::Combine::least);
  EXPECT_EQ(data_type("MAXDOUBLE").number->combine, Number::Combine::greatest);
  for (const char* name : {"", "double", "HISTOGRAM(3)", "SCALE_FUNC", "NDOUBLES(0)", "NDOUBLES(-1)", "NDOUBLES(x)",
                           "NDOUBLES(99999999999)", "NDOUBLES(3) "}) {
    EXPECT_FALSE(data_type(name).known()) << name;
  }
  EXPECT_TRUE(data_type("RATE").known());
  EXPECT_EQ(neutral(Number::Combine::least), std::numeric_limits<double>::max());
  EXPECT_EQ(neutral(Number::Combine::greatest), std::numeric_limits<double>::lowest());
}

TEST(CubeDataType, IntegersHaveTheirDigits) {
  const Integer most = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(text_of(Integer{0}), "0");
  EXPECT_EQ(text_of(Integer{-120}), "-120");
  EXPECT_EQ(text_of(most), "18446744073709551615");
  EXPECT_EQ(text_of(-most * 1000), "-18446744073709551615000");
  const std::vector<int64_t> values = {std::numeric_limits<int64_t>::min(), -1, 0,
                                       std::numeric_limits<int64_t>::max()};
  std::vector<Integer> found(values.size());
  to_integers(*data_type("INT64").number, std::as_bytes(std::span(values)).data(), values.size(), found.data());
  for (size_t at = 0; at < values.size(); ++at) EXPECT_EQ(text_of(found[at]), std::to_string(values[at]));
}

// The nearest integer of a type, by the slow and plain way.
template <typename T>
T rounded(double value) {
  if (std::isnan(value)) return 0;
  const long double whole = std::nearbyint(static_cast<long double>(value));
  if (whole < static_cast<long double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (whole > static_cast<long double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(whole);
}

double random_value(Dice& dice) {
  constexpr double kOdd[] = {0.5,   1.5,     -0.5,         -0.0,   127.5,   255.49,
                             255.5, 32767.5, 4294967295.5, 0x1p51, -0x1p51, 1e300};
  if (dice.chance(10)) return kOdd[dice.below(std::size(kOdd))];
  if (dice.chance(2)) return std::numeric_limits<double>::quiet_NaN();
  const double value = std::ldexp(static_cast<double>(dice.below(1 << 30)), static_cast<int>(dice.below(60)) - 31);
  return dice.chance(50) ? value : -value;
}

template <typename T>
void check_conversions(const std::string& name, uint64_t seed) {
  Dice dice(seed);
  const Number number = *data_type(name).number;
  std::vector<double> values(dice.below(2000));
  const bool plain = dice.chance(50);  // as rows are: without fractions and signs
  for (double& value : values) value = plain ? static_cast<double>(dice.below(100)) : random_value(dice);
  std::vector<std::byte> stored(values.size() * sizeof(T));
  from_doubles(number, values.data(), values.size(), stored.data());
  std::vector<double> again(values.size());
  to_doubles(number, stored.data(), values.size(), again.data());
  for (size_t at = 0; at < values.size(); ++at) {
    T found{};
    std::memcpy(&found, stored.data() + at * sizeof found, sizeof found);
    ASSERT_EQ(found, rounded<T>(values[at])) << name << " of " << values[at];
    ASSERT_EQ(again[at], static_cast<double>(found)) << name;
  }
}

TEST(CubeDataType, ConversionsRoundToTheNearest) {
  for_seeds(100, [](uint64_t seed) {
    check_conversions<uint8_t>("UINT8", seed);
    check_conversions<int8_t>("INT8", seed);
    check_conversions<uint16_t>("UINT16", seed);
    check_conversions<int16_t>("INT16", seed);
    check_conversions<uint32_t>("UINT32", seed);
    check_conversions<int32_t>("INT32", seed);
    check_conversions<uint64_t>("UINT64", seed);
    check_conversions<int64_t>("INT64", seed);
  });
}

// ---- rows ---------------------------------------------------------------------------------------------------

// One metric: rows of random bytes for some of the call paths.
struct OneMetric {
  static constexpr uint64_t kPaths = 9, kLocations = 5;

  explicit OneMetric(uint64_t seed, const std::string& name) : type(data_type(name)) {
    Dice dice(seed);
    index.order = dice.chance(50) ? ByteOrder::big : ByteOrder::little;
    dense = dice.chance(30);
    compressed = dice.chance(50);
    for (uint32_t id = 0; id < kPaths; ++id) {
      if (dense || dice.chance(60)) index.ids.push_back(id);
    }
    for (size_t at = index.ids.size(); !dense && at > 1; --at)
      std::swap(index.ids[at - 1], index.ids[dice.below(at)]);
    for (size_t row = 0; row < index.ids.size(); ++row) {
      std::string bytes(kLocations * type.bytes(), '\0');
      for (char& byte : bytes) byte = static_cast<char>(dice.below(100));
      rows.push_back(bytes);
    }
  }

  Parts parts() const {
    return {{"3.data", data_of(rows, type, index.order, compressed)}, {"3.index", encode_index(index, dense)}};
  }

  const DataType type;
  Index index;
  bool dense = false;
  bool compressed = false;
  std::vector<std::string> rows;
};

// Returns all rows as bytes, those of call paths without one as neutral values.
std::string all_rows(const Rows& rows, uint64_t paths) {
  std::string all;
  for (uint32_t id = 0; id < paths; ++id) {
    std::string row(rows.row_bytes(), 'x');
    rows.read(id, std::as_writable_bytes(std::span(row)));
    all += row;
  }
  return all;
}

std::string all_rows(const OneMetric& metric) {
  std::string value(metric.type.bytes(), '\0');
  if (metric.type.number && !metric.type.number->is_integer()) value = bytes_of(neutral(metric.type.number->combine));
  std::string all;
  for (uint64_t at = 0; at < OneMetric::kPaths * OneMetric::kLocations; ++at) all += value;
  for (size_t row = 0; row < metric.rows.size(); ++row) {
    all.replace(metric.index.ids[row] * metric.rows[row].size(), metric.rows[row].size(), metric.rows[row]);
  }
  return all;
}

Rows rows_of(const Archive& archive, const DataType& type) {
  return Rows(archive, 3, type, OneMetric::kPaths, OneMetric::kLocations);
}

TEST_F(CubeArchive, RowsOfEachTypeAndForm) {
  for_seeds(20, [&](uint64_t seed) {
    for (const std::string& name : kTypes) {
      const OneMetric metric(seed, name);
      const auto archive = open(tar_of(metric.parts()));
      const Rows rows = rows_of(*archive, metric.type);
      ASSERT_EQ(rows.index().ids, metric.index.ids) << name;
      EXPECT_EQ(rows.index().order, metric.index.order);
      EXPECT_EQ(rows.compressed(), metric.compressed);
      ASSERT_EQ(all_rows(rows, OneMetric::kPaths), all_rows(metric)) << name;
      for (uint32_t id = 0; id < OneMetric::kPaths + 2; ++id) {
        EXPECT_EQ(rows.has(id), std::count(metric.index.ids.begin(), metric.index.ids.end(), id) > 0);
      }
    }
  });
}

TEST_F(CubeArchive, RowsAsDoubles) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const auto archive = open(tar_of(
        {{"3.data", data_of({bytes_of(int16_t{-3}) + bytes_of(int16_t{700})}, data_type("INT16"), order, false)},
         {"3.index", encode_index({order, {1}})}}));
    const Rows rows(*archive, 3, data_type("INT16"), 2, 2);
    std::vector<double> values(2, 5);
    std::vector<std::byte> memory;
    rows.read(1, values, memory);
    EXPECT_EQ(values, (std::vector<double>{-3, 700}));
    rows.read(0, values, memory);
    EXPECT_EQ(values, (std::vector<double>{0, 0}));
  }
}

TEST_F(CubeArchive, AMetricWithoutMembersHasNoRows) {
  const auto archive = open(tar_of({{"4.data", "CUBEX.DATA"}}));
  const Rows rows = rows_of(*archive, data_type("DOUBLE"));
  EXPECT_FALSE(rows.has(0));
  EXPECT_EQ(all_rows(rows, 2), std::string(80, '\0'));
  EXPECT_ERROR(Rows(*archive, 4, data_type("DOUBLE"), 1, 1), "found one of 4.index and 4.data, expected both");
}

// ---- lying sizes --------------------------------------------------------------------------------------------

class CubeRows : public CubeArchive {
 protected:
  // Returns the error of reading one metric of 3 call paths and 2 locations.
  std::string refusal(const std::string& data, const std::string& index) {
    const auto archive = open(tar_of({{"3.data", data}, {"3.index", index}}));
    return error_of([&] {
      const Rows rows(*archive, 3, data_type("UINT32"), 3, 2);
      all_rows(rows, 3);
    });
  }

  static std::string sparse(uint32_t count, const std::vector<uint32_t>& ids) {
    std::string text = "CUBEX.INDEX" + bytes_of(uint32_t{1}) + bytes_of(uint16_t{0}) + '\1' + bytes_of(count);
    for (const uint32_t id : ids) text += bytes_of(id);
    return text;
  }

  const std::string row_ = std::string(8, 'v');
};

TEST_F(CubeRows, IndicesThatLieAreRefused) {
  const std::string data = "CUBEX.DATA" + row_ + row_;
  EXPECT_EQ(refusal(data, sparse(2, {0, 2})), "");
  EXPECT_THAT_ERROR(refusal(data, sparse(2, {0, 0})), "3.index: expected an index of a metric, found id 0 twice");
  EXPECT_THAT_ERROR(refusal(data, sparse(2, {0, 3})), "found id 3 of too few call paths");
  EXPECT_THAT_ERROR(refusal(data, sparse(2, {0})), "found 2 rows in 4 bytes, of 3 call paths");
  EXPECT_THAT_ERROR(refusal(data, sparse(1, {0, 1})), "found 1 row in 8 bytes");
  EXPECT_THAT_ERROR(refusal(data, sparse(4, {0, 1, 2, 2})), "found 4 rows in 16 bytes, of 3 call paths");
  EXPECT_THAT_ERROR(refusal(data, sparse(UINT32_MAX, {0, 1})), "found 4294967295 rows in 8 bytes");
  EXPECT_THAT_ERROR(refusal(data, "CUBEX.INDE"), "3.index: expected CUBEX.INDEX at its begin");
  EXPECT_THAT_ERROR(refusal(data, "CUBEX.INDEX\1"), "found the end of it");
  EXPECT_THAT_ERROR(refusal(data, "CUBEX.INDEX" + std::string(7, '\0')), "found no byte order");
  std::string index = sparse(2, {0, 2});
  index[15] = '\2';
  EXPECT_THAT_ERROR(refusal(data, index), "found version 2");
  index[15] = '\0';
  index[17] = '\2';
  EXPECT_THAT_ERROR(refusal(data, index), "found format 2");
  EXPECT_THAT_ERROR(refusal(data, std::string(1000, 'x')), "3.index: expected at most 76 bytes, found 1000");
}

TEST_F(CubeRows, DataThatLieAreRefused) {
  const std::string index = sparse(2, {0, 2});
  EXPECT_THAT_ERROR(refusal("CUBEX.DATA" + row_, index),
                    "3.data: expected 26 bytes, for 2 rows of 2 values, found 18");
  EXPECT_THAT_ERROR(refusal("CUBEX.DATA" + row_ + row_ + "x", index), "expected 26 bytes");
  EXPECT_THAT_ERROR(refusal("CUBEX.DATB" + row_ + row_, index), "expected CUBEX.DATA or ZCUBEX.DATA at its begin");
  EXPECT_THAT_ERROR(refusal("", index), "expected CUBEX.DATA or ZCUBEX.DATA at its begin");
}

TEST_F(CubeRows, CompressedDataThatLieAreRefused) {
  const std::string index = sparse(1, {0});
  const auto data = [](uint64_t rows, uint64_t offset, uint64_t bytes, const std::string& stream) {
    return "ZCUBEX.DATA" + bytes_of(rows) + bytes_of(uint64_t{0}) + bytes_of(offset) + bytes_of(bytes) + stream;
  };
  const std::string stream = zlib_of(row_);
  const uint64_t size = stream.size();
  EXPECT_EQ(refusal(data(1, 0, size, stream), index), "");
  EXPECT_EQ(refusal(data(1, 3, size, "xxx" + stream), index), "");
  EXPECT_THAT_ERROR(refusal(data(2, 0, size, stream), index), "3.data: expected 1 compressed rows, found 2");
  EXPECT_THAT_ERROR(refusal(data(UINT64_MAX, 0, size, stream), index), "expected 1 compressed rows, found 1844674");
  EXPECT_THAT_ERROR(refusal("ZCUBEX.DATA\1", index), "3.data: expected 19 bytes, found 12");
  EXPECT_THAT_ERROR(refusal("ZCUBEX.DATA" + bytes_of(uint64_t{1}), index), "3.data: expected 43 bytes, found 19");
  EXPECT_THAT_ERROR(refusal(data(1, 0, size + 1, stream), index), "row 0: expected it within the member");
  EXPECT_THAT_ERROR(refusal(data(1, UINT64_MAX, size, stream), index), "row 0: expected it within the member");
  EXPECT_THAT_ERROR(refusal(data(1, 1, UINT64_MAX, stream), index), "row 0: expected it within the member");
  EXPECT_THAT_ERROR(refusal(data(1, 0, size - 1, stream), index), "row 0: expected a zlib stream of 8 bytes");
  EXPECT_THAT_ERROR(refusal(data(1, 0, 3, "xyz"), index), "expected a zlib stream of 8 bytes, found a damaged one");
  const std::string shorter = zlib_of("1234"), longer = zlib_of(row_ + "9");
  EXPECT_THAT_ERROR(refusal(data(1, 0, shorter.size(), shorter), index), "stream of 8 bytes, found 4");
  EXPECT_THAT_ERROR(refusal(data(1, 0, longer.size(), longer), index), "expected a zlib stream of 8 bytes");
}

// ---- damage of any kind -------------------------------------------------------------------------------------

TEST_F(CubeArchive, ACutArchiveIsRefusedOrEqual) {
  for_seeds(10, [&](uint64_t seed) {
    const OneMetric metric(seed, "TAU_ATOMIC");
    const std::string tar = tar_of(metric.parts());
    int refused = 0;
    for (size_t end = 0; end < tar.size(); end += 512) {
      const std::string error = error_of([&] {
        const auto archive = open(tar.substr(0, end));
        archive->get("3.index");
        EXPECT_EQ(all_rows(rows_of(*archive, metric.type), OneMetric::kPaths), all_rows(metric));
      });
      refused += !error.empty();
      if (!error.empty()) {
        EXPECT_THAT_ERROR(error, "profile.cubex: ");
      }
    }
    EXPECT_GE(refused, 3);
  });
}

TEST_F(CubeArchive, DamagedBytesAreRefusedOrRead) {
  for_seeds(300, [&](uint64_t seed) {
    Dice dice(seed);
    const OneMetric metric(seed, kTypes[dice.below(kTypes.size())]);
    std::string bytes = tar_of(metric.parts());
    if (dice.chance(20)) bytes = gzip_of(bytes);
    for (uint64_t flip = dice.between(1, 4); flip > 0; --flip) {
      bytes[dice.below(bytes.size())] ^= static_cast<char>(1 << dice.below(8));
    }
    error_of([&] {
      const auto archive = open(bytes);
      const std::string rows = all_rows(rows_of(*archive, metric.type), OneMetric::kPaths);
      EXPECT_EQ(rows.size(), all_rows(metric).size());
    });
  });
}

TEST(CubeTarLayout, NamesThatDoNotFitAreRefused) {
  TarLayout layout;
  EXPECT_ERROR(layout.add(std::string(100, 'n'), 1), "expected a member's name of less than 100 letters");
  EXPECT_EQ(layout.end(), 0u);
}

}  // namespace
}  // namespace tailrace::cube
