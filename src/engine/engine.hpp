// Engine: queue → gather → schedule → merge → execute, put together. Takes requests; each ends exactly once, at its
// sink.
//
// A state machine driven by one thread that calls progress() whenever there may be something to do; it never sleeps
// and never reads a clock of its own. Knows neither who feeds it nor what the bytes mean.
//
// More than 35 functions: it passes requests between its five stages, and has the files that these refer to.
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
#include "engine/merge/gather.hpp"
#include "engine/merge/merge.hpp"
#include "engine/queue/request_queue.hpp"
#include "engine/schedule/scheduler.hpp"
#include "model/request.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

struct EngineOptions {
  uint32_t max_pending = 65536;  // requests that have not ended
  bool morph = true;             // bytes that a later write of the same client overwrites before they leave, do not
  // Where a read finds bytes that are yet to be written.
  enum class ReadAfter : uint8_t {
    submitted,  // in the memory of the write, if it is its own client's; it waits for those of others
    any,        // … whoever's it is
    written     // in the file: it waits for the write
  };
  ReadAfter read_after = ReadAfter::submitted;
  bool govern = false;  // how fast writes begin follows from what they cost the program
  MergeLimits merge;    // max_segments: also those of the storage; alignment: 0 means that of the storage
  GatherOptions gather;
  Executor::Options execute;
};

class Engine {
 public:
  // All are borrowed for the life of the engine.
  Engine(Storage& storage, Scheduler& scheduler, const Clock& clock, const EngineOptions& options);
  // Everything has ended.
  ~Engine();

  // The names of the storage, for what is done at once. Of files that are open here, the engine has the order.
  FileSystem& files() { return storage_.files(); }

  // Opens `path`. `final_path` is the name that a publish gives it; empty for files that are never published.
  Result<FileId> open(const std::string& path, OpenMode mode, uint32_t device, const std::string& final_path);
  // A publish gives the file that name, though it is none of many like it.
  void publish_as(FileId file, const std::string& final_path);
  // Reserves space for the extent; see FileSystem::allocate.
  Status allocate(FileId file, Extent extent);
  // Returns the length of the file as the storage has it now, without what has not been written yet.
  Result<uint64_t> size(FileId file);
  // The path the file was opened by.
  const std::string& path(FileId file) const;

  // Returns true if a request for this file has failed; such a file is never published.
  bool has_failed(FileId file) const { return !files_.at(file).failure.ok(); }
  // Returns the first failure of the file.
  const Status& failure(FileId file) const { return files_.at(file).failure; }

  // How many more requests can be submitted.
  uint32_t room() const { return queue_.room(); }
  // room() > 0. The request's end is told during a later progress(), never from within submit.
  void submit(Request request);

  // Somebody waits for requests, and nobody knows for which: during the next progress() nothing gathers.
  void hurry() { gather_.hurry(); }
  // Somebody waits, or soon would: the scheduler holds nothing back.
  void hurry_schedule() { scheduler_.hurry(); }

  // From now on: whether somebody waits for writes, or soon would. Then they begin whatever the rate is.
  void hurry_transfers(bool somebody_waits) { executor_.pace().hurry(somebody_waits); }
  // The client has ended an iteration, in which it waited for so long: `govern` chooses the pace by it.
  void ended_iteration(uint32_t client, Nanoseconds waited);

  // Moves everything on as far as it goes now.
  void progress();
  // True when every request has ended.
  bool idle() const { return queue_.empty(); }

  // When progress() must be called though nothing else happens; none: it need not. A time that has passed: at once.
  std::optional<Nanoseconds> due() const;

  // The work that the engine has done so far.
  struct Counts {
    Executor::Counts transfers;
    uint64_t accesses = 0;      // that pieces were merged into
    uint64_t merged = 0;        // requests that went together with others
    uint64_t overwritten = 0;   // bytes never written, since a later write of the same client had them
    uint64_t stolen = 0;        // bytes of reads that came from the memory of pending writes
    uint64_t sieved = 0;        // bytes read for nothing: holes between bytes that were wanted
    uint64_t pending_peak = 0;  // the most requests at once that had not ended
    Nanoseconds busy{0};        // time with at least one transfer under way
  };
  Counts counts() const;
  // The lengths of the pieces of requests for one file, and of the accesses that they became, in bytes.
  struct Sizes {
    SizeHistogram before;
    SizeHistogram after;
    uint64_t merged = 0;       // requests that went together with others
    uint64_t overwritten = 0;  // bytes never written, since a later write had them
    uint64_t stolen = 0;       // bytes of reads that came from the memory of pending writes
    uint64_t sieved = 0;       // bytes read for nothing: holes between bytes that were wanted
  };
  // Borrowed until the file is gone.
  const Sizes& sizes(FileId file) const;
  // Files that are opened to be published have theirs in common.
  const Sizes& sizes_of_published() const { return *sizes_of_published_; }
  // Returns true if a transfer puts bytes there that nobody wants: a read went over a hole.
  bool throws_away(const void* memory) const { return executor_.throws_away(memory); }
  // Returns true if transfers are under way.
  bool moving() const { return !executor_.idle(); }
  const Clock& clock() const { return clock_; }

 private:
  struct File {
    FileHandle handle = 0;
    StripeMap stripes;
    std::string path;
    std::string final_path;
    std::unordered_map<uint32_t, uint64_t> written_to;  // by client: where the furthest of its writes so far ends
    Status failure;  // the first one: nothing that depends on the whole file may succeed after it
    std::shared_ptr<Sizes> sizes;
  };

  // How far a request is.
  struct Progress {
    uint32_t parts_left = 0;  // of accesses, while it is being carried out
    bool small = false;       // it may be held back to gather
    Status outcome;           // the first failure among its parts
    Request::Course course;
  };

  File& file(FileId id);
  ExecutionTarget target(FileId id, uint64_t bytes);
  uint64_t written_to(const Access& access);
  void note_written_to(const Request& request);
  void note_cut(const Request& request);
  bool step();
  bool take_ready();
  bool gather_ready(Nanoseconds now);
  bool serve();
  void carry_out(std::span<const Request* const> batch);
  void count_before(const Request& request, std::span<const Piece> carried_out);
  void start_access(Access access);
  void start(const Request& request);
  void finish_access(Executor::Ended& end);
  void note_begun(uint32_t slot, Nanoseconds begun);
  void finish(const Request* request, const Status& status);
  void note_end(RequestQueue::Ended& end);
  Status close_by(const Request& request, File& file);
  void count_busy();

  Storage& storage_;
  Scheduler& scheduler_;
  const Clock& clock_;
  const EngineOptions options_;
  const MergeLimits limits_;
  RequestQueue queue_;
  Gather gather_;
  Executor executor_;
  Governor governor_;
  const std::shared_ptr<Sizes> sizes_of_published_ = std::make_shared<Sizes>();
  FileId next_file_ = 1;
  std::unordered_map<FileId, File> files_;
  std::vector<Progress> under_way_;     // by slot
  std::vector<const Request*> ready_;   // between the queue and gathering
  std::vector<const Request*> served_;  // reads for which no storage is needed
  std::vector<Executor::Ended> ended_;
  std::vector<RequestQueue::Ended> over_;  // between the queue and the sinks
  std::vector<const Request*> gathered_;   // between gathering and the scheduler
  std::vector<const Request*> batch_;
  Counts counts_;  // but for `transfers`, which the executor counts
  bool was_busy_ = false;
  Nanoseconds busy_since_{0};
};

}  // namespace tailrace::impl
