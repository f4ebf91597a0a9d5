// merge: executing the joined accesses has the same result as executing the requests one by one.
#include "engine/merge/merge.hpp"

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
  std::vector<Share> shares() const {
    std::vector<Share> all;
    for (const auto& request : requests) all.push_back({request.get(), request->pieces});
    return all;
  }
};

bool conflict(const Request& a, const Request& b) {
  if (a.file != b.file || (a.operation == Operation::read && b.operation == Operation::read)) return false;
  return std::any_of(a.pieces.begin(), a.pieces.end(), [&](const Piece& x) {
    return std::any_of(b.pieces.begin(), b.pieces.end(), [&](const Piece& y) { return x.extent.overlaps(y.extent); });
  });
}

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
      if (segment.iov_base != nullptr) {
        move_bytes(access.operation, files[access.file], at, segment.iov_base, segment.iov_len);
      }
      at += segment.iov_len;
    }
    EXPECT_EQ(at, access.extent.end());
  }
}

void expect_well_formed(const Batch& batch, const std::vector<Access>& accesses, const MergeLimits& limits) {
  std::map<const Request*, uint64_t> carried;  // bytes
  for (const Access& access : accesses) {
    const bool scattered = access.operation == Operation::write && access.holes > 0;
    if (access.parts.size() > 1) {
      EXPECT_LE(access.extent.length, limits.largest);
      EXPECT_LE(access.segments.size(), scattered ? limits.scatter_segments : limits.max_segments);
    }
    uint64_t at = access.extent.offset;
    uint64_t holes = 0;
    uint64_t number_of_holes = 0;
    uint64_t run = 0;
    for (const Access::Part& part : access.parts) {
      EXPECT_GT(part.length, 0u);
      at += part.length;
      if (part.request == nullptr) {
        EXPECT_LE(part.length, scattered ? limits.scatter : limits.sieve);
        holes += part.length;
        ++number_of_holes;
        run = 0;
        continue;
      }
      run += part.length;
      if (scattered && number_of_holes > 0) {
        EXPECT_LE(part.length, limits.scatter_piece);
        EXPECT_LE(run, std::max(limits.scatter_run, limits.scatter_piece));
      }
      EXPECT_EQ(part.request->file, access.file);
      EXPECT_EQ(part.request->operation, access.operation);
      carried[part.request] += part.length;
    }
    EXPECT_EQ(at, access.extent.end());
    EXPECT_EQ(holes, access.holes);
    if (scattered) {
      EXPECT_GE(number_of_holes, limits.scatter_from);
    } else {
      EXPECT_LE(static_cast<double>(holes), limits.waste * static_cast<double>(access.extent.length));
    }
    EXPECT_NE(access.parts.front().request, nullptr);
    EXPECT_NE(access.parts.back().request, nullptr);
  }
  for (const auto& request : batch.requests) {
    uint64_t bytes = 0;
    for (const Piece& piece : request->pieces) bytes += piece.extent.length;
    EXPECT_EQ(carried[request.get()], bytes);
  }
}

// Returns the bytes of all buffers of the batch.
std::vector<std::byte> snapshot(const Batch& batch) {
  std::vector<std::byte> all;
  for (const auto& memory : batch.memory) all.insert(all.end(), memory.get(), memory.get() + 200);
  return all;
}

void restore(const Batch& batch, const std::vector<std::byte>& bytes) {
  for (size_t i = 0; i < batch.memory.size(); ++i) std::memcpy(batch.memory[i].get(), bytes.data() + 200 * i, 200);
}

TEST(Merge, DoesWhatTheRequestsDoOneByOne) {
  for_seeds(300, [](uint64_t seed) {
    Dice dice(seed);
    const Batch batch = some_batch(dice);
    Files before;
    for (const FileId file : {FileId{1}, FileId{2}}) {
      for (uint64_t i = 0; i < kFileBytes; ++i) before[file].push_back(static_cast<std::byte>(dice.below(256)));
    }
    MergeLimits limits{dice.between(1, 60), dice.chance(50) ? 0 : dice.between(1, 16),
                       dice.chance(50) ? UINT32_MAX : static_cast<uint32_t>(dice.between(1, 5)),
                       dice.chance(50) ? 0 : dice.between(1, 12), 0.1 * static_cast<double>(dice.below(11))};
    if (dice.chance(60)) limits.scatter = dice.between(1, 12);
    limits.scatter_piece = dice.between(1, 12);
    limits.scatter_run = dice.between(1, 30);
    limits.scatter_segments = static_cast<uint32_t>(dice.between(2, 12));
    limits.scatter_from = static_cast<uint32_t>(dice.between(1, 3));
    const std::vector<std::byte> memory = snapshot(batch);

    Files expected = before;
    one_by_one(batch, expected);
    const std::vector<std::byte> expected_memory = snapshot(batch);

    restore(batch, memory);
    const std::vector<Access> accesses = merge(batch.shares(), limits);
    expect_well_formed(batch, accesses, limits);
    Files found = before;
    joined(accesses, found);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(snapshot(batch), expected_memory);
    // Part by part, as after a failure.
    restore(batch, memory);
    std::vector<Access> apart;
    for (const Access& access : accesses) {
      for (Access& one : taken_apart(access)) apart.push_back(std::move(one));
    }
    found = before;
    joined(apart, found);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(snapshot(batch), expected_memory);
  });
}

