// RequestQueue against a plain model: a request is ready when no earlier one that has not ended conflicts with it.
#include "engine/queue/request_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kFileBytes = 24;

// Returns the bytes of the file that the request reads or writes, one by one, unlike the queue.
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
      std::vector<RequestQueue::Ended> ended;
      queue.begin(slot);
      queue.finish(slot, {}, ended, more);
      ASSERT_EQ(ended.size(), 1u);
      EXPECT_EQ(ended.front().request.sequence, sequence);
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
  std::vector<RequestQueue::Ended> ended;
  const uint32_t write = queue.admit(request_of(Operation::write, 0, 10))->slot;
  const uint32_t other = queue.admit(request_of(Operation::write, 10, 10))->slot;
  EXPECT_EQ(queue.admit(request_of(Operation::read, 5, 10)), nullptr);
  const Request* apart = queue.admit(request_of(Operation::read, 30, 10));
  ASSERT_NE(apart, nullptr);
  queue.finish(write, Status::of_errno("write", "f", EIO), ended, ready);
  EXPECT_TRUE(ready.empty());
  queue.finish(other, {}, ended, ready);
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_EQ(queue.inherited(ready[0]->slot).fault().system_errno, EIO);
  EXPECT_TRUE(queue.inherited(apart->slot).ok());
}

TEST(RequestQueue, AWriteDoesNotInherit) {
  RequestQueue queue(8);
  std::vector<const Request*> ready;
  std::vector<RequestQueue::Ended> ended;
  const uint32_t write = queue.admit(request_of(Operation::write, 0, 10))->slot;
  EXPECT_EQ(queue.admit(request_of(Operation::write, 5, 10)), nullptr);
  queue.finish(write, Status::of_errno("write", "f", EIO), ended, ready);
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_TRUE(queue.inherited(ready[0]->slot).ok());
}

// A write of `count` pieces of a byte, at every second byte.
Request fine_request(uint64_t count, std::byte* memory) {
  Request request = request_of(Operation::write, 0, 1);
  request.pieces.clear();
  for (uint64_t i = 0; i < count; ++i) request.pieces.push_back({{10 + 2 * i, 1}, memory + i});
  return request;
}

// It has all bytes between its first one and its last one, for those that come later.
TEST(RequestQueue, AFineWriteIsOnePieceForOthers) {
  std::byte memory[8] = {};
  std::byte read_to[1] = {};
  RequestQueue queue(8, {.morph = true, .steal = true, .fine_from = 4});
  std::vector<const Request*> ready;
  std::vector<RequestQueue::Ended> ended;
  const uint32_t fine = queue.admit(fine_request(4, memory))->slot;
  EXPECT_NE(queue.admit(request_of(Operation::write, 0, 10)), nullptr) << "before it";
  EXPECT_NE(queue.admit(request_of(Operation::write, 17, 10)), nullptr) << "behind it";
  EXPECT_EQ(queue.admit(request_of(Operation::write, 11, 1)), nullptr) << "in a hole";
  Request read = request_of(Operation::read, 14, 1);
  read.pieces[0].memory = read_to;
  EXPECT_EQ(queue.admit(std::move(read)), nullptr) << "its own bytes are not copied from memory";
  EXPECT_EQ(queue.admit(fine_request(5, memory)), nullptr) << "another one takes no bytes over";
  EXPECT_EQ(queue.begin(fine).size(), 4u);
  queue.finish(fine, {}, ended, ready);
  EXPECT_EQ(ready.size(), 2u);
  EXPECT_EQ(queue.counts().overwritten + queue.counts().stolen, 0u);
}

// A read of such a hole gets the failure of the write that it waits for only if it reads its bytes.
TEST(RequestQueue, AReadInAHoleOfAFineWriteDoesNotInherit) {
  std::byte memory[8] = {};
  RequestQueue queue(8, {.fine_from = 4});
  std::vector<const Request*> ready;
  std::vector<RequestQueue::Ended> ended;
  const uint32_t fine = queue.admit(fine_request(4, memory))->slot;
  EXPECT_EQ(queue.admit(request_of(Operation::read, 11, 1)), nullptr);
  EXPECT_EQ(queue.admit(request_of(Operation::read, 13, 2)), nullptr);
  queue.finish(fine, Status::of_errno("write", "f", EIO), ended, ready);
  ASSERT_EQ(ready.size(), 2u);
  EXPECT_TRUE(queue.inherited(ready[0]->slot).ok());
  EXPECT_FALSE(queue.inherited(ready[1]->slot).ok());
}

