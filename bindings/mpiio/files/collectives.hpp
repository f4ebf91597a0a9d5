// Collectives: how the collective accesses of an open file are made: each process makes its own part; or their pieces
// meet in a buffer that the processes of a node share; or the processes exchange data by MPI, and aggregators make
// larger parts for all.
//
// In a buffer of the node, no process waits for another one, and no call of MPI is needed. Reads of processes that
// share a page cache meet there. All processes call together, with what all of them have told each other, so all
// decide alike.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collective/tune/tuning.hpp"
#include "mpiio/collective/group.hpp"
#include "mpiio/collective/hints.hpp"
#include "mpiio/files/aggregated_write.hpp"
#include "mpiio/types/view.hpp"

namespace tailrace::mpiio {

class Collectives {
 public:
  // Member: what the processes tell each other about themselves.
  struct Member {
    uint64_t node;             // a number of the node
    uint64_t number;           // random
    bool shares_cache;         // see OwnDescriptor
    bool any_thread_may_call;  // MPI
    bool may_share_buffer;     // of a node
    Choices choices;
  };

  Collectives(std::shared_ptr<const Group> group, const Choices& choices);
  ~Collectives();
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  const Group& group() const { return *group_; }
  Member own(bool shares_cache) const;
  // Returns what a write of two copies of the view's pattern would bring: it shows whether the processes' data may be
  // small and interleaved. Each access decides by what it has.
  static collective::Contribution two_copies(const View& view);

  // Learn what the processes have told each other, by rank. MPI lets them pass different hints: those of the first
  // one are in force.
  void meet(const std::vector<Member>& all, const View& view);
  void set_choices(const Choices& choices);
  void set_view(std::vector<collective::Contribution> two_copies, const Choices& choices);

  // Returns the user's choices.
  const Choices& choices() const { return asked_; }
  const std::vector<int>& nodes() const { return all_.nodes; }
  // Kind: whether a write waits for its end. Trials choose the options of blocking writes alone; nonblocking ones
  // have those that the user has asked for.
  enum class Kind : uint8_t { blocking, nonblocking };
  // Returns true if the bytes of such writes in the view are to meet in a buffer of the node (NodeWrites), whose
  // writes begin behind the number last_write().
  bool uses_node_buffer(Kind kind) const;
  uint64_t last_write() const { return writes_; }
  // Return true if accesses in the view may go through aggregators: writes, writes in the background, reads, reads in
  // the background.
  bool aggregates_writes() const { return aggregates_; }
  bool aggregates_in_background() const;
  bool aggregates_reads() const { return aggregates_reads_; }
  bool aggregates_reads_in_background() const { return aggregates_reads_ && has_progress_thread_; }

  // Begins to find options by trials, or uses those that are known, if the user asked for that, and an exchange may
  // help in the view. All processes call it together, after the view has been set. `path`: of the file.
  void tune(const std::string& path);
  // Returns true if the next blocking write may belong to a trial. Then begin_trial() is called before it. It returns
  // false if no process has bytes to write: that would show nothing. Else end_trial() is called after the write, with
  // the seconds between. A trial with a write that has failed in any process is made again. The last write of a trial
  // has ended when its bytes are on the device.
  bool is_trial() const { return tuning_.has_value() && !tuning_->has_ended(); }
  bool is_last_of_trial() const { return tuning_->next_ends_trial(); }
  bool begin_trial(bool has_bytes);
  void end_trial(double seconds, bool has_failed);

  // Returns the number of a collective write that begins: the same one in all processes, and in no other opening.
  uint64_t next_write();
  // Begins a write through aggregators; never waits. One in the background is not left to the processes.
  std::shared_ptr<AggregatedWrite> begin(Output& output, MemoryData data, bool in_background);
  // Returns the messages of an access through aggregators that begins.
  std::pair<MPI_Comm, uint32_t> next_exchange();

 private:
  void choose_aggregation();
  void use(const collective::Options& writes);
  void tell_tuned(const char* how) const;
  std::string pattern(const std::string& path) const;

  const std::shared_ptr<const Group> group_;
  Choices asked_;
  AggregatedWrite::Processes all_;  // with the choices in force
  std::optional<collective::Tuning> tuning_;
  std::string tuned_;                                 // the path of the file
  std::string pattern_;                               // that is being tried, in the first process
  std::vector<collective::Contribution> two_copies_;  // of the view's pattern, by process
  bool share_cache_ = false;                          // all processes have one page cache of the file
  bool may_share_buffer_ = false;                     // all processes may, and are on one node
  bool has_progress_thread_ = false;                  // each process has one, for exchanges
  bool aggregates_ = false;                           // blocking writes; without trials, nonblocking ones, too
  bool aggregates_as_asked_ = false;                  // nonblocking writes
  bool aggregates_reads_ = false;
  bool has_own_comm_ = false;  // for exchanges; else it uses the group's
  uint32_t exchanges_ = 0;     // in its own
  uint64_t writes_ = 0;        // number of the latest one
};

}  // namespace tailrace::mpiio
