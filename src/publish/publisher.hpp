// Publisher: carries out a format's PublicationPlan, run by run, and for `durable` makes the new names durable.
//
// A run begins when all before it has ended; a file gets its name when everything of it has ended, and nobody doubts
// it. What fails ends the publication: the files that have no name yet are closed, and stay as they are. The server's
// thread; never waits.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "format/format.hpp"
#include "model/config.hpp"
#include "publish/batches.hpp"
#include "publish/publication.hpp"

namespace tailrace::impl {

// A file of an iteration on its way to its name.
struct LeavingFile {
  FileNames names;
  FileId file = 0;
  bool open = true;  // in the engine
};

struct Publication {
  PublicationPlan plan;
  std::vector<LeavingFile> files;  // by the numbers that the plan has
  FileEnd end = FileEnd::published;
  uint64_t phase = 0;  // of its requests, see Request
  // Asked before each file gets its name, when everything before that has ended: why nothing of the iteration is to
  // be believed; ok: it is.
  std::function<Status()> doubt = [] { return Status(); };
};

class Publisher {
 public:
  struct End {
    Batches::End how;
    bool visible = false;  // every step has been done; if `how` failed all the same, the names may not be durable
  };
  using Then = std::function<void(const End& end)>;

  // Requests of the engine that a call of publish() or a step of progress() makes at most.
  static constexpr uint32_t kRequestsAtOnce = kRequestsOfRun;

  // All outlive this.
  Publisher(const Config& config, Engine& engine, Batches& batches)
      : config_(config), engine_(engine), batches_(batches) {}

  // The engine has room. Calls `then` once, when it has ended.
  void publish(Publication publication, Then then);
  // Opens the directories, makes the names in them durable, and closes them.
  struct Directory {
    std::string path;
    uint32_t device = 0;
  };
  void sync_names(const std::vector<Directory>& directories, Batches::Then then);
  // Begins runs for which there was no room. Returns true if there were some.
  bool progress();
  bool idle() const { return waiting_.empty(); }  // but for what the batches have

 private:
  struct Work {
    Publication of;
    size_t done = 0;  // steps
    Batches::End how;
    Then then;
  };
  using WorkPointer = std::shared_ptr<Work>;

  void go_on(const WorkPointer& work);
  void run(const WorkPointer& work);
  void end_run(const WorkPointer& work, size_t steps, const Batches::End& end);
  void give_up(const WorkPointer& work);

  // Constant after construction.
  const Config& config_;
  Engine& engine_;
  Batches& batches_;
  // The server's thread only.
  std::deque<WorkPointer> waiting_;  // for room in the engine
};

}  // namespace tailrace::impl
