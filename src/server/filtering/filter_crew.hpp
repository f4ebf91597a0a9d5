// FilterCrew: the threads that filter chunks, and the buffers that filtered chunks lie in until they are written.
//
// Serves any number of members (one a client), in turn, chunk by chunk. A member asks for its turn, is granted a
// buffer, has a chunk filtered into it (or restored from it), and gives it back. Buffers are few and made at the
// start, so memory is bounded, and who is short of time sees it by its blocks piling up. It comes to its turn when a
// thread will soon have time, not before: what a chunk is worth is best known then; and without a buffer, if it needs
// none. Jobs end in the order in which they were started, however many threads there are: so whoever places chunks by
// their ends places them the same way each time. All calls are the server's; its doorbell is rung when a job is done.
// Knows neither files nor clients.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "base/sync/doorbell.hpp"
#include "filter/pipeline.hpp"

namespace tailrace::impl {

// Memory for one filtered chunk, aligned to pages: transfers may bypass the page cache.
struct FilterBuffer {
  uint32_t number = 0;
  std::byte* memory = nullptr;
};

class FilterCrew;

// A chunk that is filtered from its block into a buffer, or restored from a buffer into its block.
struct FilterJob {
  enum class What : uint8_t { filter, restore };

  // Whoever starts jobs.
  class Owner {
   public:
    virtual ~Owner() = default;
    // Returns true if the user cannot use a turn without a buffer at present.
    virtual bool needs_buffer() const = 0;
    // Its turn, with a buffer if it needed one, which is given back once, sooner or later.
    virtual void granted(std::optional<FilterBuffer> buffer) = 0;
    // Returns true if granted() and done() may be called now. Otherwise the next progress() asks again.
    virtual bool ready() const = 0;
    virtual void done(const FilterJob& job) = 0;
  };

  What what = What::filter;
  Owner* owner = nullptr;
  uint64_t token = 0;                // the owner's own
  const FilterPlan* plan = nullptr;  // outlives the job
  std::span<std::byte> block;        // outlives the job; only read from by `filter`
  uint64_t index = 0;                // of the chunk
  Effort effort = Effort::full;
  FilterBuffer buffer;

  // The result. After `restore`: the chunk is given, and the buffer has its bytes.
  FilteredChunk chunk;
  Loss loss;
  Status status;
  Nanoseconds took{0};
};

class FilterCrew {
 public:
  struct Options {
    uint32_t threads = 1;   // 0: jobs are done at once, by the caller
    std::vector<int> cpus;  // that the threads keep to; empty: any
  };

  static constexpr uint32_t kBegunAhead = 2;     // chunks that a thread has: one in work, and the next
  static constexpr uint32_t kBuffersBeside = 4;  // beyond these: chunks that are being written

  // Both are borrowed. Costs next to nothing until provide() is called.
  FilterCrew(const Clock& clock, Doorbell& doorbell, Options options);
  // Nothing is under way, and no buffer out.
  ~FilterCrew();

  // Jobs by these plans will come: makes the buffers large enough for them, and starts the threads.
  void provide(std::span<const FilterPlan> plans);

  // The owner wants a turn (more): granted in order, during progress().
  void ask(FilterJob::Owner& owner);
  void give_back(const FilterBuffer& buffer);
  // Its wishes are forgotten.
  void withdraw(FilterJob::Owner& owner) { std::erase(wishes_, &owner); }
  // In a buffer that was granted. Ends by done(), during progress().
  void start(FilterJob job);

  // Grants turns and tells ends. Returns whether there were any.
  bool progress();
  // Returns true if filters have a chunk. worked() returns how long they have worked so far, all threads together.
  bool working() const { return !flown_.empty(); }
  Nanoseconds worked() const { return worked_; }
  // Grants none until it is told to.
  void pause(bool paused) { paused_ = paused; }

 private:
  struct Flight {
    FilterJob job;
    bool finished = false;  // guarded by mutex_
  };
  struct Memory {
    std::byte* begin = nullptr;
    uint64_t size = 0;
  };

  void start_threads();
  uint32_t buffers() const { return kBegunAhead * options_.threads + kBuffersBeside; }
  bool has_time() const { return flown_.size() < kBegunAhead * std::max(1u, options_.threads); }
  void make_fit(Memory& memory) const;
  bool tell_ends();
  bool grant();
  void run();
  void carry_out(FilterJob& job, ChunkFilter& filter) const;

  // Constant after construction.
  const Clock& clock_;
  Doorbell& doorbell_;
  const Options options_;

  // The server's thread only.
  uint64_t size_ = 0;                          // of a buffer
  std::vector<Memory> memory_;                 // by number of the buffer
  std::vector<uint32_t> free_;                 // numbers
  std::deque<FilterJob::Owner*> wishes_;       // oldest first
  std::deque<std::unique_ptr<Flight>> flown_;  // started, and not told: oldest first
  ChunkFilter inline_filter_;                  // without threads
  Nanoseconds worked_{0};                      // of those that were told
  bool paused_ = false;

  Mutex mutex_;
  Condition there_is_work_;  // used with mutex_
  std::deque<Flight*> work_ TAILRACE_GUARDED_BY(mutex_);
  bool stopping_ TAILRACE_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace tailrace::impl
