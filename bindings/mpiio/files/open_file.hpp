// OpenFile: an open file of MPI-IO whose writes are carried, and whose blocking reads are made here.
//
// Any thread may call; a caller that makes several calls as one holds lock() meanwhile.
//
// The MPI has the file open, too. It does everything else, after what is on its way has been written. The individual
// file pointer is kept here, and the MPI's is not used: MPICH 4.0's is wrong in some views.
//
// A process hands its own bytes over. In a collective write, the processes may instead exchange bytes first, so that
// aggregators write larger pieces (src/collective). Then the write ends when the bytes are in the file: no process
// could wait for its own bytes later, since another process writes them. In a collective read, aggregators may read
// larger pieces in the same way.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mpiio/buffer/node_writes.hpp"
#include "mpiio/collective/group.hpp"
#include "mpiio/collective/memory_data.hpp"
#include "mpiio/files/aggregated_write.hpp"
#include "mpiio/files/collectives.hpp"
#include "mpiio/files/obstacle.hpp"
#include "mpiio/mpi/mpi_header.hpp"
#include "mpiio/process/process.hpp"
#include "mpiio/transfer/output.hpp"
#include "mpiio/transfer/own_descriptor.hpp"
#include "mpiio/transfer/own_reads.hpp"
#include "mpiio/types/view.hpp"

namespace tailrace::mpiio {

// A write or a read that has begun.
struct Begun {
  Outcome outcome;
  std::shared_ptr<BackgroundAccess> in_background = nullptr;  // null: it has ended

  uint64_t bytes() const { return in_background != nullptr ? in_background->bytes() : outcome.bytes; }
};

class OpenFile {
 public:
  // Mode: the accesses that the program may make.
  struct Mode {
    bool reads = true;
    bool writes = true;
  };

  // `path` is absolute, without symbolic links.
  OpenFile(MPI_File handle, std::string path, Mode mode, std::shared_ptr<const Group> group, MPI_Info hints);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // All processes call these four together: a collective write must be carried by all, or by none.
  //
  // open() waits for others only if exchanges go on in the background, or if the MPI has not opened the file in this
  // process: then it agrees at once. `mine`: why this process cannot carry the file, if it knows a reason.
  // `position`: of the MPI's individual pointer.
  void open(Obstacle mine, MPI_Offset position);
  // Learns what the others know: call it before all else that all processes do together with the file. It waits for
  // no process that has come back from its open.
  void agree();
  // Sets the view, after the MPI has accepted it. A view with another data representation than `native`, or of a type
  // that is not known, is not carried.
  void set_view(uint64_t displacement, MPI_Datatype etype, MPI_Datatype filetype, const char* representation,
                MPI_Info hints);
  void change_hints(MPI_Info hints);
  Collectives& collectives() {
    agree();
    return collectives_;
  }
  std::unique_lock<std::recursive_mutex> lock() { return std::unique_lock(mutex_); }

  // While accesses are atomic, nothing is carried.
  void set_atomic(bool atomic);
  // Return true if a write may be carried, or a read be made, now. If not, drain() and let the MPI do it.
  bool carries() { return mode_.writes && known_view_ && !atomic_; }
  bool reads() { return mode_.reads && known_view_ && !atomic_; }
  // These are for collective accesses.
  bool carries_all() {
    agree();
    return carries();
  }
  bool reads_all() {
    agree();
    return reads();
  }

  const View& view() const { return view_; }
  // Returns true if the individual file pointer is here. If not, the MPI has it: the view is not known.
  bool has_pointer() const { return known_view_; }
  // The pointer, in elementary types of the view. Callers hold lock() from one to the other.
  MPI_Offset position() const { return position_; }
  void set_position(MPI_Offset position) { position_ = position; }
  // Writes `count` elements of the type at `memory` to the data from byte `begin` of the view on. Returns when the
  // memory may be used again. All processes call write_all() together. `access`: the number of the collective write
  // of which this is the process's own part, by `use`; 0: none.
  Outcome write(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type, uint64_t access = 0,
                NodeWrites::Use use = NodeWrites::Use::none);
  Outcome write_all(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type);
  // Begins a collective write, and waits for no other process. All processes call it together.
  Begun begin_write_all(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type);
  // Reads into `count` elements of the type at `memory` the data from byte `begin` of the view on. The outcome has
  // fewer bytes if the file ends before. All processes call read_all() together.
  Outcome read(uint64_t begin, void* memory, int64_t count, MPI_Datatype type);
  Outcome read_all(uint64_t begin, void* memory, int64_t count, MPI_Datatype type);
  // Begins a read, and waits for no other process, nor until anything is written. `together`: all processes call it
  // together.
  Begun begin_read(uint64_t begin, void* memory, int64_t count, MPI_Datatype type, bool together);
  // Waits until everything is written that this process has on its way. Returns the first failure of an earlier write
  // as an error.
  int drain();
  // Waits until everything of the file is written that other processes of the node have on their way.
  void wait_for_others();
  // Lets later reads see what other nodes have written.
  void refresh();
  // Keeps an error that no call has returned, for the next one.
  void keep(int error) { unreported_ = error; }

  // An access that has begun, for the call that ends it (MPI_File_write_all_end). A file has one at a time.
  std::optional<Begun> split;

 private:
  // Opening, Viewing: the processes exchange them when they open the file, or set a view.
  struct Opening {
    Obstacle obstacle;
    Collectives::Member member;
    FileKey file;       // of the own descriptor
    bool has_mpis_too;  // the MPI has that file open in the process
  };
  struct Viewing {
    Obstacle obstacle;
    Choices choices;
    collective::Contribution two_copies;
  };

  static void refuse_renamed(std::vector<Opening>& all);
  void follow_choices();
  Outcome write_all_now(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type);
  std::shared_ptr<AggregatedWrite> begin_exchange(uint64_t begin, const void* memory, int64_t count,
                                                  MPI_Datatype type, bool in_background, int& error);
  Outcome write_own(const MemoryData& data, uint64_t access, NodeWrites::Use use);
  Outcome read_own(MemorySpace& space);
  Outcome ended(const collective::Source::End& end) const;

  static constexpr uint64_t kAtOnce = 4 << 20;  // bytes gathered, or whose places are listed, at once

  const MPI_File handle_;
  const Mode mode_;
  OwnDescriptor own_;
  Output output_;

  // Changed by calls that all processes make together, while no other call uses the file.
  Collectives collectives_;
  NodeWrites node_writes_;
  View view_;
  bool known_view_ = true;         // if not, the MPI does everything
  bool is_obstructed_ = false;     // no view can be known
  std::vector<Opening> openings_;  // by process, until agree()
  int not_opened_ = 0;             // why this process could not open the file; else 0
  MPI_Request gathering_ = MPI_REQUEST_NULL;
  bool atomic_ = false;

  std::atomic<int> unreported_{MPI_SUCCESS};  // an error for the next call

  std::recursive_mutex mutex_;  // guards all below
  MPI_Offset position_ = 0;
  OwnReads reads_;
  std::vector<std::byte> packed_;  // data that lay apart in memory; at most kAtOnce

  std::mutex background_;  // held in each step of a read in the background; guards all below
  OwnReads background_reads_;
};

// Waits for the end of an access. Returns how it has ended.
Outcome finish(BackgroundAccess& access);

}  // namespace tailrace::mpiio
