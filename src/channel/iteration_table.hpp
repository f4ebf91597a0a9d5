// IterationTable: how many iterations are unfinished, as a client knows it, and how many may be, without locks.
//
// One word an iteration that has begun and not left. It leaves when its file has been published or removed, or could
// not be. The client takes a word when it begins the iteration; the server gives it back when the iteration has left.
// Where clients share files, the server also tells each of them which iterations any of them has begun: to begin one
// of those costs nothing, and a client that is late must not wait for those who are ahead. The server finds words by
// the iteration's number, which a client never begins again: so one that takes the place of a dead server may give a
// word back twice. Nothing that stands here decides anything for the server. `Atomic` as in FreeStack.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"

namespace tailrace::impl {

template <template <class> class Atomic = std::atomic>
class IterationTable {
 public:
  static constexpr uint32_t kMost = 256;         // the largest limit
  static constexpr uint32_t kWords = 2 * kMost;  // a client joins in what others have begun beyond its limit

  struct Shared {
    // Each the iteration's number + 1; 0: free.
    using Words = std::array<Atomic<uint64_t>, kWords>;

    alignas(64) Atomic<uint32_t> limit{kMost};
    Words own{};     // the client's own
    Words common{};  // of all clients that share files with it
  };

  // Borrowed.
  explicit IterationTable(Shared& shared) : shared_(&shared) {}

  // ---- the server ----
  // At most so many may be unfinished, from 1 to kMost.
  void set_limit(uint32_t limit) {
    TAILRACE_REQUIRE(limit > 0 && limit <= kMost);
    // relaxed: the number stands by itself. An iteration that has begun stays, whatever the limit becomes.
    shared_->limit.store(limit, std::memory_order_relaxed);
  }
  // The client's own iteration has left. Does nothing if an earlier server has said so.
  void give_back(int64_t iteration) { free(shared_->own, iteration); }
  // A client that shares files with this one has begun the iteration; it has left.
  void begun_by_any(int64_t iteration) {
    if (!contains(shared_->common, iteration)) (void)put(shared_->common, iteration);
  }
  void left(int64_t iteration) { free(shared_->common, iteration); }
  // Nothing of what an earlier server said.
  void forget_common() {
    for (Atomic<uint64_t>& word : shared_->common) word.store(0, std::memory_order_relaxed);
  }

  // ---- the client ----
  uint32_t limit() const { return limit(*shared_); }
  uint32_t count() const { return count(*shared_); }
  // How many of its own have not left.
  uint32_t count_own() const {
    uint32_t count = 0;
    for (const Atomic<uint64_t>& word : shared_->own) count += word.load(std::memory_order_acquire) != 0 ? 1 : 0;
    return count;
  }
  // Returns true if the iteration may begin within the limit.
  bool has_room_for(int64_t iteration) const { return count() < limit() || contains(shared_->common, iteration); }
  // Begins an iteration. If there is no word left, it is not counted: then more have begun than any limit allows.
  void take(int64_t iteration) { (void)put(shared_->own, iteration); }

  // ---- anybody ----
  // From 1 to kMost, whatever stands there.
  static uint32_t limit(const Shared& shared) {
    const uint32_t limit = shared.limit.load(std::memory_order_relaxed);
    return limit == 0 || limit > kMost ? kMost : limit;
  }
  // How many iterations are unfinished, the client's own and the common ones.
  static uint32_t count(const Shared& shared) {
    uint32_t count = 0;
    for (const Atomic<uint64_t>& word : shared.common) count += word.load(std::memory_order_acquire) != 0 ? 1 : 0;
    const bool any_common = count > 0;
    for (const Atomic<uint64_t>& word : shared.own) {
      const uint64_t own = word.load(std::memory_order_acquire);
      if (own != 0 && !(any_common && contains(shared.common, iteration_of(own)))) ++count;
    }
    return count;
  }

 private:
  using Words = typename Shared::Words;

  static uint64_t word_of(int64_t iteration) { return static_cast<uint64_t>(iteration) + 1; }
  static int64_t iteration_of(uint64_t word) { return static_cast<int64_t>(word - 1); }

  static bool contains(const Words& words, int64_t iteration) {
    for (const Atomic<uint64_t>& word : words) {
      if (word.load(std::memory_order_relaxed) == word_of(iteration)) return true;
    }
    return false;
  }
  // The side that takes words. relaxed: of its own words, the ring orders this before the other's free(); of common
  // ones the number says all.
  static bool put(Words& words, int64_t iteration) {
    for (Atomic<uint64_t>& word : words) {
      if (word.load(std::memory_order_relaxed) != 0) continue;
      word.store(word_of(iteration), std::memory_order_relaxed);
      return true;
    }
    return false;
  }
  // While a word holds an iteration, nobody but the server writes it.
  static void free(Words& words, int64_t iteration) {
    for (Atomic<uint64_t>& word : words) {
      if (word.load(std::memory_order_relaxed) != word_of(iteration)) continue;
      // release: what the server did for the iteration is before the client's next one; partner: count().
      word.store(0, std::memory_order_release);
      return;
    }
  }

  Shared* shared_;
};

}  // namespace tailrace::impl
