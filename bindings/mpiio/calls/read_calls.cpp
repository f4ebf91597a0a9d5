// Reads. They are made here, where the view is known: nonblocking and split ones by a thread, while the program
// computes. The MPI makes the others, and everything with the shared file pointer, when what is on its way has been
// written.
#include "mpiio/calls/begun.hpp"
#include "mpiio/calls/call.hpp"
#include "mpiio/calls/pointer.hpp"

namespace tailrace::mpiio {
namespace {

// The ways to read: a process by itself, or all together.
using Read = Outcome (OpenFile::*)(uint64_t, void*, int64_t, MPI_Datatype);
constexpr Read read_alone = &OpenFile::read;
constexpr Read read_together = &OpenFile::read_all;

// Reads at an explicit offset, in elementary types of the view.
Outcome read_at(Read read, MPI_File handle, OpenFile& file, MPI_Offset offset, void* memory, MPI_Count count,
                MPI_Datatype type) {
  const Outcome outcome = (file.*read)(static_cast<uint64_t>(offset) * file.view().etype(), memory, count, type);
  report(handle, outcome.error);
  return outcome;
}

// Reads at the individual file pointer, and moves it.
Outcome read_next(Read read, MPI_File handle, OpenFile& file, void* memory, MPI_Count count, MPI_Datatype type) {
  const auto locked = file.lock();
  const Outcome outcome = read_at(read, handle, file, file.position(), memory, count, type);
  file.set_position(file.position() + static_cast<MPI_Offset>(outcome.bytes / file.view().etype()));
  return outcome;
}

// Begins a read at an explicit offset. `together`: all processes call it together.
Begun begin_at(bool together, MPI_File handle, OpenFile& file, MPI_Offset offset, void* memory, MPI_Count count,
               MPI_Datatype type) {
  Begun begun = file.begin_read(static_cast<uint64_t>(offset) * file.view().etype(), memory, count, type, together);
  report(handle, begun.outcome.error);
  return begun;
}

// Begins it at the individual file pointer, and moves that by as much as the call asks for.
Begun begin_next(bool together, MPI_File handle, OpenFile& file, void* memory, MPI_Count count, MPI_Datatype type) {
  const auto locked = file.lock();
  Begun begun = begin_at(together, handle, file, file.position(), memory, count, type);
  file.set_position(file.position() + static_cast<MPI_Offset>(begun.bytes() / file.view().etype()));
  return begun;
}

int finish(const Outcome& outcome, MPI_Status* status) {
  set_status(status, outcome.bytes);
  return outcome.error;
}

}  // namespace
}  // namespace tailrace::mpiio

using namespace tailrace::mpiio;  // NOLINT: the functions of MPI are outside all namespaces

// Defines both forms of a read; READ_ALL: of one in which the processes may wait for one another; BEGIN_READ_ALL: of
// one that begins together with those of other processes.
#define TAILRACE_READ(name, before, behind, offset, here, otherwise) \
  TAILRACE_BOTH_COUNTS(TAILRACE_CARRY, name, before, behind, reads, offset, here, otherwise)
#define TAILRACE_BEGIN_READ_ALL(name, before, behind, offset, here, otherwise) \
  TAILRACE_BOTH_COUNTS(TAILRACE_CARRY, name, before, behind, reads_all, offset, here, otherwise)
#define TAILRACE_READ_ALL(name, before, behind, offset, here, otherwise) \
  TAILRACE_BOTH_COUNTS(TAILRACE_CARRY_ALL, name, before, behind, reads_all, offset, here, otherwise)

TAILRACE_READ(File_read_at, (MPI_File handle, MPI_Offset at, void* to), (MPI_Datatype type, MPI_Status* s), at,
              finish(read_at(read_alone, handle, *file, at, to, n, type), s), real(handle, at, to, n, type, s));
TAILRACE_READ_ALL(File_read_at_all, (MPI_File handle, MPI_Offset at, void* to), (MPI_Datatype type, MPI_Status* s),
                  at, finish(read_at(read_together, handle, *file, at, to, n, type), s),
                  real(handle, at, to, n, type, s));
TAILRACE_READ(File_read, (MPI_File handle, void* to), (MPI_Datatype type, MPI_Status* s), 0,
              finish(read_next(read_alone, handle, *file, to, n, type), s),
              at_pointer(handle, s, [=](MPI_Status* told) { return real(handle, to, n, type, told); }));