TEST(RequestQueue, AWriteIsNotFineWhereOthersAreOnTheirWay) {
  std::byte memory[8] = {};
  RequestQueue queue(8, {.fine_from = 4});
  EXPECT_NE(queue.admit(request_of(Operation::write, 11, 1)), nullptr);
  EXPECT_NE(queue.admit(fine_request(4, memory)), nullptr);
  EXPECT_NE(queue.admit(request_of(Operation::write, 13, 1)), nullptr) << "in a hole";
}

TEST(RequestQueue, FewOrDistantPiecesAreNoFineWrite) {
  std::byte memory[8] = {};
  RequestQueue queue(8, {.fine_from = 4});
  EXPECT_NE(queue.admit(fine_request(3, memory)), nullptr);
  EXPECT_NE(queue.admit(request_of(Operation::write, 11, 1)), nullptr);
  Request distant = fine_request(4, memory);
  for (uint64_t i = 0; i < 4; ++i) distant.pieces[i].extent.offset = 100 + 30 * i;
  EXPECT_NE(queue.admit(std::move(distant)), nullptr);
  EXPECT_NE(queue.admit(request_of(Operation::write, 105, 10)), nullptr);
}

constexpr RequestQueue::Rules kMorphs{true, true, false};

struct MorphRig {
  // Returns the slot; `last` is whether it was ready at once.
  uint32_t admit(Operation operation, uint64_t offset, std::string& text, uint32_t client = 0, bool fence = false) {
    Request request;
    request.operation = operation;
    request.file = 1;
    request.client = client;
    request.fence = fence;
    request.token = ++tokens;
    if (request.moves_bytes()) {
      request.pieces = {{{offset, text.size()}, reinterpret_cast<std::byte*>(text.data())}};
    }
    const uint64_t token = request.token;
    const Request* ready_now = queue.admit(std::move(request));
    last = ready_now != nullptr;
    return last ? ready_now->slot : static_cast<uint32_t>(token - 1);  // slots are given out from 0 on
  }
  // Returns the tokens of the requests that end when this one has been carried out.
  std::vector<uint64_t> finish(uint32_t slot, const Status& status = {}) {
    ended.clear();
    queue.finish(slot, status, ended, ready);
    std::vector<uint64_t> all;
    for (const auto& end : ended) all.push_back(end.request.token);
    return all;
  }

  RequestQueue queue{16, kMorphs};
  std::vector<const Request*> ready;
  std::vector<RequestQueue::Ended> ended;
  uint64_t tokens = 0;
  bool last = false;
};

using Tokens = std::vector<uint64_t>;

TEST(Morph, OverwrittenBytesAreNotWritten) {
  MorphRig rig;
  std::string a(10, 'a');
  std::string b(4, 'b');
  const uint32_t first = rig.admit(Operation::write, 0, a);
  const uint32_t second = rig.admit(Operation::write, 3, b);
  EXPECT_TRUE(rig.last);
  const auto left = rig.queue.begin(first);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].extent.end(), 3u);
  EXPECT_EQ(left[1].extent.offset, 7u);
  EXPECT_EQ(left[1].memory, reinterpret_cast<std::byte*>(a.data()) + 7);
  EXPECT_EQ(rig.queue.counts().overwritten, 4u);
  // The first has not ended before the second has.
  EXPECT_TRUE(rig.finish(first).empty());
  rig.queue.begin(second);
  EXPECT_EQ(rig.finish(second), (Tokens{1, 2}));
  EXPECT_TRUE(rig.queue.empty());
}

TEST(Morph, WhoTookEndsWithWhomItTookFrom) {
  MorphRig rig;
  std::string a(10, 'a');
  const uint32_t first = rig.admit(Operation::write, 0, a);
  const uint32_t second = rig.admit(Operation::write, 5, a);
  const uint32_t third = rig.admit(Operation::write, 12, a);
  for (const uint32_t slot : {first, second, third}) rig.queue.begin(slot);
  EXPECT_TRUE(rig.finish(third).empty());
  EXPECT_TRUE(rig.finish(second).empty());
  // Another client's write of the third's bytes waits for all: none is known to have ended.
  const uint32_t other = rig.admit(Operation::write, 20, a, 1);
  EXPECT_FALSE(rig.last);
  EXPECT_EQ(rig.finish(first), (Tokens{1, 2, 3}));
  ASSERT_EQ(rig.ready.size(), 1u);
  EXPECT_EQ(rig.ready[0]->slot, other);
}

TEST(Morph, WhatHasBegunIsWaitedFor) {
  MorphRig rig;
  std::string a(10, 'a');
  const uint32_t first = rig.admit(Operation::write, 0, a);
  rig.queue.begin(first);
  rig.admit(Operation::write, 0, a);
  EXPECT_FALSE(rig.last);
  // The third takes everything from the second, and waits for the first instead.
  const uint32_t third = rig.admit(Operation::write, 0, a);
  EXPECT_FALSE(rig.last);
  EXPECT_EQ(rig.finish(first), (Tokens{1}));
  ASSERT_EQ(rig.ready.size(), 2u);
  EXPECT_TRUE(rig.queue.begin(1).empty());
  EXPECT_TRUE(rig.finish(1).empty());
  rig.queue.begin(third);
  EXPECT_EQ(rig.finish(third), (Tokens{2, 3}));
}

