// explore(): tries the interleavings of a few threads, one schedule after another, each of them reproducible.
//
// For lock-free code that is a template over atomics (src/base/sync/sleep_flag.hpp): instantiate it with
// InterleavedAtomic and hand the bodies of two to four threads to explore(). They run as real threads, but one at a
// time; every atomic operation is a point where another may go on. A schedule is a string of decisions: which thread
// takes the next step, whether a load sees an older value that its memory order still allows, whether a weak
// compare-exchange fails for nothing. All schedules with at most `deviations` decisions off the plain course are
// tried, fewest first, then random ones. A failure comes with its schedule and the list of its steps. Never used
// outside tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "testing/interleaved_atomic.hpp"

namespace tailrace::impl::testing {

// One run: made anew for each schedule, so that each starts from the same state. What the bodies share is owned by
// the closures (a shared_ptr). Bodies must be deterministic and must not block but in block_until().
struct InterleavedRun {
  std::vector<std::function<void()>> threads;  // at most kMaxInterleavedThreads
  std::function<void()> check;                 // after all have ended; may be empty
};

struct ExploreOptions {
  int deviations = 3;                // the bound of the exhaustive search
  uint64_t max_schedules = 300'000;  // of the exhaustive search; beyond it, it is incomplete
  uint64_t random_schedules = 2'000;
  uint64_t seed = 1;          // of the random ones; TAILRACE_SEED in the environment replaces it
  size_t max_steps = 10'000;  // of one schedule; more is a failure (a thread that spins)
  std::string replay;         // run this schedule only; TAILRACE_SCHEDULE in the environment replaces it
};

struct Exploration {
  bool complete = false;   // every schedule within the bound was tried
  uint64_t schedules = 0;  // tried
  uint64_t seed = 0;
  std::string failure;   // what went wrong; empty if nothing did
  std::string schedule;  // … under this one
  std::string trace;     // … and its steps, a line each

  bool ok() const { return failure.empty(); }
  // All of the above as text for a failing test: with the line that reproduces it.
  std::string report() const;
};

Exploration explore(const std::function<InterleavedRun()>& setup, ExploreOptions options = {});

// ---- for the bodies and the check --------------------------------------------------------------------------------

// Fails the schedule unless `condition` holds.
void require(bool condition, const std::string& message);

// The calling thread sleeps until `predicate` holds; nothing else runs between that moment and its return. All
// threads asleep for ever is a deadlock, which fails the schedule. The predicate may only load; it sees the newest
// values, as a futex in the kernel does, and having seen them orders as an acquire load does.
void block_until(const std::function<bool()>& predicate);

// To be called in a loop that spins: another thread, if there is one, goes first.
void yield_to_others();

}  // namespace tailrace::impl::testing
