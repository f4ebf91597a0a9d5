// Writes: carried where they can be. A write that is carried has ended, for MPI, when its memory may be used again:
// others see its bytes after a sync or the close (MPI 3.1, §13.6.1). So no process waits for another one, and a
// nonblocking write needs no progress.
#include "mpiio/calls/call.hpp"

namespace tailrace::mpiio {
namespace {

// Writes at an explicit offset, in elementary types of the view.
Outcome write_at(MPI_File handle, OpenFile& file, MPI_Offset offset, const void* memory, int count,
                 MPI_Datatype type) {
  const uint64_t begin = static_cast<uint64_t>(offset) * file.view().etype();
  Outcome outcome = file.write(begin, memory, count, type);
  outcome.error = report(handle, outcome.error);
  return outcome;
}

// Writes at the process's own file pointer, and moves it.
Outcome write_next(MPI_File handle, OpenFile& file, const void* memory, int count, MPI_Datatype type) {
  const auto locked = file.lock();  // the pointer, too, is moved by one thread at a time
  MPI_Offset position = 0;
  const int error = TAILRACE_REAL(MPI_File_get_position)(handle, &position);
  if (error != MPI_SUCCESS) return {error, 0};
  const Outcome outcome = write_at(handle, file, position, memory, count, type);
  const auto moved = static_cast<MPI_Offset>(outcome.bytes / file.view().etype());
  TAILRACE_REAL(MPI_File_seek)(handle, position + moved, MPI_SEEK_SET);
  return outcome;
}

// Returns the file if the write is carried. If the MPI has to make it, writes first what is on its way.
OpenFile* carrying(MPI_File handle, int& failed) {
  OpenFile* const file = find(handle);
  if (file == nullptr || file->carries()) return file;
  failed = report(handle, file->drain());
  return nullptr;
}

// ---- requests -------------------------------------------------------------------------------------------------

int query(void* state, MPI_Status* status) {
  const auto& outcome = *static_cast<const Outcome*>(state);
  set_status(status, outcome.bytes);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return outcome.error;
}

int release(void* state) {
  delete static_cast<Outcome*>(state);
  return MPI_SUCCESS;
}

int cancel(void*, int) { return MPI_SUCCESS; }

// Makes a request that has ended: the memory may be used again.
int ended(const Outcome& outcome, MPI_Request* request) {
  const int error = TAILRACE_REAL(MPI_Grequest_start)(query, release, cancel, new Outcome(outcome), request);
  return error != MPI_SUCCESS ? error : TAILRACE_REAL(MPI_Grequest_complete)(*request);
}

}  // namespace
}  // namespace tailrace::mpiio

using namespace tailrace::mpiio;  // NOLINT: the functions of MPI are outside all namespaces

namespace {

int finish(const Outcome& outcome, MPI_Status* status) {
  set_status(status, outcome.bytes);
  return outcome.error;
}

}  // namespace

