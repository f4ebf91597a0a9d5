// Departures: carries iterations out of their group. Publishes the files of an iteration by the format's plan, and
// completes those that other nodes wrote, too; or removes them, and writes that into the journal; or only closes
// them. Then it tells the members and the witness.
//
// The group decides when an iteration leaves. Runs on the server's thread; never waits.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "engine/engine.hpp"
#include "format/format.hpp"
#include "model/config/settings.hpp"
#include "publish/batches.hpp"
#include "publish/drop_journal.hpp"
#include "publish/iteration_files.hpp"
#include "publish/iterations.hpp"
#include "publish/publisher.hpp"
#include "publish/witness.hpp"

namespace tailrace::impl {

class Departures {
 public:
  // The parts of the group that this uses.
  struct Parts {
    const StorageSettings& storage;
    Engine& engine;
    Format& format;
    Log& log;
    Witness& witness;
    const GroupClients& clients;
    Iterations& iterations;
    IterationFiles& files;
  };

  // Most requests of the engine that begin() makes.
  static constexpr uint32_t kRequestsAtOnce = Publisher::kRequestsAtOnce + 3;
  static_assert(kRequestsAtOnce > Format::kMostFiles + 1, "it removes all files of an iteration, and writes a line");

  // Borrows `parts`. `journal` lists dropped iterations.
  Departures(const Parts& parts, OnMissing on_missing, DropJournal journal);

  // Publishes, removes or closes the iteration, as it is marked. REQUIRES: the engine has room, and nothing holds it.
  void begin(int64_t iteration);
  // Begins work that had to wait for room in the engine. Returns true if it began any.
  bool progress() { return publisher_.progress(); }
  bool idle() const { return batches_.idle() && publisher_.idle(); }

  // Completes a publication: an earlier server has renamed the iteration's file, and perhaps not made the name
  // durable.
  void complete_publication(int64_t iteration);
  // Returns true while such a name is not yet durable.
  bool completing() const { return completing_ > 0; }

 private:
  // Gets how it ended; `visible`: the file has its name, or other nodes are still to come.
  using Completed = std::function<void(Batches::End how, bool visible)>;

  void publish(int64_t number, Iteration& iteration);
  void remove(int64_t number, Iteration& iteration);
  void close(int64_t number, Iteration& iteration);
  Status doubt(int64_t number) const;
  void end_continued(int64_t number, Batches::End how, const Completed& then);
  void complete(int64_t number, const Completed& then);
  void then_if_completed(int64_t number, const Batches::End& how, const Completed& then);
  void complete_again(int64_t number);
  void note_missing(int64_t number, const Iteration& iteration);
  Status kept_for_absent(const FileNames& names) const;
  void end_unwritten(int64_t number, const Status& why, const Request::Course& course);
  void end_kept(int64_t number, const Status& why, const Request::Course& course);
  void depart(int64_t number, const Departure& how);
  void tell_all(const Status& failure) const;

  // Constant after construction.
  const Parts parts_;
  const OnMissing on_missing_;

  // Used by the server's thread only.
  Batches batches_;
  Publisher publisher_;
  DropJournal journal_;
  std::set<int> told_missing_;  // clients that have gone, about which the others were informed
  size_t completing_ = 0;       // number of iterations of complete_publication() whose names are not durable yet
};

}  // namespace tailrace::impl
