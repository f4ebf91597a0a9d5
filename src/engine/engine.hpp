// Engine: the pipeline queue → gather → schedule → merge → execute. Takes requests; each ends exactly once, at its
// sink.
//
// It is a state machine. One thread calls progress() whenever there may be something to do; the engine never sleeps
// and has no clock of its own. It knows neither who submits requests nor what their bytes mean.
//
// More than 35 functions: it passes requests between its five stages, and owns the files that these refer to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/size_histogram.hpp"
#include "engine/execute/executor.hpp"
#include "engine/execute/governor.hpp"
#include "engine/execute/operations.hpp"
#include "engine/merge/gather.hpp"
#include "engine/merge/merge.hpp"
#include "engine/queue/request_queue.hpp"
#include "engine/schedule/scheduler.hpp"
#include "model/request.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

struct EngineOptions {
  uint32_t max_pending = 65536;  // unfinished requests
  bool morph = true;             // skip pending bytes that a later write of the same client overwrites
  // The source of a read's bytes that have not been written yet.
  enum class ReadAfter : uint8_t {
    submitted,  // the memory of the write, if its own client made it; it waits for writes of others
    any,        // … any client's
    written     // the file: it waits for the write
  };
  ReadAfter read_after = ReadAfter::submitted;
  uint32_t fine_from = 1024;  // see RequestQueue::Rules
  bool govern = false;        // choose the rate of writes by what they cost the program
  MergeLimits merge;          // also limited by what the storage can do; alignment: 0 means the storage's
  GatherOptions gather;
  Executor::Options execute;
};

// How urgently clients need their requests to end.
enum class Urgency : uint8_t {
  none,      // they compute: writes may gather, take turns, and be held back by a rate
  sleeping,  // one of them sleeps: transfers begin whatever the rate is
  waiting,   // one of them waits, or soon will, and we do not know for which requests: nothing is held back
  crowded    // the same, for memory: all work that gives none back is put off
};

class Engine {
 public:
  // Borrows all arguments for the engine's life.
  Engine(Storage& storage, Scheduler& scheduler, const Clock& clock, const EngineOptions& options);
  // Requires that every request has ended.
  ~Engine();

  // Returns the storage's file system, for calls that are complete when they return: only while nothing else is to be
  // served, as at the start and in tests.
  FileSystem& files() { return storage_.files(); }

  // Begins to open `path`, and returns at once: requests for the file wait for its opening, and fail with it. Close
  // the file also if it cannot be opened: such a close fails only if it is a fence. `final_path` is the name that a
  // publish gives it; empty for files that are never published.
  FileId open(const std::string& path, OpenMode mode, uint32_t device, const std::string& final_path);
  // Adds a file that an operation has opened by `path`.
  FileId add(const std::string& path, Opened opened);
  // Sets the name that a publish gives this file; it then shares nothing with other published files.
  void publish_as(FileId file, const std::string& final_path);
  // Begins an operation beside all requests, and returns at once: progress() calls `then` with the end. `client`: for
  // whom it is, see fence_by(); 0: for nobody.
  void carry_out(FileOperation operation, uint32_t client, Operations::Then then) {
    operations_.submit(std::move(operation), client, std::move(then));
  }
  // Does so with a file that is open, which is not closed before the end: an `allocate`, or a `size`, which does not
  // count pending writes.
  void carry_out(FileId file, FileOperation operation, uint32_t client, Operations::Then then);
  // The calls from here to stripes() are for files that are open.
  // Returns the path by which the file was opened, or its name since.
  const std::string& path(FileId file) const;
  // Returns which file it is, as the storage tells files apart.
  FileIdentity identity(FileId file) const;
  // Returns which data servers the file lies on.
  const StripeMap& stripes(FileId file) const;

  // Returns true if a request for this file has failed; such a file is never published.
  bool has_failed(FileId file) const { return !files_.at(file).failure.ok(); }
  // Returns the first failure of the file.
  const Status& failure(FileId file) const { return files_.at(file).failure; }

  // Returns false while the file is being opened, and if it could not be.
  bool is_open(FileId file) const { return files_.at(file).state == File::State::open; }

  // Returns how many more requests can be submitted.
  uint32_t room() const { return queue_.room(); }
  // Submits a request; requires room() > 0. A later progress() reports its end, never submit() itself.
  void submit(Request request);

  // Sets the predicate that is asked before each transfer, truncation, renaming and reservation, and before each
  // carry_out(), with the client of each request that it carries. If it returns false, these requests end as
  // withdrawn(), at the latest when what the storage has of them has ended. Requests of other clients that were
  // merged with them go on.
  void fence_by(Executor::MayBegin may_begin);

  // The client has ended an iteration, in which it waited for `waited`: `govern` chooses the rate by it.
  void ended_iteration(uint32_t client, Nanoseconds waited);

  // Advances all requests as far as they can go now, and holds back what `urgency` allows.
  void progress(Urgency urgency = Urgency::none);
  // Returns true if every request and every operation has ended.
  bool idle() const { return queue_.empty() && operations_.idle(); }

