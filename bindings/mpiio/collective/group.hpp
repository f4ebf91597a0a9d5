// Group: the processes that have a file open, and a communicator for what the library itself exchanges with them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "mpiio/mpi/mpi_header.hpp"
#include "mpiio/mpi/real_mpi.hpp"

namespace tailrace::mpiio {

// Returns true if any thread may call MPI at any time: the program has asked for MPI_THREAD_MULTIPLE, and got it.
bool any_thread_may_call();

class Group {
 public:
  // All processes of `comm` call together, before the program may free it. Files that are opened by one communicator
  // have a group in common, since to make a communicator takes the processes as long as a few other calls of a file.
  // (If threads may use files at one time, each file has its own.)
  static std::shared_ptr<const Group> of(MPI_Comm comm);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

  // Returns another number each time: all processes get equal ones, if they call in the same order.
  uint32_t next_number() const { return number_.fetch_add(1, std::memory_order_relaxed); }
  // Returns what all processes have, by rank. All call together.
  template <class Item>
  std::vector<Item> gather(const Item& mine) const {
    static_assert(std::is_trivially_copyable_v<Item>);
    std::vector<Item> all(static_cast<size_t>(size_), mine);
    if (size_ > 1) {
      TAILRACE_REAL(MPI_Allgather)(&mine, sizeof(Item), MPI_BYTE, all.data(), sizeof(Item), MPI_BYTE, comm_);
    }
    return all;
  }
  // Does it without waiting: `all`, with the own item in its place, is complete when the request has ended.
  template <class Item>
  void begin_gather(std::vector<Item>& all, MPI_Request* request) const {
    static_assert(std::is_trivially_copyable_v<Item>);
    if (size_ == 1) return;
    TAILRACE_REAL(MPI_Iallgather)
    (MPI_IN_PLACE, 0, MPI_BYTE, all.data(), sizeof(Item), MPI_BYTE, comm_, request);
  }

 private:
  explicit Group(MPI_Comm comm);

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  mutable std::atomic<uint32_t> number_ = 0;
};

}  // namespace tailrace::mpiio
