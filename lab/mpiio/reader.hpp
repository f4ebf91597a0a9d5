// Reader: the calls that read what a Writer has written, by read_all, or by read_at_all where the Writer gives
// offsets; or by the nonblocking forms of these.
#pragma once

#include <vector>

#include "lab/mpiio/access.hpp"
#include "lab/mpiio/options.hpp"

namespace bench::mpiio {

class Reader {
 public:
  // `access` must outlive it. `call`: of the Writer.
  Reader(MPI_File file, const Access& access, Call call) : file_(file), access_(access) {
    at_ = call == Call::write_at || call == Call::write_at_all || call == Call::iwrite_at ||
          call == Call::iwrite_at_all || call == Call::write_at_all_begin;
    int size = 0;
    MPI_Type_size(access.etype, &size);
    call_etypes_ = static_cast<MPI_Offset>(access.call_bytes) / size;
  }

  // Begins to read an iteration by the nonblocking calls; they come in order.
  void begin(int iteration, char* memory) {
    for (int call = 0; call < access_.calls; ++call) {
      char* const to = memory + static_cast<uint64_t>(call) * access_.memory_step;
      const MPI_Offset offset = (MPI_Offset{iteration} * access_.calls + call) * call_etypes_;
      const MPI_Datatype type = access_.memory.get();
      MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
      if (at_) {
        check(MPI_File_iread_at_all(file_, offset, to, access_.count, type, &request), "iread_at_all");
      } else {
        check(MPI_File_iread_all(file_, to, access_.count, type, &request), "iread_all");
      }
    }
  }
  // Calls MPI_Test for these calls.
  void test() {
    int done = 0;
    for (MPI_Request& request : requests_) check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  }
  // Waits for them.
  void end() {
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    requests_.clear();
  }

  // Reads an iteration; they come in order.
  void read(int iteration, char* memory) {
    for (int call = 0; call < access_.calls; ++call) {
      char* const to = memory + static_cast<uint64_t>(call) * access_.memory_step;
      const MPI_Offset offset = (MPI_Offset{iteration} * access_.calls + call) * call_etypes_;
      const MPI_Datatype type = access_.memory.get();
      if (at_) {
        check(MPI_File_read_at_all(file_, offset, to, access_.count, type, MPI_STATUS_IGNORE), "read_at_all");
      } else {
        check(MPI_File_read_all(file_, to, access_.count, type, MPI_STATUS_IGNORE), "read_all");
      }
    }
  }

 private:
  MPI_File file_;
  const Access& access_;
  bool at_ = false;
  MPI_Offset call_etypes_ = 0;  // etypes of a call
  std::vector<MPI_Request> requests_;
};

}  // namespace bench::mpiio