  // Returns when progress() must be called even if nothing else happens; none: never. A time in the past: at once.
  std::optional<Nanoseconds> due() const;

  // The work that the engine has done so far.
  struct Counts {
    Executor::Counts transfers;
    uint64_t accesses = 0;      // that pieces were merged into
    uint64_t merged = 0;        // requests written or read together with others
    uint64_t overwritten = 0;   // bytes never written, since a later write of the same client replaced them
    uint64_t stolen = 0;        // bytes of reads copied from the memory of pending writes
    uint64_t sieved = 0;        // bytes read in vain: holes between requested bytes
    uint64_t pending_peak = 0;  // most unfinished requests at once
    Nanoseconds busy{0};        // time with at least one transfer in progress
  };
  Counts counts() const;
  // The sizes of one file's requests and of the resulting accesses, in bytes.
  struct Sizes {
    SizeHistogram before;
    SizeHistogram after;
    uint64_t merged = 0;       // requests written or read together with others
    uint64_t overwritten = 0;  // bytes never written, since a later write replaced them
    uint64_t stolen = 0;       // bytes of reads copied from the memory of pending writes
    uint64_t sieved = 0;       // bytes read in vain: holes between requested bytes
  };
  // Returns the sizes of a file. Borrowed until the file is gone.
  const Sizes& sizes(FileId file) const;
  // Returns the sizes that all files opened to be published share.
  const Sizes& sizes_of_published() const { return *sizes_of_published_; }
  // Returns true if a transfer puts unwanted bytes there: a read that covered a hole.
  bool throws_away(const void* memory) const { return executor_.throws_away(memory); }
  // Returns true if transfers are in progress.
  bool moving() const { return !executor_.idle(); }
  const Clock& clock() const { return clock_; }

 private:
  struct File {
    enum class State : uint8_t { opening, open, unopened };
    State state = State::opening;
    std::vector<const Request*> early;  // ready requests that wait for the opening
    FileHandle handle = 0;
    StripeMap stripes;
    FileIdentity identity;
    std::string path;
    std::string final_path;
    std::unordered_map<uint32_t, uint64_t> written_to;          // by client: the largest end of its writes so far
    std::optional<bool> direct;                                 // direct transfers are possible; none: not known yet
    std::vector<std::pair<Access, ExecutionTarget>> undecided;  // large ones, which wait for that
    Status failure;  // the first one: after it, no operation that depends on the whole file may succeed
    std::shared_ptr<Sizes> sizes;
  };

  // The progress of a request.
  struct Progress {
    uint32_t parts_left = 0;    // of accesses that carry it
    bool small = false;         // it may be held back to gather
    uint32_t reservations = 0;  // under way
    bool reserved = false;
    Status outcome;                      // the first failure among its parts, or before its operation
    const Request* operation = nullptr;  // the request, while the storage carries it out on the whole file
    Request::Course course;
  };

  FileId add_file(const std::string& path, const std::string& final_path);
  static void note_open(File& file, Opened opened);
  File& file(FileId id);
  uint64_t written_to(const Access& access);
  void note_written_to(const Request& request);
  void note_cut(const Request& request);
  bool step();
  bool take_ready();
  bool gather_ready(Nanoseconds now);
  void begin_ready(const Request& request, Nanoseconds now);
  void end_unopened(const Request& request, const File& of);
  bool reserve(const Request& request, const File& of);
  bool serve();
  void write_behind(bool computing);
  void carry_out(std::span<const Request* const> batch);
  void count_before(const Request& request, std::span<const Piece> carried_out);
  void start_access(Access access);
  void end_direct(FileId id, std::optional<bool> direct);
  void start(const Request& request);
  void finish_access(Executor::Ended& end);
  void note_begun(uint32_t slot, Nanoseconds begun);
  void finish(const Request* request, const Status& status);
  void note_end(RequestQueue::Ended& end);
  void begin(FileOperation operation, const Request& request, uint32_t client = 0);
  void begin_last(FileOperation operation, const Request& request);
  void end_opening(FileId id, FileOperationEnd& end);
  void end_operation(uint32_t slot, const Status& status);
  void count_busy();

  Storage& storage_;
  Scheduler& scheduler_;
  const Clock& clock_;
  const EngineOptions options_;
  const MergeLimits limits_;
  RequestQueue queue_;
  Gather gather_;
  Executor executor_;
  Operations operations_;
  Governor governor_;
  const std::shared_ptr<Sizes> sizes_of_published_ = std::make_shared<Sizes>();
  FileId next_file_ = 1;
  std::unordered_map<FileId, File> files_;
  std::vector<Progress> under_way_;     // by slot
  std::vector<const Request*> ready_;   // between the queue and gathering
  std::vector<const Request*> served_;  // reads that need no storage
  std::vector<Executor::Ended> ended_;
  std::vector<RequestQueue::Ended> over_;  // between the queue and the sinks
  std::vector<const Request*> gathered_;   // between gathering and the scheduler
  std::vector<const Request*> batch_;
  Counts counts_;  // except `transfers`, which the executor counts
  bool was_busy_ = false;
  Nanoseconds busy_since_{0};
};

}  // namespace tailrace::impl
