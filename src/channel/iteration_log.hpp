// IterationLog: records the costs of a client's latest iterations to its server: busy times, bytes taken, bytes
// stored.
//
// It consists of fixed-width records in memory that both sides see, one per iteration; the newest replaces the
// oldest. Only the server writes them. Any process that maps them may read them: the client, or a process that only
// watches. Each number of a record grows by itself (base/histogram.hpp). Readers need only detect that a record was
// reassigned during a read, and compare its version for that. Nothing here affects the server's decisions, since a
// client may write into it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "base/histogram.hpp"

namespace tailrace::impl {

// Times are nanoseconds of a clock that all processes of the node share; 0: not yet.
struct IterationRecord {
  enum class Outcome : uint64_t { open = 0, published = 1, failed = 2, dropped = 3, empty = 4 };

  std::atomic<uint64_t> version{0};  // 0: never used; odd: being reassigned to another iteration
  Tally iteration;
  Tally begun;            // its first verb was taken
  Tally ended;            // its end was taken
  Tally left;             // it was published or removed, or had failed; also 0 if that needed no work
  Tally next;             // the client's next iteration began
  Tally busy;             // from `begun` to `next`, the time that the server wrote, read or filtered, for any client
  Tally moving;           // … had transfers in progress
  Tally filtering;        // … and its filters ran, summed over all threads
  Tally bytes_taken;      // of the iteration's blocks
  Tally bytes_stored;     // … in its file, filtered or not
  Tally chunks_filtered;  // …
  Tally chunks_relaxed;   // … of these, with less effort, for lack of time
  Tally chunks_skipped;   // … and not compressed, for lack of time
  Tally waited;           // time the client waited for memory since the end of the one before, by its own account
  Tally outcome;
};
static_assert(sizeof(IterationRecord) == 128);
static_assert(offsetof(IterationRecord, begun) == 16);
static_assert(offsetof(IterationRecord, busy) == 48);
static_assert(offsetof(IterationRecord, bytes_taken) == 72);
static_assert(offsetof(IterationRecord, outcome) == 120);

// A snapshot of a record.
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
    alignas(64) Tally begun;  // iterations so far
    alignas(64) std::array<IterationRecord, kKept> records;
  };

  // Borrows `shared`.
  explicit IterationLog(Shared& shared) : shared_(&shared) {}

  // ---- the server ----
  // Assigns a record to an iteration that has none.
  IterationRecord& begin(int64_t iteration, Nanoseconds now);
  // Returns the record of an iteration, null if it has none any more; or that of the latest one that began.
  IterationRecord* find(int64_t iteration);
  IterationRecord* latest();

  // ---- anybody ----
  // Returns the records in the order in which their iterations began.
  std::vector<IterationFigures> read() const { return read(*shared_); }
  static std::vector<IterationFigures> read(const Shared& shared);

 private:
  IterationRecord& at(uint64_t count) { return shared_->records[count % kKept]; }

  Shared* shared_;
};

}  // namespace tailrace::impl
