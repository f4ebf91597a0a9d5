#include "lab/mpiio/writer.hpp"

namespace bench::mpiio {

Writer::Writer(MPI_File file, const Access& access, Call call) : file_(file), access_(access), call_(call) {
  int size = 0;
  MPI_Type_size(access.etype, &size);
  call_etypes_ = static_cast<MPI_Offset>(access.call_bytes) / size;
}

void Writer::begin(int iteration, const char* memory) {
  for (int call = 0; call < access_.calls; ++call) {
    const MPI_Offset before = MPI_Offset{iteration} * access_.calls + call;
    put(before * call_etypes_, memory + static_cast<uint64_t>(call) * access_.memory_step);
  }
}

void Writer::put(MPI_Offset offset, const char* memory) {
  const int count = access_.count;
  MPI_Datatype type = access_.memory.get();
  MPI_Request request = MPI_REQUEST_NULL;
  int error = MPI_SUCCESS;
  end_split();  // only one may be under way
  switch (call_) {
    case Call::write: error = MPI_File_write(file_, memory, count, type, MPI_STATUS_IGNORE); break;
    case Call::write_all: error = MPI_File_write_all(file_, memory, count, type, MPI_STATUS_IGNORE); break;
    case Call::write_at: error = MPI_File_write_at(file_, offset, memory, count, type, MPI_STATUS_IGNORE); break;
    case Call::write_at_all:
      error = MPI_File_write_at_all(file_, offset, memory, count, type, MPI_STATUS_IGNORE);
      break;
    case Call::iwrite: error = MPI_File_iwrite(file_, memory, count, type, &request); break;
    case Call::iwrite_all: error = MPI_File_iwrite_all(file_, memory, count, type, &request); break;
    case Call::iwrite_at: error = MPI_File_iwrite_at(file_, offset, memory, count, type, &request); break;
    case Call::iwrite_at_all: error = MPI_File_iwrite_at_all(file_, offset, memory, count, type, &request); break;
    case Call::write_all_begin: error = MPI_File_write_all_begin(file_, memory, count, type); break;
    case Call::write_at_all_begin: error = MPI_File_write_at_all_begin(file_, offset, memory, count, type); break;
  }
  check(error, name_of(call_));
  if (request != MPI_REQUEST_NULL) requests_.push_back(request);
  if (call_ == Call::write_all_begin || call_ == Call::write_at_all_begin) split_ = memory;
}

void Writer::end_split() {
  if (split_ == nullptr) return;
  if (call_ == Call::write_all_begin) {
    check(MPI_File_write_all_end(file_, split_, MPI_STATUS_IGNORE), "write_all_end");
  } else {
    check(MPI_File_write_at_all_end(file_, split_, MPI_STATUS_IGNORE), "write_at_all_end");
  }
  split_ = nullptr;
}

void Writer::test() {
  int done = 0;
  for (MPI_Request& request : requests_) check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
}

void Writer::end() {
  end_split();
  if (requests_.empty()) return;
  check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  requests_.clear();
}

}  // namespace bench::mpiio
