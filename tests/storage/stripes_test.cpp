// Stripe maps: arithmetic, and the decoding of Lustre's attribute, from recorded bytes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "storage/os/stripes.hpp"

namespace tailrace::impl {
namespace {

// Bytes in hexadecimal, with spaces between them.
std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> bytes;
  for (size_t at = 0; at < text.size(); at += 3) {
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(at, 2), nullptr, 16)));
  }
  return bytes;
}

// A file of version 1, with stripes of 1 MiB on servers 86 and 2.
const std::string kHead1 =
    "d0 0b d1 0b 01 00 00 00 36 a9 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 10 00 02 00 00 00 ";
const std::string kOn86 = "36 a9 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 56 00 00 00 ";
const std::string kOn2 = "37 a9 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 00 00 00 ";
// Version 3 has the name of a pool behind the head.
const std::string kHead3 =
    "d0 0b d3 0b 01 00 00 00 36 a9 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 10 00 02 00 00 00 ";
const std::string kPool = "66 6c 61 73 68 00 00 00 00 00 00 00 00 00 00 00 ";

TEST(Stripes, GoToTheServersInTurn) {
  const StripeMap map{100, {7, 3, 9}};
  EXPECT_EQ(map.server_of(0), 7u);
  EXPECT_EQ(map.server_of(99), 7u);
  EXPECT_EQ(map.server_of(100), 3u);
  EXPECT_EQ(map.server_of(299), 9u);
  EXPECT_EQ(map.server_of(300), 7u);
}

TEST(Stripes, AFileThatNobodyKnowsHasOneServer) {
  const StripeMap map;
  EXPECT_EQ(map.server_of(0), map.server_of(UINT64_MAX - 1));
}

TEST(Stripes, OfLustre) {
  for (const std::string& text : {kHead1 + kOn86 + kOn2, kHead3 + kPool + kOn86 + kOn2}) {
    const std::optional<StripeMap> map = lustre_stripes(bytes_of(text));
    ASSERT_TRUE(map.has_value()) << text;
    EXPECT_EQ(map->unit, 1u << 20);
    EXPECT_EQ(map->servers, (std::vector<uint32_t>{86, 2}));
  }
}

// No Lustre makes such a file, and its attribute would not be fetched whole. If it were, all stripes would count.
TEST(Stripes, OfLustreMayBeMoreThanItHas) {
  constexpr size_t kStripes = 2001;
  std::string text = kHead1;
  text.replace(text.find("02 00 00 00", 28 * 3), 5, "d1 07");
  for (size_t stripe = 0; stripe < kStripes; ++stripe) text += stripe % 2 == 0 ? kOn86 : kOn2;
  const std::optional<StripeMap> map = lustre_stripes(bytes_of(text));
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(map->servers.size(), kStripes);
  EXPECT_EQ(map->servers.back(), 86u);
}

// Whatever the attribute contains, nothing is read beyond it.
TEST(Stripes, AttributesThatAreCutOrUnknownAreNone) {
  const std::vector<std::byte> whole = bytes_of(kHead3 + kPool + kOn86 + kOn2);
  for (size_t length = 0; length < whole.size(); ++length) {
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length));
    EXPECT_FALSE(lustre_stripes(cut).has_value()) << length;
  }
  for (const size_t at : {0, 3, 4, 5}) {  // magic and pattern
    std::vector<std::byte> other = whole;
    other[at] ^= std::byte{0x40};
    EXPECT_FALSE(lustre_stripes(other).has_value()) << at;
  }
  for (const size_t at : {24, 28}) {  // no unit, no stripes
    std::vector<std::byte> empty = whole;
    for (size_t byte = at; byte < at + (at == 24 ? 4 : 2); ++byte) empty[byte] = std::byte{0};
    EXPECT_FALSE(lustre_stripes(empty).has_value()) << at;
  }
}

TEST(Stripes, OfAFileSystemThatReportsNoneAreOnTheDevice) {
  const int fd = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  const StripeMap map = stripes_of(fd, 5);
  ::close(fd);
  EXPECT_EQ(map.server_of(0), 5u);
  EXPECT_EQ(map.server_of(1 << 30), 5u);
}

}  // namespace
}  // namespace tailrace::impl
