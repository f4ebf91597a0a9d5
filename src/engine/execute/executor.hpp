// Executor: the last stage. Carries accesses and syncs out as transfers of the storage, so many at once as it can
// take.
//
// Short transfers, EINTR and EAGAIN are continued here, for every back end alike; any other errno ends the job.
// Knows nothing of requests' order or merging. Driven by the engine's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "engine/execute/bounce_buffers.hpp"
#include "engine/execute/pace.hpp"
#include "engine/execute/transfer_plan.hpp"
#include "model/access.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

// Where the storage has a file, for messages and transfers.
struct ExecutionTarget {
  FileHandle handle = 0;
  std::string path;
  bool direct = false;
  // Where the writes end of those that the access reads for: that the file is shorter as yet makes a hole of what
  // lies before.
  uint64_t written_to = 0;
};

class Executor {
 public:
  struct Options {
    uint64_t largest_transfer = uint64_t{8} << 20;  // bytes
    uint64_t direct_from = uint64_t{128} << 10;     // bytes
    // Length of the longest transfer through the page cache. Longer ones are not faster. Where the system takes pages
    // of a megabyte and more for them, which a virtual machine must first get from its host, they are several times
    // slower.
    uint64_t largest_cached = UINT64_MAX;      // bytes
    uint64_t room_from = uint64_t{256} << 10;  // bytes for which the file system is asked to make room first
    uint64_t largest_hole = 0;                 // bytes that a read goes over
    // Buffers that writes of unaligned memory are copied into, to go past the page cache; 0: such go through it.
    uint64_t bounce_bytes = 0;  // of each
    uint32_t bounce_count = 8;
    uint64_t rate = Pace::kUnlimited;  // of writes, in bytes a second; see Pace
    uint32_t patience = 1000;  // transfers in a row without progress (EAGAIN, 0 bytes written) before a job fails
  };

  // One end: of an access (parts are those of the access), or of a sync (request is set).
  struct Ended {
    Access access;
    const Request* sync = nullptr;
    Status status;
    Nanoseconds begun{0};  // its first transfer
    bool cached = false;   // a long one of them went through the page cache, of a file that can go past it
  };

  // The work that the executor has done so far.
  struct Counts {
    uint64_t transfers = 0;      // begun
    uint64_t direct = 0;         // … past the page cache
    uint64_t again = 0;          // ended short or interrupted, and continued
    uint64_t fallbacks = 0;      // refused past the page cache, and sent through it
    uint64_t bytes_written = 0;  // by the writes begun
  };

  // Both are borrowed.
  Executor(Storage& storage, const Clock& clock, const Options& options);
  ~Executor();

  // Returns true if the storage could take more transfers than wait or are under way.
  bool hungry() const;
  bool idle() const { return jobs_.empty(); }
  const Counts& counts() const { return counts_; }

  // How fast writes may begin. What it holds holds all that was started behind it.
  Pace& pace() { return pace_; }
  const Pace& pace() const { return pace_; }
  // Returns true if the next transfer waits for its time alone.
  bool held() const { return held_; }

  void start(Access access, ExecutionTarget target);
  void start_sync(const Request* request, ExecutionTarget target);

  // Returns true if the bytes that arrive there are those of a hole, which nobody wants.
  bool throws_away(const void* memory) const;

  // Takes completions from the storage and begins what can begin. Appends what has ended.
  void progress(std::vector<Ended>& ended);

 private:
  struct Job;
  struct InFlight;

  enum class Begun { nothing, transfer, copy };

  bool begin_transfers();
  bool is_held(const Job& job) const;
  Begun begin(Job& job);
  void begin_sync(Job& job);
  InFlight& take_flight(Job& job, PlannedTransfer planned);
  std::byte* copy(PlannedTransfer& planned);
  void submit(const Job& job, const InFlight& flight, uint64_t room);
  PlannedTransfer plan(const Job& job, const Extent& range) const;
  bool is_long_and_cached(const PlannedTransfer& plan) const;
  uint64_t room_for(Job& job, const Extent& range, const PlannedTransfer& plan) const;
  void throw_holes_away(PlannedTransfer& plan, uint32_t tag);
  void complete(const Completion& completion);
  void settle(Job& job, InFlight& transfer, int64_t result);
  static int64_t fill_hole(const Job& job, const InFlight& transfer);
  static Status failure(const Job& job, const Extent& extent, int64_t result);
  void retire(std::vector<Ended>& ended);

  Storage& storage_;
  const Clock& clock_;
  const Options options_;
  Counts counts_;
  Pace pace_;
  bool held_ = false;
  std::vector<std::unique_ptr<InFlight>> in_flight_;  // by tag
  std::vector<uint32_t> free_tags_;
  // For what is read of holes: largest_hole bytes for each tag. None until there is a hole.
  std::unique_ptr<std::byte[]> thrown_away_;
  BounceBuffers bounce_;
  std::deque<std::unique_ptr<Job>> jobs_;  // in the order started
};

}  // namespace tailrace::impl
