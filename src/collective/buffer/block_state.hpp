// BlockState: which processes may use a block of memory that they share, and how.
//
// A block is free. One process claims it, prepares it, and opens it. While it is open, processes enter it, put bytes
// there, and leave it. One process seals it: then no other one enters, and when the last one has left, the process
// takes what is there, and frees the block for the next use. A generation counts the uses.
//
// `Atomic` is std::atomic, or a test's stand-in that tries the interleavings. The word lies in shared memory.
#pragma once

#include <atomic>
#include <cstdint>

namespace tailrace::collective {

template <template <class> class Atomic = std::atomic>
class BlockState {
 public:
  enum class Phase : uint8_t { free, claimed, open, sealed };
  static constexpr uint32_t kMostInside = 0xffff;  // processes, and owners' numbers

  // A state that has been seen; a later one may differ.
  struct Seen {
    Phase phase;
    uint32_t generation;
    uint32_t owner;   // the process that has claimed or sealed the block
    uint32_t inside;  // processes
  };

  // Acquire: what has been put there by those that have left comes before. Partner: leave(). For the description of
  // an open block the partner is open().
  Seen look() const { return seen(word_.load(std::memory_order_acquire)); }

  // Claims a free block. Returns false if it is not free any more.
  // Acquire: the last owner's uses come before. Partner: free().
  bool claim(uint32_t owner) {
    uint64_t word = word_.load(std::memory_order_relaxed);
    if (seen(word).phase != Phase::free) return false;
    return word_.compare_exchange_strong(word, with(word, Phase::claimed, owner), std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  // Opens the block that this process has claimed; the process is inside then.
  // Release: what it has prepared comes before. Partner: enter().
  void open() {
    const uint64_t word = word_.load(std::memory_order_relaxed);
    word_.store(with(word, Phase::open, 0) + 1, std::memory_order_release);
  }

  // Enters an open block. Returns false if that generation is not open any more.
  // Acquire: what its opener prepared comes before. Partner: open(), through the releases of others.
  bool enter(uint32_t generation) {
    uint64_t word = word_.load(std::memory_order_relaxed);
    while (is_open(word, generation) && seen(word).inside < kMostInside) {
      if (word_.compare_exchange_weak(word, word + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  // Release: what this process has put comes before. Partner: look() and seal() of the one that takes it.
  void leave() { word_.fetch_sub(1, std::memory_order_release); }

  // Seals an open block. Returns false if that generation is not open any more: another process takes what is there.
  // The caller then waits until nobody is inside, as look() shows.
  // Acquire: what was put by those that have left comes before. Partner: leave().
  bool seal(uint32_t generation, uint32_t owner) {
    uint64_t word = word_.load(std::memory_order_relaxed);
    while (is_open(word, generation)) {
      const uint64_t sealed = with(word, Phase::sealed, owner) + seen(word).inside;
      if (word_.compare_exchange_weak(word, sealed, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  // Replaces the owner of a sealed block, which has ended. Returns false if another process has done so.
  bool take_over(const Seen& from, uint32_t owner) {
    uint64_t word = make(Phase::sealed, from.generation, from.owner) + from.inside;
    return word_.compare_exchange_strong(word, make(Phase::sealed, from.generation, owner) + from.inside,
                                         std::memory_order_acquire, std::memory_order_relaxed);
  }
  // Frees a block that this process has claimed or sealed.
  // Release: its uses come before the next one's. Partner: claim().
  void free() {
    const uint64_t word = word_.load(std::memory_order_relaxed);
    word_.store(make(Phase::free, seen(word).generation + 1, 0), std::memory_order_release);
  }

 private:
  // The word: from bit 0 on inside (16), owner (16), phase (2), generation (30).
  static constexpr uint64_t make(Phase phase, uint32_t generation, uint32_t owner) {
    return (uint64_t{generation} << 34) | (uint64_t{static_cast<uint8_t>(phase)} << 32) | (uint64_t{owner} << 16);
  }
  static constexpr uint64_t with(uint64_t word, Phase phase, uint32_t owner) {
    return make(phase, static_cast<uint32_t>(word >> 34), owner);
  }
  static constexpr Seen seen(uint64_t word) {
    return {static_cast<Phase>((word >> 32) & 3), static_cast<uint32_t>(word >> 34),
            static_cast<uint32_t>((word >> 16) & 0xffff), static_cast<uint32_t>(word & 0xffff)};
  }
  static constexpr bool is_open(uint64_t word, uint32_t generation) {
    return seen(word).phase == Phase::open && seen(word).generation == generation;
  }

  Atomic<uint64_t> word_{0};
};

}  // namespace tailrace::collective
