// join_adjacent: executing the joined accesses does what executing the requests one by one does.
#include "engine/merge/join_adjacent.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kFileBytes = 400;
using Files = std::map<FileId, std::vector<std::byte>>;

// Requests that do not conflict, and the memory that they name.
struct Batch {
  std::vector<std::unique_ptr<Request>> requests;
  std::vector<std::unique_ptr<std::byte[]>> memory;
  std::vector<const Request*> pointers() const {
    std::vector<const Request*> all;
    for (const auto& request : requests) all.push_back(request.get());
    return all;
  }
};

// Pieces of one request lie in one buffer now and then, so that memory is adjacent where the file is.
Batch some_batch(Dice& dice) {
  Batch batch;
  const uint64_t wanted = dice.between(1, 30);
  for (uint64_t i = 0; i < wanted * 3 && batch.requests.size() < wanted; ++i) {
    auto request = std::make_unique<Request>();
    request->operation = dice.chance(70) ? Operation::write : Operation::read;
    request->file = static_cast<FileId>(dice.between(1, 2));
    batch.memory.emplace_back(new std::byte[200]);
    for (int at = 0; at < 200; ++at) batch.memory.back()[at] = static_cast<std::byte>(dice.below(256));
    uint64_t offset = dice.below(kFileBytes - 60);
    uint64_t within = dice.below(10);
    const uint64_t pieces = dice.between(1, 4);
    for (uint64_t piece = 0; piece < pieces; ++piece) {
      const uint64_t length = dice.between(1, 12);
      request->pieces.push_back({{offset, length}, batch.memory.back().get() + within});
      offset += length + (dice.chance(50) ? 0 : dice.below(5));
      within += length + (dice.chance(50) ? 0 : dice.below(5));
    }
    if (dice.chance(30)) std::reverse(request->pieces.begin(), request->pieces.end());
    const bool fits = std::none_of(batch.requests.begin(), batch.requests.end(),
                                   [&](const auto& other) { return conflict(*other, *request); });
    if (fits) batch.requests.push_back(std::move(request));
  }
  return batch;
}

void move_bytes(Operation operation, std::vector<std::byte>& file, uint64_t offset, void* memory, uint64_t length) {
  ASSERT_LE(offset + length, file.size());
  if (operation == Operation::write) {
    std::memcpy(file.data() + offset, memory, length);
  } else {
    std::memcpy(memory, file.data() + offset, length);
  }
}

void one_by_one(const Batch& batch, Files& files) {
  for (const auto& request : batch.requests) {
    for (const Piece& piece : request->pieces) {
      move_bytes(request->operation, files[request->file], piece.extent.offset, piece.memory, piece.extent.length);
    }
  }
}

void joined(const std::vector<Access>& accesses, Files& files) {
  for (const Access& access : accesses) {
    uint64_t at = access.extent.offset;
    for (const iovec& segment : access.segments) {
      move_bytes(access.operation, files[access.file], at, segment.iov_base, segment.iov_len);
      at += segment.iov_len;
    }
    EXPECT_EQ(at, access.extent.end());
  }
}

void expect_well_formed(const Batch& batch, const std::vector<Access>& accesses, const MergeLimits& limits) {
  std::map<const Request*, uint64_t> carried;
  for (const Access& access : accesses) {
    if (access.parts.size() > 1) {
      EXPECT_LE(access.extent.length, limits.largest);
    }
    uint64_t at = access.extent.offset;
    for (const Access::Part& part : access.parts) {
      EXPECT_EQ(part.piece.extent.offset, at);
      EXPECT_EQ(part.request->file, access.file);
      EXPECT_EQ(part.request->operation, access.operation);
      at = part.piece.extent.end();
      ++carried[part.request];
    }
    EXPECT_EQ(at, access.extent.end());
  }
  for (const auto& request : batch.requests) EXPECT_EQ(carried[request.get()], request->pieces.size());
}

// What all the buffers of the batch hold now.
std::vector<std::byte> snapshot(const Batch& batch) {
  std::vector<std::byte> all;
  for (const auto& memory : batch.memory) all.insert(all.end(), memory.get(), memory.get() + 200);
  return all;
}

void restore(const Batch& batch, const std::vector<std::byte>& bytes) {
  for (size_t i = 0; i < batch.memory.size(); ++i) std::memcpy(batch.memory[i].get(), bytes.data() + 200 * i, 200);
}

TEST(JoinAdjacent, DoesWhatTheRequestsDoOneByOne) {
  for_seeds(300, [](uint64_t seed) {
    Dice dice(seed);
    const Batch batch = some_batch(dice);
    Files before;
    for (const FileId file : {FileId{1}, FileId{2}}) {
      for (uint64_t i = 0; i < kFileBytes; ++i) before[file].push_back(static_cast<std::byte>(dice.below(256)));
    }
    const MergeLimits limits{dice.between(1, 60)};
    const std::vector<std::byte> memory = snapshot(batch);

    Files expected = before;
    one_by_one(batch, expected);
    const std::vector<std::byte> expected_memory = snapshot(batch);

    restore(batch, memory);
    const std::vector<Access> accesses = join_adjacent(batch.pointers(), limits);
    expect_well_formed(batch, accesses, limits);
    Files found = before;
    joined(accesses, found);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(snapshot(batch), expected_memory);
  });
}

TEST(JoinAdjacent, AdjacentMemoryBecomesOneSegment) {
  std::byte memory[30];
  Request a;
  a.file = 1;
  a.pieces = {{{0, 10}, memory}};
  Request b = a;
  b.pieces = {{{10, 10}, memory + 10}};
  Request c = a;
  c.pieces = {{{20, 5}, memory + 25}};
  const Request* batch[] = {&c, &a, &b};
  const std::vector<Access> accesses = join_adjacent(batch, {});
  ASSERT_EQ(accesses.size(), 1u);
  EXPECT_EQ(accesses[0].extent.length, 25u);
  ASSERT_EQ(accesses[0].segments.size(), 2u);
  EXPECT_EQ(accesses[0].segments[0].iov_len, 20u);
  EXPECT_EQ(accesses[0].segments[1].iov_base, memory + 25);
  EXPECT_TRUE(join_adjacent({}, {}).empty());
}

}  // namespace
}  // namespace tailrace::impl
