// Reader: the calls that read what a Writer has written, by read_all, or by read_at_all where the Writer gives
// offsets.
#pragma once

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
};

}  // namespace bench::mpiio
