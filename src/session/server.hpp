// Server: the other half of a session. Turns one client's descriptors into requests of the engine, by the format, and
// tells the client how each ended.
//
// Runs wherever the place runs it, on one thread; never waits. Knows the format, place and storage by their ports
// only.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/log.hpp"
#include "engine/engine.hpp"
#include "format/format.hpp"
#include "model/config.hpp"
#include "place/place.hpp"
#include "session/trace.hpp"

namespace tailrace::impl {

class Server final : public RequestSink, public CompletionSink {
 public:
  // All but `client` are borrowed for the life of the server.
  Server(const Config& config, int client, Channel& channel, Engine& engine, Format& format, Log& log,
         TraceLog& trace);

  bool ready() const override;
  void accept(const Descriptor& descriptor) override;
  void progress() override;
  bool idle() const override { return engine_.idle(); }

  void ended(const Request& request, const Status& status) override;

 private:
  enum class Kind { block, read, publication, directory, removal };

  // A verb under way, or a part of one: what to do when its requests have ended.
  struct Work {
    Kind kind = Kind::block;
    Descriptor descriptor;
    uint32_t requests = 0;               // that have not ended
    Request::Course course;              // of all of them together
    Status status;                       // of the first that failed
    std::unique_ptr<FileEnding> ending;  // publication: the bytes being written
    FileNames names;                     // publication: the file
    FileId file = 0;                     // read, directory: opened for this work alone, closed at its end; else 0
    std::string text;                    // removal: the journal's line being written
  };

  // An iteration whose file has not been published or removed.
  struct Iteration {
    bool opened = false;
    FileId file = 0;
    Status failure;                    // why it could not be opened
    bool leaving = false;              // being published or removed: its file must not be used any more
    std::vector<Descriptor> deferred;  // reads that came while it was leaving
  };

  using WorkId = uint64_t;

  void begin_block(const Descriptor& descriptor);
  void begin_read(const Descriptor& descriptor);
  void begin_publication(const Descriptor& descriptor);
  void begin_drop(const Descriptor& descriptor);
  void begin_directory_sync(const Work& publication);
  void note_event(const Descriptor& descriptor);

  Status open_file(int64_t number, Iteration& iteration);
  Status open_journal();
  Request journal_line(Work& work);
  Result<FileId> file_to_read(const Descriptor& descriptor, Work& work, Extent& extent);
  WorkId new_work(Kind kind, const Descriptor& descriptor);
  void submit(WorkId id, Request request);
  void end_work(WorkId id);
  void end_block(const Work& work);
  void measure_block(const Work& work);
  void copy_counts();
  void end_publication(const Work& work);
  void end_verb(const Descriptor& descriptor, const Status& status);
  void leave(int64_t iteration);
  void remember_unpublished(int64_t iteration, const Status& why);
  void answer_flushes();
  Status about(const Status& status, const Descriptor& descriptor) const;

  // Constant after construction.
  const Config& config_;
  const uint32_t client_;
  Channel& channel_;
  Engine& engine_;
  Format& format_;
  Log& log_;
  TraceLog& trace_;

  // The server's thread only.
  WorkId next_work_ = 1;
  std::unordered_map<WorkId, Work> works_;
  std::map<int64_t, Iteration> iterations_;
  std::set<uint64_t> unfinished_;   // sequences of verbs that have not ended
  std::deque<Descriptor> flushes_;  // waiting for all before them
  // Iterations that this client ended without a file, the latest of them, and why: a file under such a name is of an
  // earlier run.
  std::map<int64_t, Status> unpublished_;
  FileId journal_ = 0;  // of dropped iterations; 0 until the first
  uint64_t journal_end_ = 0;
};

}  // namespace tailrace::impl
