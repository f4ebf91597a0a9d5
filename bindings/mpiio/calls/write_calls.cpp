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

// Returns the file if the write is carried. If the MPI has to make it, or to refuse it, writes first what is on its
// way.
OpenFile* carrying(MPI_File handle, MPI_Offset offset, int count, MPI_Datatype type, int& failed) {
  OpenFile* const file = find(handle);
  const bool good = offset >= 0 && count >= 0 && type != MPI_DATATYPE_NULL;
  if (file == nullptr || (good && file->carries())) return file;
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

// ---- the forms of a write, each with the end of a call that is carried
// ----------------------------------------------

int finish(const Outcome& outcome, MPI_Status* status) {
  set_status(status, outcome.bytes);
  return outcome.error;
}

int begin_split(OpenFile& file, const Outcome& outcome) {
  file.split = outcome;
  file.splits = true;
  return outcome.error;
}

}  // namespace
}  // namespace tailrace::mpiio

using namespace tailrace::mpiio;  // NOLINT: the functions of MPI are outside all namespaces

// Defines MPI_<name>: it returns `carried`, which uses `file`, if the write is carried; else it calls the MPI's own.
#define TAILRACE_CARRY(name, parameters, offset, carried, arguments)                      \
  extern "C" int MPI_##name parameters {                                                  \
    int failed = MPI_SUCCESS;                                                             \
    if (OpenFile* const file = carrying(handle, offset, n, type, failed)) return carried; \
    return first_of(failed, TAILRACE_REAL(MPI_##name) arguments);                         \
  }                                                                                       \
  TAILRACE_ALSO_PMPI(name)

TAILRACE_CARRY(File_write_at,
               (MPI_File handle, MPI_Offset at, const void* from, int n, MPI_Datatype type, MPI_Status* s), at,
               finish(write_at(handle, *file, at, from, n, type), s), (handle, at, from, n, type, s));
TAILRACE_CARRY(File_write_at_all,
               (MPI_File handle, MPI_Offset at, const void* from, int n, MPI_Datatype type, MPI_Status* s), at,
               finish(write_at(handle, *file, at, from, n, type), s), (handle, at, from, n, type, s));
TAILRACE_CARRY(File_write, (MPI_File handle, const void* from, int n, MPI_Datatype type, MPI_Status* s), 0,
               finish(write_next(handle, *file, from, n, type), s), (handle, from, n, type, s));
TAILRACE_CARRY(File_write_all, (MPI_File handle, const void* from, int n, MPI_Datatype type, MPI_Status* s), 0,
               finish(write_next(handle, *file, from, n, type), s), (handle, from, n, type, s));
TAILRACE_CARRY(File_iwrite_at,
               (MPI_File handle, MPI_Offset at, const void* from, int n, MPI_Datatype type, MPI_Request* r), at,
               ended(write_at(handle, *file, at, from, n, type), r), (handle, at, from, n, type, r));
TAILRACE_CARRY(File_iwrite_at_all,
               (MPI_File handle, MPI_Offset at, const void* from, int n, MPI_Datatype type, MPI_Request* r), at,
               ended(write_at(handle, *file, at, from, n, type), r), (handle, at, from, n, type, r));
TAILRACE_CARRY(File_iwrite, (MPI_File handle, const void* from, int n, MPI_Datatype type, MPI_Request* r), 0,
               ended(write_next(handle, *file, from, n, type), r), (handle, from, n, type, r));
TAILRACE_CARRY(File_iwrite_all, (MPI_File handle, const void* from, int n, MPI_Datatype type, MPI_Request* r), 0,
               ended(write_next(handle, *file, from, n, type), r), (handle, from, n, type, r));
TAILRACE_CARRY(File_write_at_all_begin, (MPI_File handle, MPI_Offset at, const void* from, int n, MPI_Datatype type),
               at, begin_split(*file, write_at(handle, *file, at, from, n, type)), (handle, at, from, n, type));
TAILRACE_CARRY(File_write_all_begin, (MPI_File handle, const void* from, int n, MPI_Datatype type), 0,
               begin_split(*file, write_next(handle, *file, from, n, type)), (handle, from, n, type));

// Defines the end of a write that has begun.
#define TAILRACE_END_SPLIT(name)                                                                   \
  extern "C" int MPI_##name(MPI_File handle, const void* from, MPI_Status* status) {               \
    OpenFile* const file = find(handle);                                                           \
    if (file != nullptr && std::exchange(file->splits, false)) return finish(file->split, status); \
    return TAILRACE_REAL(MPI_##name)(handle, from, status);                                        \
  }                                                                                                \
  TAILRACE_ALSO_PMPI(name)

TAILRACE_END_SPLIT(File_write_at_all_end);
TAILRACE_END_SPLIT(File_write_all_end);
