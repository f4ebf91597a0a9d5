// OpenFile: an open file of MPI-IO whose writes are carried.
//
// Any thread may call; a caller that makes several calls as one holds lock() meanwhile.
//
// The MPI has the file open, too. It makes all reads and everything else that is not a write, after what is on its
// way has been written. The file pointers are the MPI's: a carried write moves them by MPI_File_seek.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "mpiio/files/process.hpp"
#include "mpiio/files/view.hpp"
#include "mpiio/mpi/mpi_header.hpp"

namespace tailrace::mpiio {

// The end of a call: an error of MPI, or MPI_SUCCESS; and how many bytes it has transferred.
struct Outcome {
  int error = MPI_SUCCESS;
  uint64_t bytes = 0;
};

class OpenFile {
 public:
  // `path` is absolute, without symbolic links; "": the file cannot be carried. `comm` is a communicator of its own,
  // which it frees.
  OpenFile(std::string path, MPI_Comm comm) : path_(std::move(path)), comm_(comm) {}
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // All processes call these two together, and get the same answer: a write of all must be carried by all, or by
  // none. open() returns false if the file cannot be carried.
  bool open();
  // Sets the view, after the MPI has accepted it. A view with another data representation than `native`, or of a type
  // that is not known, is not carried.
  void set_view(uint64_t displacement, MPI_Datatype etype, MPI_Datatype filetype, const char* representation);
  std::unique_lock<std::recursive_mutex> lock() { return std::unique_lock(mutex_); }

  // While accesses are atomic, nothing is carried.
  void set_atomic(bool atomic) { atomic_ = atomic; }
  // Returns true if a write may be carried now. If not, drain() and let the MPI write.
  bool carries() const { return known_view_ && !atomic_; }

  const View& view() const { return view_; }
  // Writes `count` elements of the type at `memory` to the data from byte `begin` of the view on. Returns when the
  // memory may be used again.
  Outcome write(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type);
  // Waits until everything is written. Returns the first failure of an earlier write as an error.
  int drain();
  // Waits for all processes that have opened the file.
  void meet() const;

  // A write that has begun, for the call that ends it (MPI_File_write_all_end). A file has one at a time.
  Outcome split = {};
  bool splits = false;

 private:
  bool agree(bool mine) const;
  Outcome write_run(uint64_t begin, std::span<const std::byte> data);
  Outcome write_pieces(uint64_t begin, const std::byte* memory, uint64_t bytes, const FlatType& type);
  int hand_over(uint64_t begin, std::span<const std::byte> data);
  int failure();
  static int report(const std::string& message, int system_errno);

  static constexpr uint64_t kAtOnce = 4 << 20;  // bytes gathered, or whose places are listed, at once

  const std::string path_;
  MPI_Comm comm_;

  // Changed by calls that all processes make together, while no other call uses the file.
  View view_;
  bool known_view_ = true;
  bool atomic_ = false;
  bool open_ = false;
  tailrace_file raw_{};

  std::recursive_mutex mutex_;     // guards all below
  bool pending_ = false;           // something may be on its way
  std::vector<std::byte> packed_;  // data that lay apart in memory; at most kAtOnce
};

}  // namespace tailrace::mpiio
