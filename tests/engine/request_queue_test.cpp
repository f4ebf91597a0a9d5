// RequestQueue against a plain model: a request is ready when no earlier one that has not ended conflicts with it.
#include "engine/queue/request_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <set>
#include <vector>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kFileBytes = 24;

// Which bytes of the file the request reads or writes; said byte by byte, unlike in the queue.
std::set<uint64_t> bytes_of(const Request& request) {
  std::set<uint64_t> bytes;
  for (const Piece& piece : request.pieces) {
    for (uint64_t at = piece.extent.offset; at < piece.extent.end(); ++at) bytes.insert(at);
  }
  return bytes;
}

bool must_wait(const Request& later, const Request& earlier) {
  if (later.file != earlier.file) return false;
  if (later.fence || earlier.fence || !later.moves_bytes() || !earlier.moves_bytes()) return true;
  if (later.operation == Operation::read && earlier.operation == Operation::read) return false;
  const std::set<uint64_t> a = bytes_of(later);
  const std::set<uint64_t> b = bytes_of(earlier);
  return std::any_of(a.begin(), a.end(), [&](uint64_t at) { return b.contains(at); });
}

Request some_request(Dice& dice, uint64_t number) {
  Request request;
  request.file = static_cast<FileId>(dice.between(1, 2));
  request.sequence = number;
  request.operation = dice.chance(50) ? Operation::write : Operation::read;
  if (dice.chance(10)) request.operation = Operation::sync;
  if (!request.moves_bytes()) return request;
  request.fence = dice.chance(8);
  uint64_t at = dice.below(8);
  const uint64_t pieces = dice.between(1, 3);
  for (uint64_t i = 0; i < pieces && at < kFileBytes; ++i) {
    const uint64_t length = dice.between(1, 5);
    request.pieces.push_back({{at, length}, nullptr});
    at += length + dice.below(5);
  }
  return request;
}

struct Model {
  struct Entry {
    Request request;
    uint32_t slot = 0;
    bool seen_ready = false;
  };
  std::list<Entry> entries;  // in the order of admission

  bool ready(const Entry& entry) const {
    for (const Entry& earlier : entries) {
      if (&earlier == &entry) return true;
      if (must_wait(entry.request, earlier.request)) return false;
    }
    return true;
  }
};

void run_queue(uint64_t seed) {
  Dice dice(seed);
  const auto limit = static_cast<uint32_t>(dice.between(1, 20));
  RequestQueue queue(limit);
  Model model;
  std::vector<const Request*> ready;  // handed out by the queue, not ended
  const auto take_in = [&](const Request* request) {
    const auto found = std::find_if(model.entries.begin(), model.entries.end(), [&](const Model::Entry& entry) {
      return entry.request.sequence == request->sequence;
    });
    ASSERT_NE(found, model.entries.end());
    EXPECT_FALSE(found->seen_ready) << "handed out twice";
    EXPECT_TRUE(model.ready(*found)) << "handed out too early";
    found->seen_ready = true;
    ready.push_back(request);
  };
  for (uint64_t step = 1; step <= 300; ++step) {
    EXPECT_EQ(queue.room(), limit - model.entries.size());
    EXPECT_EQ(queue.empty(), model.entries.empty());
    if (queue.room() > 0 && dice.chance(60)) {
      Request request = some_request(dice, step);
      model.entries.push_back({request, 0, false});
      if (const Request* now = queue.admit(std::move(request))) take_in(now);
    } else if (!ready.empty()) {
      const size_t which = dice.below(ready.size());
      const uint64_t sequence = ready[which]->sequence;
      const uint32_t slot = ready[which]->slot;
      ready.erase(ready.begin() + static_cast<ptrdiff_t>(which));
      std::vector<const Request*> more;
      const Request ended = queue.finish(slot, {}, more);
      EXPECT_EQ(ended.sequence, sequence);
      std::erase_if(model.entries, [&](const Model::Entry& entry) { return entry.request.sequence == sequence; });
      for (const Request* request : more) take_in(request);
    }
    for (const Model::Entry& entry : model.entries) EXPECT_EQ(entry.seen_ready, model.ready(entry));
  }
}

TEST(RequestQueue, DependenciesAgreeWithAPlainModel) { for_seeds(150, run_queue); }

Request request_of(Operation operation, uint64_t offset, uint64_t length) {
  Request request;
  request.operation = operation;
  request.file = 1;
  if (request.moves_bytes()) request.pieces = {{{offset, length}, nullptr}};
  return request;
}

TEST(RequestQueue, AReadInheritsTheFailureOfAWriteItWaitedFor) {
  RequestQueue queue(8);
  std::vector<const Request*> ready;
  const uint32_t write = queue.admit(request_of(Operation::write, 0, 10))->slot;
  const uint32_t other = queue.admit(request_of(Operation::write, 10, 10))->slot;
  EXPECT_EQ(queue.admit(request_of(Operation::read, 5, 10)), nullptr);
  const Request* apart = queue.admit(request_of(Operation::read, 30, 10));
  ASSERT_NE(apart, nullptr);
  queue.finish(write, Status::of_errno("write", "f", EIO), ready);
  EXPECT_TRUE(ready.empty());
  queue.finish(other, {}, ready);
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_EQ(queue.inherited(ready[0]->slot).fault().system_errno, EIO);
  EXPECT_TRUE(queue.inherited(apart->slot).ok());
}

TEST(RequestQueue, AWriteDoesNotInherit) {
  RequestQueue queue(8);
  std::vector<const Request*> ready;
  const uint32_t write = queue.admit(request_of(Operation::write, 0, 10))->slot;
  EXPECT_EQ(queue.admit(request_of(Operation::write, 5, 10)), nullptr);
  queue.finish(write, Status::of_errno("write", "f", EIO), ready);
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_TRUE(queue.inherited(ready[0]->slot).ok());
}

TEST(Request, ConflictsAsATable) {
  const auto read = request_of(Operation::read, 0, 10);
  const auto touching = request_of(Operation::write, 10, 10);
  const auto overlapping = request_of(Operation::write, 9, 1);
  const auto sync = request_of(Operation::sync, 0, 0);
  auto elsewhere = overlapping;
  elsewhere.file = 2;
  auto fence = touching;
  fence.fence = true;
  EXPECT_FALSE(conflict(read, read));
  EXPECT_FALSE(conflict(read, touching));
  EXPECT_TRUE(conflict(read, overlapping));
  EXPECT_TRUE(conflict(overlapping, read));
  EXPECT_FALSE(conflict(read, elsewhere));
  EXPECT_TRUE(conflict(read, sync));
  EXPECT_TRUE(conflict(read, fence));
  EXPECT_TRUE(conflict(fence, read));
}

}  // namespace
}  // namespace tailrace::impl
