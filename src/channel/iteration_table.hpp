// IterationTable: counts a client's unfinished iterations and limits them, without locks.
//
// It has one word for each iteration that has begun and not left. An iteration leaves when its file has been
// published or removed, or could not be. The client takes a word when it begins an iteration; the server returns the
// word when the iteration has left. If clients share files, the server also tells each of them which iterations any
// of them has begun. Beginning one of those costs nothing: a client that is late must not wait for those that are
// ahead. The server finds words by the iteration's number, which a client never begins again; so a server that
// replaces a dead one may return a word twice. Nothing in this table affects the server's decisions. `Atomic` as in
// FreeStack.
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
  static constexpr uint32_t kWords = 2 * kMost;  // a client may join iterations of others beyond its limit

  struct Shared {
    // Each word is the iteration's number + 1; 0: free.
    using Words = std::array<Atomic<uint64_t>, kWords>;

    alignas(64) Atomic<uint32_t> limit{kMost};
    Words own{};     // the client's own
    Words common{};  // of all clients that share files with it
  };

  // Borrows `shared`.
  explicit IterationTable(Shared& shared) : shared_(&shared) {}

  // ---- the server ----
  // Limits the unfinished iterations, from 1 to kMost.
  void set_limit(uint32_t limit) {
    TAILRACE_REQUIRE(limit > 0 && limit <= kMost);
    // relaxed: the number stands by itself. An iteration that has begun stays, whatever the limit becomes.
    shared_->limit.store(limit, std::memory_order_relaxed);
  }
  // Reports that the client's own iteration has left. Does nothing if an earlier server has reported it.
  void give_back(int64_t iteration) { free(shared_->own, iteration); }
  // Reports that a client that shares files with this one has begun the iteration, or that it has left.
  void begun_by_any(int64_t iteration) {
    if (!contains(shared_->common, iteration)) (void)put(shared_->common, iteration);
  }
  void left(int64_t iteration) { free(shared_->common, iteration); }
  // Forgets the iterations that an earlier server reported.
  void forget_common() {
    for (Atomic<uint64_t>& word : shared_->common) word.store(0, std::memory_order_relaxed);
  }

  // ---- the client ----
  uint32_t limit() const { return limit(*shared_); }
  uint32_t count() const { return count(*shared_); }
  // Returns how many of its own iterations have not left.
  uint32_t count_own() const {
    uint32_t count = 0;
    for (const Atomic<uint64_t>& word : shared_->own) count += word.load(std::memory_order_acquire) != 0 ? 1 : 0;
    return count;
  }
  // Returns true if the iteration may begin within the limit.
  bool has_room_for(int64_t iteration) const { return count() < limit() || contains(shared_->common, iteration); }
  // Begins an iteration. If no word is left, it is not counted: then more have begun than any limit allows.
  void take(int64_t iteration) { (void)put(shared_->own, iteration); }

  // ---- anybody ----
  // Returns a limit from 1 to kMost, even if the shared word is invalid.
  static uint32_t limit(const Shared& shared) {
    const uint32_t limit = shared.limit.load(std::memory_order_relaxed);
    return limit == 0 || limit > kMost ? kMost : limit;
  }
  // Returns how many iterations are unfinished: the client's own and the common ones, each counted once.
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
  // Called by the side that takes words. relaxed: for the client's own words, the ring orders this before the
  // server's free(); for common ones the number is all the information.
  static bool put(Words& words, int64_t iteration) {
    for (Atomic<uint64_t>& word : words) {
      if (word.load(std::memory_order_relaxed) != 0) continue;
      word.store(word_of(iteration), std::memory_order_relaxed);
      return true;
    }
    return false;
  }
  // While a word holds an iteration, only the server writes it.
  static void free(Words& words, int64_t iteration) {
    for (Atomic<uint64_t>& word : words) {
      if (word.load(std::memory_order_relaxed) != word_of(iteration)) continue;
      // release: the server's work for the iteration comes before the client's next one; partner: count().
      word.store(0, std::memory_order_release);
      return;
    }
  }

  Shared* shared_;
};

}  // namespace tailrace::impl
