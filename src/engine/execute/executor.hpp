// Executor: the last stage. Carries out accesses and syncs as transfers, as many at a time as the storage accepts.
//
// It continues short transfers and retries EINTR and EAGAIN, for all back ends alike; any other errno ends the job.
// It knows nothing of the order or merging of requests. The engine's thread drives it.
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
#include "engine/execute/write_behind.hpp"
#include "model/access.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

// A file in the storage, for messages and transfers.
struct ExecutionTarget {
  FileHandle handle = 0;
  std::string path;
  bool direct = false;
  // The end of the writes by the clients that the access reads for. If the file is still shorter, bytes before this
  // end are a hole.
  uint64_t written_to = 0;
};

class Executor {
 public:
  struct Options {
    uint64_t largest_transfer = uint64_t{8} << 20;  // bytes
    uint64_t direct_from = uint64_t{128} << 10;     // bytes
    // The longest transfer through the page cache. Longer ones are no faster. They are several times slower where the
    // system takes pages of a megabyte and more for them that a virtual machine must first get from its host.
    uint64_t largest_cached = UINT64_MAX;      // bytes
    uint64_t room_from = uint64_t{256} << 10;  // from this size on, the file system is first asked to make room
    uint64_t largest_hole = 0;                 // largest hole, in bytes, that a read covers
    // Buffers that copy unaligned writes, so that these bypass the page cache; 0: such writes go through it.
    uint64_t bounce_bytes = 0;  // size of each
    uint32_t bounce_count = 8;
    bool bounce_prefault = false;      // takes their memory from the system at the start, beside the caller
    uint64_t rate = Pace::kUnlimited;  // of writes, in bytes a second; see Pace
    uint32_t patience = 1000;  // transfers in a row without progress (EAGAIN, 0 bytes written) before a job fails
  };

  // The end of an access (its parts are set) or of a sync (the request is set).
  struct Ended {
    Access access;
    const Request* sync = nullptr;
    Status status;
    Nanoseconds begun{0};  // start of its first transfer
    bool cached = false;   // a long transfer went through the page cache although the file allows direct transfers
  };

  // The work that the executor has done so far.
  struct Counts {
    uint64_t transfers = 0;      // begun
    uint64_t direct = 0;         // … bypassing the page cache
    uint64_t again = 0;          // ended short or interrupted, and continued
    uint64_t fallbacks = 0;      // refused past the page cache, and repeated through it
    uint64_t bytes_written = 0;  // by the writes begun
  };

  // Borrows the storage and the clock.
  Executor(Storage& storage, const Clock& clock, const Options& options);
  ~Executor();

  // Returns true if the storage could take more transfers than are waiting or in progress.
  bool has_room() const;
  bool idle() const { return jobs_.empty(); }
  const Counts& counts() const { return counts_; }

  // How fast writes may begin. A delayed transfer delays all later ones.
  Pace& pace() { return pace_; }
  const Pace& pace() const { return pace_; }
  // Knows what writes have left in the page cache, if the storage has one.
  WriteBehind& behind() { return behind_; }
  // Returns true if the next transfer waits for its time alone.
  bool held() const { return held_; }

  // Sets the predicate that is asked before each transfer, with the client of each request that it carries. If it
  // returns false, no more of the access or sync is begun, and it ends as withdrawn().
  using MayBegin = std::function<bool(uint32_t client)>;
  void fence_by(MayBegin may_begin) { may_begin_ = std::move(may_begin); }

  void start(Access access, ExecutionTarget target);
  void start_sync(const Request* request, ExecutionTarget target);

  // Returns true if the bytes read into `memory` belong to a hole and are discarded.
  bool throws_away(const void* memory) const;

  // Takes completions from the storage and begins all transfers that can begin. Appends the ends to `ended`.
  void progress(std::vector<Ended>& ended);

 private:
  struct Job;
  struct InFlight;

  enum class Begun { nothing, transfer, copy };

  bool begin_transfers();
  bool is_held(const Job& job) const;
  bool may_begin(const Job& job) const;
  void withdraw(Job& job);
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
  Status failure(const Job& job, const Extent& extent, int64_t result) const;
  void retire(std::vector<Ended>& ended);

  Storage& storage_;
  const Clock& clock_;
  const Options options_;
  MayBegin may_begin_;
  Counts counts_;
  Pace pace_;
  WriteBehind behind_;
  bool held_ = false;
  std::vector<std::unique_ptr<InFlight>> in_flight_;  // by tag
  std::vector<uint32_t> free_tags_;
  // Memory for holes: largest_hole bytes for each tag. Null until the first hole.
  std::unique_ptr<std::byte[]> thrown_away_;
  BounceBuffers bounce_;
  std::deque<std::unique_ptr<Job>> jobs_;  // in the order started
};

}  // namespace tailrace::impl
