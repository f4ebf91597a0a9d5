// Writer: the calls that write an iteration, by one of MPI's functions.
#pragma once

#include <vector>

#include "lab/mpiio/access.hpp"
#include "lab/mpiio/options.hpp"

namespace bench::mpiio {

class Writer {
 public:
  // Both must outlive it.
  Writer(MPI_File file, const Access& access, Call call);

  // Begins an iteration's calls, and ends them if they block. `memory` must stay as it is until end().
  void begin(int iteration, const char* memory);

  // Calls MPI_Test for the calls that have begun.
  void test();
  // Waits for them.
  void end();

 private:
  void put(MPI_Offset offset, const char* memory);
  void end_split();

  MPI_File file_;
  const Access& access_;
  const Call call_;
  MPI_Offset call_etypes_;  // etypes of a call
  std::vector<MPI_Request> requests_;
  const char* split_ = nullptr;  // memory of a split call that has begun
};

}  // namespace bench::mpiio