TEST(Morph, AFailureIsToldToBoth) {
  MorphRig rig;
  std::string a(10, 'a');
  const uint32_t first = rig.admit(Operation::write, 0, a);
  const uint32_t second = rig.admit(Operation::write, 9, a);
  EXPECT_TRUE(rig.finish(first).empty());
  EXPECT_EQ(rig.finish(second, Status::of_errno("write", "f", EIO)), (Tokens{1, 2}));
  EXPECT_EQ(rig.ended[0].status.fault().system_errno, EIO);
  EXPECT_EQ(rig.ended[1].status.fault().system_errno, EIO);
  EXPECT_NE(rig.ended[1].status.fault().message, rig.ended[0].status.fault().message);
}

TEST(Morph, NotFromAnotherClientNorPastAFence) {
  MorphRig rig;
  std::string a(10, 'a');
  rig.admit(Operation::write, 0, a, 1);
  rig.admit(Operation::write, 5, a, 2);
  EXPECT_FALSE(rig.last);
  rig.admit(Operation::sync, 0, a);
  rig.admit(Operation::write, 0, a, 1);
  EXPECT_FALSE(rig.last);
  EXPECT_EQ(rig.queue.counts().overwritten, 0u);
}

// Client 2 waits for the first write of client 1. If the second took bytes from the first while it waits for client
// 2, no request would ever end.
TEST(Morph, NobodyWaitsInACircle) {
  MorphRig rig;
  std::string a(10, 'a');
  const uint32_t first = rig.admit(Operation::write, 0, a, 1);
  rig.admit(Operation::write, 8, a, 2);
  rig.admit(Operation::write, 4, a, 1);
  EXPECT_FALSE(rig.last);
  EXPECT_EQ(rig.queue.counts().overwritten, 0u);
  rig.queue.begin(first);
  EXPECT_EQ(rig.finish(first), (Tokens{1}));
  ASSERT_EQ(rig.ready.size(), 1u);
  EXPECT_EQ(rig.ready[0]->token, 2u);
}

// Writes of two clients to a few bytes, begun and carried out in any order. If the process dies at any moment, its
// successor rewrites everything not known to have ended, in the order of admission: then each byte has the value of
// its last writer.
class Deaths {
 public:
  explicit Deaths(uint64_t seed) : dice_(seed) {}