TAILRACE_READ_ALL(File_read_all, (MPI_File handle, void* to), (MPI_Datatype type, MPI_Status* s), 0,
                  finish(read_next(read_together, handle, *file, to, n, type), s),
                  at_pointer(handle, s, [=](MPI_Status* told) { return real(handle, to, n, type, told); }));

// ---- reads that begin ------------------------------------------------------------------------------------------

TAILRACE_READ(File_iread_at, (MPI_File handle, MPI_Offset at, void* to), (MPI_Datatype type, MPI_Request* r), at,
              request(handle, begin_at(false, handle, *file, at, to, n, type), r), real(handle, at, to, n, type, r));
TAILRACE_BEGIN_READ_ALL(File_iread_at_all, (MPI_File handle, MPI_Offset at, void* to),
                        (MPI_Datatype type, MPI_Request* r), at,
                        request(handle, begin_at(true, handle, *file, at, to, n, type), r),
                        real(handle, at, to, n, type, r));
TAILRACE_READ(File_iread, (MPI_File handle, void* to), (MPI_Datatype type, MPI_Request* r), 0,
              request(handle, begin_next(false, handle, *file, to, n, type), r),
              from_pointer(handle, n, type, [=] { return real(handle, to, n, type, r); }));
TAILRACE_BEGIN_READ_ALL(File_iread_all, (MPI_File handle, void* to), (MPI_Datatype type, MPI_Request* r), 0,
                        request(handle, begin_next(true, handle, *file, to, n, type), r),
                        from_pointer(handle, n, type, [=] { return real(handle, to, n, type, r); }));
TAILRACE_BEGIN_READ_ALL(File_read_at_all_begin, (MPI_File handle, MPI_Offset at, void* to), (MPI_Datatype type), at,
                        begin_split(*file, begin_at(true, handle, *file, at, to, n, type)),
                        (meet_file(handle), real(handle, at, to, n, type)));
TAILRACE_BEGIN_READ_ALL(File_read_all_begin, (MPI_File handle, void* to), (MPI_Datatype type), 0,
                        begin_split(*file, begin_next(true, handle, *file, to, n, type)),
                        from_pointer(handle, n, type, [=] {
                          meet_file(handle);
                          return real(handle, to, n, type);
                        }));
TAILRACE_END_SPLIT(File_read_at_all_end, void*);
TAILRACE_END_SPLIT(File_read_all_end, void*);

// ---- the shared file pointer -----------------------------------------------------------------------------------

TAILRACE_BOTH_COUNTS(TAILRACE_SETTLE_FIRST, File_read_shared, (MPI_File handle, void* to),
                     (MPI_Datatype type, MPI_Status* s), (handle, to, n, type, s));
TAILRACE_BOTH_COUNTS(TAILRACE_SETTLE_FIRST, File_iread_shared, (MPI_File handle, void* to),
                     (MPI_Datatype type, MPI_Request* r), (handle, to, n, type, r));
TAILRACE_BOTH_COUNTS(TAILRACE_SETTLE_ALL_FIRST, File_read_ordered, (MPI_File handle, void* to),
                     (MPI_Datatype type, MPI_Status* s), (handle, to, n, type, s));
TAILRACE_BOTH_COUNTS(TAILRACE_SETTLE_ALL_FIRST, File_read_ordered_begin, (MPI_File handle, void* to),
                     (MPI_Datatype type), (handle, to, n, type));
TAILRACE_BOTH_COUNTS(TAILRACE_SETTLE_FIRST, File_write_shared, (MPI_File handle, const void* from),
                     (MPI_Datatype type, MPI_Status* s), (handle, from, n, type, s));
TAILRACE_BOTH_COUNTS(TAILRACE_SETTLE_FIRST, File_iwrite_shared, (MPI_File handle, const void* from),
                     (MPI_Datatype type, MPI_Request* r), (handle, from, n, type, r));
TAILRACE_BOTH_COUNTS(TAILRACE_SETTLE_ALL_FIRST, File_write_ordered, (MPI_File handle, const void* from),
                     (MPI_Datatype type, MPI_Status* s), (handle, from, n, type, s));
TAILRACE_BOTH_COUNTS(TAILRACE_SETTLE_ALL_FIRST, File_write_ordered_begin, (MPI_File handle, const void* from),
                     (MPI_Datatype type), (handle, from, n, type));
