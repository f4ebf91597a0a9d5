// MappedMemory: it has the requested size, is aligned to a huge page, and only its users touch it.
#include "base/memory/memory_map.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <vector>

namespace tailrace::impl {
namespace {

TEST(MappedMemory, IsAlignedAndTakenWhenItIsAskedFor) {
  for (const size_t bytes : {size_t{4096}, size_t{3} << 20, size_t{32} << 20}) {
    const Result<MappedMemory> memory = MappedMemory::create(bytes);
    ASSERT_TRUE(memory.ok());
    const std::span<std::byte> span = memory.value().bytes();
    EXPECT_EQ(span.size(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(span.data()) % (size_t{2} << 20), 0u);
    ASSERT_TRUE(memory.value().take(0, bytes).ok());
    std::vector<unsigned char> resident(bytes / 4096);
    ASSERT_EQ(mincore(span.data(), bytes, resident.data()), 0);
    EXPECT_TRUE(std::all_of(resident.begin(), resident.end(), [](unsigned char page) { return (page & 1) != 0; }));
    EXPECT_TRUE(std::all_of(span.begin(), span.end(), [](std::byte byte) { return byte == std::byte{0}; }));
    std::fill(span.begin(), span.end(), std::byte{0x5a});
    EXPECT_NE(memory.value().description().find("huge pages"), std::string::npos) << memory.value().description();
  }
}

TEST(MappedMemory, IsTouchedWhenUsedIfItIsNotToBeAtOnce) {
  constexpr size_t kBytes = size_t{32} << 20;
  const Result<MappedMemory> memory = MappedMemory::create(kBytes, false);
  ASSERT_TRUE(memory.ok());
  const std::span<std::byte> span = memory.value().bytes();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(span.data()) % (size_t{2} << 20), 0u);
  const auto resident = [&] {
    std::vector<unsigned char> pages(kBytes / 4096);
    EXPECT_EQ(mincore(span.data(), kBytes, pages.data()), 0);
    return std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; });
  };
  EXPECT_EQ(resident(), 0);
  span.front() = span.back() = std::byte{1};
  EXPECT_GE(resident(), 2);
  EXPECT_LE(resident(), 2 * 512) << "two huge pages";
  const std::string& description = memory.value().description();
  EXPECT_TRUE(description.starts_with("32 MiB, ") && description.ends_with(" huge pages, touched when used"))
      << description;
}

TEST(MappedMemory, MovedItIsUnmappedOnce) {
  Result<MappedMemory> memory = MappedMemory::create(1 << 20);
  ASSERT_TRUE(memory.ok());
  std::byte* const begin = memory.value().bytes().data();
  {
    const MappedMemory moved = std::move(memory).value();
    EXPECT_EQ(moved.bytes().data(), begin);
    moved.bytes()[0] = std::byte{1};
  }
  unsigned char resident = 0;
  EXPECT_NE(mincore(begin, 4096, &resident), 0) << "still mapped";
}

TEST(MappedMemory, MoreThanTheSystemHas) {
  const Result<MappedMemory> memory = MappedMemory::create(size_t{1} << 55);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.status().code(), TAILRACE_OUT_OF_MEMORY);
}

}  // namespace
}  // namespace tailrace::impl