  void run() {
    const uint64_t writes = dice_.between(2, 24);
    for (int step = 0; requests_.size() < writes || !queue_.empty(); ++step) {
      ASSERT_LT(step, 10000) << "somebody waits for ever";
      const bool more = requests_.size() < writes && queue_.room() > 0;
      if (more && dice_.chance(50)) admit();
      if (!ready_.empty() && dice_.chance(50)) begin();
      if (!begun_.empty() && dice_.chance(50)) carry_out();
      check();
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(file_, wanted_);
  }

 private:
  using File = std::array<size_t, 24>;  // by offset: the last writer, from 1

  static void write(File& file, const Piece& piece, size_t who) {
    std::fill_n(file.begin() + static_cast<ptrdiff_t>(piece.extent.offset), piece.extent.length, who);
  }

  void admit() {
    Request request;
    request.operation = Operation::write;
    request.file = 1;
    request.client = static_cast<uint32_t>(dice_.below(2));
    request.token = requests_.size() + 1;
    const uint64_t offset = dice_.below(file_.size());
    request.pieces = {{{offset, dice_.between(1, std::min<uint64_t>(8, file_.size() - offset))}, memory_}};
    requests_.push_back(request);
    write(wanted_, request.pieces[0], requests_.size());
    if (const Request* ready = queue_.admit(std::move(request))) ready_.push_back(ready);
  }

  static const Request* take(std::vector<const Request*>& from, uint64_t which) {
    const Request* const taken = from[which];
    from.erase(from.begin() + static_cast<ptrdiff_t>(which));
    return taken;
  }

  void begin() {
    const Request* const request = take(ready_, dice_.below(ready_.size()));
    const auto left = queue_.begin(request->slot);
    left_[request->token] = {left.begin(), left.end()};
    if (dice_.chance(50)) write_all(*request);  // its bytes are written before that is known
    begun_.push_back(request);
  }

  void carry_out() {
    const Request* const request = take(begun_, dice_.below(begun_.size()));
    write_all(*request);
    ended_.clear();
    queue_.finish(request->slot, {}, ended_, ready_);
    for (const RequestQueue::Ended& end : ended_) {
      told_.insert(end.request.token);
      check();
    }
  }

  void write_all(const Request& request) {
    for (const Piece& piece : left_[request.token]) write(file_, piece, request.token);
  }

  void check() {
    File after = file_;
    for (size_t who = 1; who <= requests_.size(); ++who) {
      if (!told_.contains(who)) write(after, requests_[who - 1].pieces[0], who);
    }
    EXPECT_EQ(after, wanted_);
  }

  Dice dice_;
  std::byte memory_[24] = {};
  RequestQueue queue_{12, kMorphs};
  std::vector<Request> requests_;  // all, as they were made
  std::vector<const Request*> ready_;
  std::vector<const Request*> begun_;
  std::vector<RequestQueue::Ended> ended_;
  std::set<uint64_t> told_;
  std::map<uint64_t, std::vector<Piece>> left_;  // by token: what begin() returned
  File file_ = {};
  File wanted_ = {};
};

TEST(Morph, WhoeverGoesOnAfterADeathFindsTheRightBytes) {
  for_seeds(2000, [](uint64_t seed) { Deaths(seed).run(); });
}

TEST(Steal, OwnBytesAreCopiedAndTheRestIsRead) {
  MorphRig rig;
  std::string a = "aaaa";
  std::string b = "bbbb";
  rig.admit(Operation::write, 2, a, 1);
  rig.admit(Operation::write, 8, b, 2);
  std::string read(8, '.');
  const uint32_t wholly = rig.admit(Operation::read, 0, read, 1);
  EXPECT_TRUE(rig.last);
  EXPECT_EQ(read, "..aaaa..");
  const auto left = rig.queue.begin(wholly);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].extent.end(), 2u);
  EXPECT_EQ(left[1].extent.offset, 6u);
  // It waits for another client's bytes.
  std::string other(10, '.');
  rig.admit(Operation::read, 0, other, 1);
  EXPECT_FALSE(rig.last);
  // Bytes taken from memory need no read before they are overwritten; those read from storage do.
  rig.admit(Operation::write, 2, a, 2);
  EXPECT_FALSE(rig.last);
  std::string own(2, '.');
  const uint32_t served = rig.admit(Operation::read, 9, own, 2);
  EXPECT_TRUE(rig.last);
  EXPECT_TRUE(rig.queue.served(served));
  EXPECT_EQ(own, "bb");
}

// A client may hand over memory that overlaps itself. (The address sanitizer sees a copy that does not expect it.)
TEST(Steal, IntoMemoryThatOverlapsTheWrites) {
  MorphRig rig;
  std::string memory = "abcdefgh....";
  const auto admit = [&](Operation operation, size_t at) {
    Request request;
    request.operation = operation;
    request.file = 1;
    request.token = ++rig.tokens;
    request.pieces = {{{0, 8}, reinterpret_cast<std::byte*>(memory.data()) + at}};
    return rig.queue.admit(std::move(request)) != nullptr;
  };
  EXPECT_TRUE(admit(Operation::write, 0));
  EXPECT_TRUE(admit(Operation::read, 4));
  EXPECT_EQ(memory, "abcdabcdefgh");
}

TEST(Steal, NotPastAFence) {
  MorphRig rig;
  std::string a = "aaaa";
  rig.admit(Operation::write, 0, a);
  rig.admit(Operation::sync, 0, a);
  std::string read(4, '.');
  rig.admit(Operation::read, 0, read);
  EXPECT_FALSE(rig.last);
  EXPECT_EQ(read, "....");
}

// Each pair of requests of one file, and whether the later must wait for the earlier.
TEST(RequestQueue, ConflictsAsATable) {
  const auto waits = [](const Request& earlier, const Request& later) {
    RequestQueue queue(2);
    queue.admit(earlier);
    return queue.admit(later) == nullptr;
  };
  const auto read = request_of(Operation::read, 0, 10);
  const auto touching = request_of(Operation::write, 10, 10);
  const auto overlapping = request_of(Operation::write, 9, 1);
  const auto sync = request_of(Operation::sync, 0, 0);
  auto elsewhere = overlapping;
  elsewhere.file = 2;
  auto fence = touching;
  fence.fence = true;
  EXPECT_FALSE(waits(read, read));
  EXPECT_FALSE(waits(read, touching));
  EXPECT_TRUE(waits(read, overlapping));
  EXPECT_TRUE(waits(overlapping, read));
  EXPECT_TRUE(waits(overlapping, overlapping));
  EXPECT_FALSE(waits(read, elsewhere));
  EXPECT_TRUE(waits(read, sync));
  EXPECT_TRUE(waits(read, fence));
  EXPECT_TRUE(waits(fence, read));
}

}  // namespace
}  // namespace tailrace::impl