extern "C" {

int MPI_File_write_at(MPI_File handle, MPI_Offset offset, const void* memory, int count, MPI_Datatype type,
                      MPI_Status* status) {
  int failed = MPI_SUCCESS;
  if (OpenFile* const file = carrying(handle, failed)) {
    return finish(write_at(handle, *file, offset, memory, count, type), status);
  }
  return first_of(failed, TAILRACE_REAL(MPI_File_write_at)(handle, offset, memory, count, type, status));
}

int MPI_File_write_at_all(MPI_File handle, MPI_Offset offset, const void* memory, int count, MPI_Datatype type,
                          MPI_Status* status) {
  int failed = MPI_SUCCESS;
  if (OpenFile* const file = carrying(handle, failed)) {
    return finish(write_at(handle, *file, offset, memory, count, type), status);
  }
  return first_of(failed, TAILRACE_REAL(MPI_File_write_at_all)(handle, offset, memory, count, type, status));
}

int MPI_File_write(MPI_File handle, const void* memory, int count, MPI_Datatype type, MPI_Status* status) {
  int failed = MPI_SUCCESS;
  if (OpenFile* const file = carrying(handle, failed)) {
    return finish(write_next(handle, *file, memory, count, type), status);
  }
  return first_of(failed, TAILRACE_REAL(MPI_File_write)(handle, memory, count, type, status));
}

int MPI_File_write_all(MPI_File handle, const void* memory, int count, MPI_Datatype type, MPI_Status* status) {
  int failed = MPI_SUCCESS;
  if (OpenFile* const file = carrying(handle, failed)) {
    return finish(write_next(handle, *file, memory, count, type), status);
  }
  return first_of(failed, TAILRACE_REAL(MPI_File_write_all)(handle, memory, count, type, status));
}

int MPI_File_iwrite_at(MPI_File handle, MPI_Offset offset, const void* memory, int count, MPI_Datatype type,
                       MPI_Request* request) {
  int failed = MPI_SUCCESS;
  if (OpenFile* const file = carrying(handle, failed)) {
    return ended(write_at(handle, *file, offset, memory, count, type), request);
  }
  return first_of(failed, TAILRACE_REAL(MPI_File_iwrite_at)(handle, offset, memory, count, type, request));
}

int MPI_File_iwrite_at_all(MPI_File handle, MPI_Offset offset, const void* memory, int count, MPI_Datatype type,
                           MPI_Request* request) {
  int failed = MPI_SUCCESS;
  if (OpenFile* const file = carrying(handle, failed)) {
    return ended(write_at(handle, *file, offset, memory, count, type), request);
  }
  return first_of(failed, TAILRACE_REAL(MPI_File_iwrite_at_all)(handle, offset, memory, count, type, request));
}

int MPI_File_iwrite(MPI_File handle, const void* memory, int count, MPI_Datatype type, MPI_Request* request) {
  int failed = MPI_SUCCESS;
  if (OpenFile* const file = carrying(handle, failed)) {
    return ended(write_next(handle, *file, memory, count, type), request);
  }
  return first_of(failed, TAILRACE_REAL(MPI_File_iwrite)(handle, memory, count, type, request));
}

int MPI_File_iwrite_all(MPI_File handle, const void* memory, int count, MPI_Datatype type, MPI_Request* request) {
  int failed = MPI_SUCCESS;
  if (OpenFile* const file = carrying(handle, failed)) {
    return ended(write_next(handle, *file, memory, count, type), request);
  }
  return first_of(failed, TAILRACE_REAL(MPI_File_iwrite_all)(handle, memory, count, type, request));
}

int MPI_File_write_at_all_begin(MPI_File handle, MPI_Offset offset, const void* memory, int count,
                                MPI_Datatype type) {
  int failed = MPI_SUCCESS;
  if (OpenFile* const file = carrying(handle, failed)) {
    file->split = write_at(handle, *file, offset, memory, count, type);
    file->splits = true;
    return file->split.error;
  }
  return first_of(failed, TAILRACE_REAL(MPI_File_write_at_all_begin)(handle, offset, memory, count, type));
}

int MPI_File_write_at_all_end(MPI_File handle, const void* memory, MPI_Status* status) {
  OpenFile* const file = find(handle);
  if (file != nullptr && std::exchange(file->splits, false)) return finish(file->split, status);
  return TAILRACE_REAL(MPI_File_write_at_all_end)(handle, memory, status);
}

int MPI_File_write_all_begin(MPI_File handle, const void* memory, int count, MPI_Datatype type) {
  int failed = MPI_SUCCESS;
  if (OpenFile* const file = carrying(handle, failed)) {
    file->split = write_next(handle, *file, memory, count, type);
    file->splits = true;
    return file->split.error;
  }
  return first_of(failed, TAILRACE_REAL(MPI_File_write_all_begin)(handle, memory, count, type));
}

int MPI_File_write_all_end(MPI_File handle, const void* memory, MPI_Status* status) {
  OpenFile* const file = find(handle);
  if (file != nullptr && std::exchange(file->splits, false)) return finish(file->split, status);
  return TAILRACE_REAL(MPI_File_write_all_end)(handle, memory, status);
}

}  // extern "C"

TAILRACE_ALSO_PMPI(File_write_at);
TAILRACE_ALSO_PMPI(File_write_at_all);
TAILRACE_ALSO_PMPI(File_write);
TAILRACE_ALSO_PMPI(File_write_all);
TAILRACE_ALSO_PMPI(File_iwrite_at);
TAILRACE_ALSO_PMPI(File_iwrite_at_all);
TAILRACE_ALSO_PMPI(File_iwrite);
TAILRACE_ALSO_PMPI(File_iwrite_all);
TAILRACE_ALSO_PMPI(File_write_at_all_begin);
TAILRACE_ALSO_PMPI(File_write_at_all_end);
TAILRACE_ALSO_PMPI(File_write_all_begin);
TAILRACE_ALSO_PMPI(File_write_all_end);
