// FilterCrew: the threads that filter chunks, and the buffers that hold filtered chunks until they are written.
//
// It serves any number of members (one for each client) in turn, chunk by chunk. A member asks for its turn, gets a
// buffer, has a chunk filtered into it (or restored from it), and gives the buffer back.
//
// The crew makes a few buffers at the start, so memory is bounded; if filters are too slow, the members' blocks pile
// up. It grants a turn only when a thread will soon be free, since a member knows best then how much effort a chunk
// is worth. A turn comes without a buffer if the member needs none.
//
// Jobs end in the order in which they were started, however many threads there are. So members that place chunks as
// their jobs end place them the same way each time. Only the server calls this; the crew rings the server's doorbell
// when a job is done. It knows neither files nor clients.
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
#include "base/sync/cpu_group.hpp"
#include "base/sync/doorbell.hpp"
#include "filter/pipeline.hpp"

namespace tailrace::impl {

// Memory for one filtered chunk, aligned to pages, since transfers may bypass the page cache.
struct FilterBuffer {
  uint32_t number = 0;
  std::byte* memory = nullptr;
};

class FilterCrew;

// Filters a chunk from its block into a buffer, or restores it from a buffer into its block.
struct FilterJob {
  enum class What : uint8_t { filter, restore };

  // The member that starts the job.
  class Owner {
   public:
    virtual ~Owner() = default;
    // Returns true if the owner can use a turn only with a buffer at present.
    virtual bool needs_buffer() const = 0;
    // Gives the owner its turn, with a buffer if it needed one. The owner gives the buffer back once.
    virtual void granted(std::optional<FilterBuffer> buffer) = 0;
    // Returns true if granted() and done() may be called now. Otherwise the next progress() asks again.
    virtual bool ready() const = 0;
    virtual void done(const FilterJob& job) = 0;
  };

  What what = What::filter;
  Owner* owner = nullptr;
  uint64_t token = 0;                // the owner's number for the job
  const FilterPlan* plan = nullptr;  // must outlive the job
  std::span<std::byte> block;        // must outlive the job; `filter` only reads it
  uint64_t index = 0;                // of the chunk
  Effort effort = Effort::full;
  FilterBuffer buffer;

  // The result. After `restore`, `chunk` is an input, and the buffer has its bytes.
  FilteredChunk chunk;
  Loss loss;
  Status status;
  Nanoseconds took{0};
};

class FilterCrew {
 public:
  struct Options {
    uint32_t threads = 1;                 // at most; 0: the caller does each job at once
    std::shared_ptr<CpuGroup> cpus = {};  // of the threads; null: any
  };

  static constexpr uint32_t kBegunAhead = 2;     // chunks that a thread has: one in work, and the next
  static constexpr uint32_t kBuffersBeside = 4;  // further buffers, for chunks that are being written

  // Borrows `clock` and `doorbell`. Costs next to nothing until provide() is called.
  FilterCrew(const Clock& clock, Doorbell& doorbell, Options options);
  // REQUIRES: no job is under way, and all buffers were given back.
  ~FilterCrew();

  // Prepares for jobs with these plans: makes the buffers large enough for them, and starts the threads.
  void provide(std::span<const FilterPlan> plans);

  // Asks for a turn for the owner. progress() grants turns in order.
  void ask(FilterJob::Owner& owner);
  void give_back(const FilterBuffer& buffer);
  // Forgets the owner's requests for turns.
  void withdraw(FilterJob::Owner& owner) { std::erase(wishes_, &owner); }
  // Starts a job in a buffer that was granted. progress() calls done() when it has ended.
  void start(FilterJob job);

  // Grants turns and reports ended jobs. Returns true if there were any.
  bool progress();
  // working() returns true if the filters have a chunk; worked() returns how long all threads together have worked so
  // far.
  bool working() const { return !flown_.empty(); }
  Nanoseconds worked() const { return worked_; }
  // While paused, grants no turns.
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

  uint32_t buffers() const { return kBegunAhead * options_.threads + kBuffersBeside; }
  bool has_time() const { return flown_.size() < kBegunAhead * std::max(1u, options_.threads); }
  void start_threads();
  void make_fit(Memory& memory) const;
  bool tell_ends();
  bool grant();
  void run();
  void carry_out(FilterJob& job, ChunkFilter& filter) const;

  // Constant after construction.
  const Clock& clock_;
  Doorbell& doorbell_;
  const Options options_;

  // Used by the server's thread only.
  uint64_t size_ = 0;                          // of a buffer
  std::vector<Memory> memory_;                 // by number of the buffer
  std::vector<uint32_t> free_;                 // numbers
  std::deque<FilterJob::Owner*> wishes_;       // owners that asked for a turn, oldest first
  std::deque<std::unique_ptr<Flight>> flown_;  // started and not reported, oldest first
  ChunkFilter inline_filter_;                  // used if there are no threads
  Nanoseconds worked_{0};                      // for reported jobs
  bool paused_ = false;

  Mutex mutex_;
  Condition there_is_work_;  // used with mutex_
  std::deque<Flight*> work_ TAILRACE_GUARDED_BY(mutex_);
  bool stopping_ TAILRACE_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace tailrace::impl