TEST(Merge, AdjacentMemoryBecomesOneSegment) {
  std::byte memory[30];
  Request a;
  a.file = 1;
  a.pieces = {{{0, 10}, memory}};
  Request b = a;
  b.pieces = {{{10, 10}, memory + 10}};
  Request c = a;
  c.pieces = {{{20, 5}, memory + 25}};
  const Share batch[] = {{&c, c.pieces}, {&a, a.pieces}, {&b, b.pieces}};
  const std::vector<Access> accesses = merge(batch, {});
  ASSERT_EQ(accesses.size(), 1u);
  EXPECT_EQ(accesses[0].extent.length, 25u);
  ASSERT_EQ(accesses[0].segments.size(), 2u);
  EXPECT_EQ(accesses[0].segments[0].iov_len, 20u);
  EXPECT_EQ(accesses[0].segments[1].iov_base, memory + 25);
  EXPECT_TRUE(merge({}, {}).empty());
}

// Rows of a matrix, of each client a column: one access for as many bytes as one may have, of any client.
TEST(Merge, RowsOfAMatrix) {
  constexpr uint64_t kClients = 64;
  constexpr uint64_t kRows = 64;
  constexpr uint64_t kPiece = 4096;
  std::byte memory{};
  std::vector<Request> requests(kClients);
  std::vector<Share> shares;
  for (uint64_t client = 0; client < kClients; ++client) {
    for (uint64_t row = 0; row < kRows; ++row) {
      requests[client].pieces.push_back({{(row * kClients + client) * kPiece, kPiece}, &memory});
    }
    shares.push_back({&requests[client], requests[client].pieces});
  }
  const std::vector<Access> accesses = merge(shares, {uint64_t{4} << 20, 4096, 1024});
  ASSERT_EQ(accesses.size(), 4u);
  for (const Access& access : accesses) EXPECT_EQ(access.extent.length, uint64_t{4} << 20);
}

TEST(Merge, ReadsGoOverSmallHoles) {
  std::byte memory[100];
  Request a;
  a.operation = Operation::read;
  a.pieces = {{{0, 10}, memory}, {{14, 10}, memory + 20}, {{29, 10}, memory + 40}};
  const Share share{&a, a.pieces};
  MergeLimits limits;
  EXPECT_EQ(merge({&share, 1}, limits).size(), 3u);
  limits.sieve = 4;
  std::vector<Access> accesses = merge({&share, 1}, limits);
  ASSERT_EQ(accesses.size(), 2u);
  EXPECT_EQ(accesses[0].extent.end(), 24u);
  EXPECT_EQ(accesses[0].holes, 4u);
  ASSERT_EQ(accesses[0].segments.size(), 3u);
  EXPECT_EQ(accesses[0].segments[1].iov_base, nullptr);
  limits.sieve = 5;
  accesses = merge({&share, 1}, limits);
  ASSERT_EQ(accesses.size(), 1u);
  EXPECT_EQ(accesses[0].extent.length, 39u);
  EXPECT_EQ(accesses[0].parts.size(), 5u);
  // 4 of 24 bytes, and 9 of 39: too many for a fifth.
  limits.waste = 0.2;
  EXPECT_EQ(merge({&share, 1}, limits).size(), 2u);
  limits.waste = 0.1;
  EXPECT_EQ(merge({&share, 1}, limits).size(), 3u);
  limits.waste = 0.5;
  limits.max_segments = 4;  // a hole is one
  EXPECT_EQ(merge({&share, 1}, limits).size(), 2u);
  Request b = a;
  b.operation = Operation::write;
  const Share writes{&b, b.pieces};
  EXPECT_EQ(merge({&writes, 1}, limits).size(), 3u);
}

TEST(Merge, SmallWritesLeaveSmallHolesOut) {
  std::byte memory[100];
  Request a;
  a.pieces = {{{0, 10}, memory}, {{14, 10}, memory + 20}, {{29, 10}, memory + 40}, {{39, 20}, memory + 50}};
  const Share share{&a, a.pieces};
  MergeLimits limits;
  limits.scatter = 5;
  limits.scatter_piece = 20;
  limits.scatter_from = 2;
  std::vector<Access> accesses = merge({&share, 1}, limits);
  ASSERT_EQ(accesses.size(), 1u);
  EXPECT_EQ(accesses[0].extent.length, 59u);
  EXPECT_EQ(accesses[0].holes, 9u);
  ASSERT_EQ(accesses[0].segments.size(), 5u);
  EXPECT_EQ(accesses[0].segments[1].iov_base, nullptr);
  EXPECT_EQ(accesses[0].segments[4].iov_len, 30u);
  limits.scatter_run = 29;  // the last run has 30
  EXPECT_EQ(merge({&share, 1}, limits).size(), 2u);
  limits.scatter_run = 100;
  limits.scatter_piece = 19;  // the last piece has 20
  EXPECT_EQ(merge({&share, 1}, limits).size(), 2u);
  limits.scatter_from = 3;  // there are two holes: each run is an access, as if there were no scattered writes
  EXPECT_EQ(merge({&share, 1}, limits).size(), 4u);
  limits.scatter_piece = 20;
  EXPECT_EQ(merge({&share, 1}, limits).size(), 3u);
  limits.scatter = 4;
  limits.scatter_from = 1;
  EXPECT_EQ(merge({&share, 1}, limits).size(), 2u);
  limits.scatter = 3;
  EXPECT_EQ(merge({&share, 1}, limits).size(), 3u);
}

TEST(Merge, CutsAtTheBlocksOfTheFileSystem) {
  std::byte memory[100];
  Request a;
  a.pieces = {{{3, 4}, memory}, {{7, 12}, memory + 50}};
  const Share share{&a, a.pieces};
  const std::vector<Access> accesses = merge({&share, 1}, {15, 8, UINT32_MAX});
  ASSERT_EQ(accesses.size(), 2u);
  EXPECT_EQ(accesses[0].extent.end(), 16u);
  EXPECT_EQ(accesses[1].extent.offset, 16u);
  EXPECT_EQ(accesses[1].segments[0].iov_base, memory + 59);
}

}  // namespace
}  // namespace tailrace::impl
