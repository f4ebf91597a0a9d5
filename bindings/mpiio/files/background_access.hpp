// BackgroundAccess: a write or a read that goes on when the call that began it has returned. The memory of the data
// belongs to it until it has ended.
#pragma once

#include <cstdint>

#include "mpiio/mpi/mpi_header.hpp"

namespace tailrace::mpiio {

// The end of an access: an error of MPI, or MPI_SUCCESS; and how many bytes it has transferred.
struct Outcome {
  int error = MPI_SUCCESS;
  uint64_t bytes = 0;
};

class BackgroundAccess {
 public:
  BackgroundAccess() = default;
  virtual ~BackgroundAccess() = default;
  BackgroundAccess(const BackgroundAccess&) = delete;
  BackgroundAccess& operator=(const BackgroundAccess&) = delete;

  // Continues it, and waits for nothing. Returns true if anything has happened.
  virtual bool progress() = 0;
  virtual bool has_ended() const = 0;
  // Returns false if it goes on without progress().
  virtual bool needs_progress() const = 0;
  // Requires that it has ended.
  virtual Outcome outcome() const = 0;
  // Returns how many bytes it was asked to transfer.
  virtual uint64_t bytes() const = 0;
};

}  // namespace tailrace::mpiio
