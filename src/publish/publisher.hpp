// Publisher: carries out a format's PublicationPlan, run by run, and for `durable` makes the new names durable.
//
// A run begins when all runs before it have ended. A step that shows the iteration is made when all requests before
// it have ended and `doubt` returns ok. A failure ends the publication: the files that are open are closed, and stay
// as they are. Runs on the server's thread; never waits.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "format/format.hpp"
#include "model/config/settings.hpp"
#include "publish/batches.hpp"
#include "publish/publication.hpp"

namespace tailrace::impl {

// A file of an iteration that is being published.
struct LeavingFile {
  FileNames names;
  FileId file = 0;
  bool open = true;  // in the engine
};

struct Publication {
  PublicationPlan plan;
  std::vector<LeavingFile> files;  // by the plan's numbers
  FileEnd end = FileEnd::published;
  uint64_t phase = 0;      // of the requests, see Request
  bool must_open = false;  // fails if a file cannot be opened, even if there is nothing to write into it
  // Called before each step that shows the iteration, when all earlier requests have ended. Returns why the iteration
  // must not be published, or ok.
  std::function<Status()> doubt = [] { return Status(); };
};

class Publisher {
 public:
  struct End {
    Batches::End how;
    bool visible = false;  // every step is done; if `how` is a failure nevertheless, the names may not be durable
  };
  using Then = std::function<void(const End& end)>;

  // Most requests of the engine that a call of publish() or a step of progress() makes.
  static constexpr uint32_t kRequestsAtOnce = kRequestsOfRun;

  // All arguments must outlive this.
  Publisher(const StorageSettings& storage, Engine& engine, Batches& batches)
      : storage_(storage), engine_(engine), batches_(batches) {}

  // Calls `then` once, when it has ended. REQUIRES: the engine has room.
  void publish(Publication publication, Then then);
  // Does the same, as soon as the engine has room.
  void publish_when_free(Publication publication, Then then);
  // A directory or a file; sync() opens them, makes the names or the bytes in them durable, and closes them.
  struct Synced {
    std::string path;
    uint32_t device = 0;
    OpenMode mode = OpenMode::directory;

    auto operator<=>(const Synced&) const = default;
  };
  void sync(const std::vector<Synced>& all, Batches::Then then);
  // Begins runs for which there was no room. Returns true if there were any.
  bool progress();
  bool idle() const { return waiting_.empty(); }  // does not count the batches' work

 private:
  struct Work {
    Publication of;
    size_t done = 0;  // steps done
    Batches::End how;
    Then then;
  };
  using WorkPointer = std::shared_ptr<Work>;

  void go_on(const WorkPointer& work);
  void run(const WorkPointer& work);
  void end_run(const WorkPointer& work, size_t steps, const Batches::End& end);
  void give_up(const WorkPointer& work);

  // Constant after construction.
  const StorageSettings& storage_;
  Engine& engine_;
  Batches& batches_;
  // Used by the server's thread only.
  std::deque<WorkPointer> waiting_;  // works that wait for room in the engine
  std::set<Synced> not_durable_;     // directories with new names that could not be made durable
};

}  // namespace tailrace::impl
