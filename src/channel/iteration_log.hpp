// IterationLog: what each of a client's latest iterations has cost its server: how long it was busy, what came, what
// was stored.
//
// Fixed-width records in memory that both sides see, one an iteration, the oldest given up for the newest. Written by
// the server alone; read by anybody who maps them, the client or one who only looks on. The numbers of a record grow
// one by one, each by itself (base/histogram.hpp); only that a record has been given to another iteration meanwhile
// must be noticed: for that it has a version. What lies there decides nothing: a client may write into it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "base/histogram.hpp"

namespace tailrace::impl {

// Times are nanoseconds of the clock that all processes of the node have in common; 0: not yet.
struct IterationRecord {
  enum class Outcome : uint64_t { open = 0, published = 1, failed = 2, dropped = 3, empty = 4 };

  std::atomic<uint64_t> version{0};  // 0: never used; odd: just being given to another iteration
  Tally iteration;
  Tally begun;            // the first of it was taken
  Tally ended;            // its end was taken
  Tally left;             // it was published, removed, or had failed; 0, too, if there was nothing to do for that
  Tally next;             // the client's next iteration began
  Tally busy;             // from `begun` to `next`, the server wrote, read or filtered, for whichever client
  Tally moving;           // … had transfers under way
  Tally filtering;        // … and its filters worked, all threads together
  Tally bytes_taken;      // of the iteration's blocks
  Tally bytes_stored;     // … in its file, filtered or not
  Tally chunks_filtered;  // …
  Tally chunks_relaxed;   // … of these, with less effort, for want of time
  Tally chunks_skipped;   // … and not compressed, for want of time
  Tally waited;           // the client waited for memory since the end of the one before, as it says itself
  Tally outcome;
};
static_assert(sizeof(IterationRecord) == 128);
static_assert(offsetof(IterationRecord, begun) == 16);
static_assert(offsetof(IterationRecord, busy) == 48);
static_assert(offsetof(IterationRecord, bytes_taken) == 72);
static_assert(offsetof(IterationRecord, outcome) == 120);

// The contents of a record at one moment.
struct IterationFigures {
  using Outcome = IterationRecord::Outcome;
  int64_t iteration = 0;
  Nanoseconds begun{0}, ended{0}, left{0}, next{0};
  Nanoseconds busy{0}, moving{0}, filtering{0}, waited{0};
  uint64_t bytes_taken = 0;
  uint64_t bytes_stored = 0;
  uint64_t chunks_filtered = 0;
  uint64_t chunks_relaxed = 0;
  uint64_t chunks_skipped = 0;
  Outcome outcome = Outcome::open;
};

class IterationLog {
 public:
  static constexpr uint32_t kKept = 128;

  struct Shared {
    alignas(64) Tally begun;  // iterations ever
    alignas(64) std::array<IterationRecord, kKept> records;
  };

  // Borrowed.
  explicit IterationLog(Shared& shared) : shared_(&shared) {}

  // ---- the server ----
  // A record for an iteration that has none.
  IterationRecord& begin(int64_t iteration, Nanoseconds now);
  // The record of an iteration, null if it has none (any more); and of the latest one that began.
  IterationRecord* find(int64_t iteration);
  IterationRecord* latest();

  // ---- anybody ----
  // In the order in which they began.
  std::vector<IterationFigures> read() const { return read(*shared_); }
  static std::vector<IterationFigures> read(const Shared& shared);

 private:
  IterationRecord& at(uint64_t count) { return shared_->records[count % kKept]; }

  Shared* shared_;
};

}  // namespace tailrace::impl
