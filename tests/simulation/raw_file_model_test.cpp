// The simulator's model of a raw file: which writes may have been the last of a byte, and to which write a failure
// belongs.
#include "testing/simulation/raw_file_model.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tailrace::impl::simulation {
namespace {

constexpr Content kOne = 1 << 8 | 1;
constexpr Content kTwo = 2 << 8 | 1;

RawWrite& add(RawFileModel& to, int client, Content content, std::vector<Extent> extents, bool whole) {
  RawWrite& write = to.writes.emplace_back();
  write.client = client;
  write.content = content;
  write.extents = std::move(extents);
  write.whole = whole;
  write.certain = true;
  return write;
}

void empty(RawFileModel& of, int client, uint64_t begun, uint64_t ended) {
  RawWrite& write = add(of, client, 0, {}, false);
  write.empties = write.alone = true;
  write.begun = begun;
  write.ended = ended;
}

std::vector<std::byte> bytes_of(Content content, const Extent& extent) {
  std::vector<std::byte> bytes;
  for (uint64_t at = extent.offset; at < extent.end(); ++at) bytes.push_back(byte_of(content, at));
  return bytes;
}

// Client 1 asks first for an empty file, and waits until client 0, whose call runs earlier, has written and closed
// it.
TEST(RawFileModel, AnOpeningThatWaitsEmptiesWhatWasWrittenMeanwhile) {
  const Extent extent{0, 64};
  RawFileModel file;
  file.begin(false, {});
  empty(file, 1, 1, 9);
  empty(file, 0, 2, 3);
  RawWrite& write = add(file, 0, kOne, {extent}, true);
  write.begun = 4;
  write.ended = 5;
  const std::vector<std::byte> zeros(extent.length);
  EXPECT_EQ(file.difference({}, extent, zeros.data()), "");
  EXPECT_EQ(file.least_size({}), 0U);
  // The other order is possible, too.
  EXPECT_EQ(file.difference({}, extent, bytes_of(kOne, extent).data()), "");
  EXPECT_EQ(file.most_size({}), extent.end());
}

// One after the other: the second has emptied what the first one's client wrote.
TEST(RawFileModel, OpeningsOneAfterTheOtherAreOrdered) {
  const Extent extent{0, 64};
  RawFileModel file;
  file.begin(false, {});
  empty(file, 0, 1, 2);
  RawWrite& write = add(file, 0, kOne, {extent}, true);
  write.begun = 3;
  empty(file, 1, 4, 5);
  EXPECT_NE(file.difference({}, extent, bytes_of(kOne, extent).data()), "");
  EXPECT_EQ(file.most_size({}), 0U);
}

// A part of a long write failed, and another write has the same extent.
TEST(RawFileModel, AFailedPartIsOfAnyWriteThatItMayBeOf) {
  const Extent part{4096, 4096};
  RawFileModel file;
  file.begin(true, std::vector<std::byte>(16384));
  add(file, 0, kOne, {{0, 16384}}, false).begun = 1;
  add(file, 0, kTwo, {part}, true).begun = 2;
  EXPECT_NE(file.difference({}, part, std::vector<std::byte>(part.length).data()), "");
  ASSERT_TRUE(file.lose(0, part));
  EXPECT_EQ(file.writes[0].lost.size(), 1U);
  EXPECT_EQ(file.writes[1].lost.size(), 1U);
  for (const auto& may_be : {std::vector<std::byte>(part.length), bytes_of(kOne, part), bytes_of(kTwo, part)}) {
    EXPECT_EQ(file.difference({}, part, may_be.data()), "");
  }
}

TEST(RawFileModel, AFailureIsOfNoOtherWrite) {
  RawFileModel file;
  file.begin(true, std::vector<std::byte>(16384));
  add(file, 0, kOne, {{0, 4096}, {8192, 4096}}, true);  // goes as one request, which fails as a whole
  add(file, 1, kTwo, {{0, 16384}}, false);              // of another client
  add(file, 0, kTwo, {{0, 8192}}, false).ended = 3;     // is known to have succeeded
  EXPECT_FALSE(file.lose(0, Extent{0, 4096}));
  EXPECT_FALSE(file.lose(0, Extent{0, 16384}));
  EXPECT_TRUE(file.lose(0, Extent{0, 12288}));
  EXPECT_FALSE(file.writes[0].lost.empty());
  EXPECT_TRUE(file.writes[1].lost.empty());
  EXPECT_TRUE(file.writes[2].lost.empty());
}

// If two writes have the same byte by chance, neither shows as the last one.
TEST(RawFileModel, AByteThatTwoWritesShareIsNoMixture) {
  uint64_t shared = 1;
  while (byte_of(kOne, shared) != byte_of(kTwo, shared)) ++shared;
  const Extent extent{0, shared + 64};
  RawFileModel file;
  file.begin(true, std::vector<std::byte>(extent.end()));
  RawWrite& earlier = add(file, 2, 3 << 8, {{shared, 1}}, true);  // cuts the byte out
  earlier.begun = 1;
  earlier.ended = 2;
  for (const Content content : {kOne, kTwo}) {
    RawWrite& write = add(file, content == kOne ? 0 : 1, content, {extent}, true);
    write.begun = 3;
    write.ended = 4;
  }
  for (const Content last : {kOne, kTwo}) EXPECT_EQ(file.difference({}, extent, bytes_of(last, extent).data()), "");
  std::vector<std::byte> mixed = bytes_of(kOne, extent);
  mixed.back() = byte_of(kTwo, extent.end() - 1);
  EXPECT_NE(file.difference({}, extent, mixed.data()), "");
}

// The failure of a file that could not be opened again after a server's death does not name the request.
TEST(RawFileModel, AFailureThatDoesNotSayWhatIsOfAllThatIsUnderWay) {
  RawFileModel file;
  file.begin(true, std::vector<std::byte>(8192));
  add(file, 0, kOne, {{0, 4096}}, true);
  add(file, 0, kTwo, {{4096, 4096}}, true);
  EXPECT_TRUE(file.lose(0, std::nullopt));
  for (const RawWrite& write : file.writes) {
    ASSERT_EQ(write.lost.size(), 1U);
    EXPECT_EQ(write.lost[0].offset, write.extents[0].offset);
    EXPECT_EQ(write.lost[0].length, write.extents[0].length);
  }
}

}  // namespace
}  // namespace tailrace::impl::simulation
