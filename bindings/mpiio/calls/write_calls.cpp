// Writes: carried where they can be. A write that is carried has ended, for MPI, when its memory may be used again.
// No process waits for another one unless both write the same bytes (pending.hpp), and a nonblocking write needs no
// progress, unless the processes exchange their data (open_file.hpp).
#include "mpiio/calls/begun.hpp"
#include "mpiio/calls/call.hpp"
#include "mpiio/calls/pointer.hpp"

namespace tailrace::mpiio {
namespace {

// The ways to write: a process by itself, or all together, and then perhaps later.
using Write = Begun (*)(OpenFile&, uint64_t, const void*, int64_t, MPI_Datatype);

Begun write_alone(OpenFile& file, uint64_t begin, const void* memory, int64_t count, MPI_Datatype type) {
  return {file.write(begin, memory, count, type)};
}

Begun write_together(OpenFile& file, uint64_t begin, const void* memory, int64_t count, MPI_Datatype type) {
  return {file.write_all(begin, memory, count, type)};
}

Begun together_later(OpenFile& file, uint64_t begin, const void* memory, int64_t count, MPI_Datatype type) {
  return file.begin_write_all(begin, memory, count, type);
}

// Writes at an explicit offset, in elementary types of the view.
Begun write_at(Write write, MPI_File handle, OpenFile& file, MPI_Offset offset, const void* memory, MPI_Count count,
               MPI_Datatype type) {
  Begun begun = write(file, static_cast<uint64_t>(offset) * file.view().etype(), memory, count, type);
  report(handle, begun.outcome.error);
  return begun;
}

// Writes at the individual file pointer, and moves it.
Begun write_next(Write write, MPI_File handle, OpenFile& file, const void* memory, MPI_Count count,
                 MPI_Datatype type) {
  const auto locked = file.lock();
  Begun begun = write_at(write, handle, file, file.position(), memory, count, type);
  file.set_position(file.position() + static_cast<MPI_Offset>(begun.bytes() / file.view().etype()));
  return begun;
}

}  // namespace
}  // namespace tailrace::mpiio

using namespace tailrace::mpiio;  // NOLINT: the functions of MPI are outside all namespaces

// Defines both forms of a write; WRITE_ALL: of one in which the processes may wait for one another; BEGIN_WRITE_ALL:
// of one that begins such a write.
#define TAILRACE_WRITE(name, before, behind, offset, here, otherwise) \
  TAILRACE_BOTH_COUNTS(TAILRACE_CARRY, name, before, behind, carries, offset, here, otherwise)
#define TAILRACE_BEGIN_WRITE_ALL(name, before, behind, offset, here, otherwise) \
  TAILRACE_BOTH_COUNTS(TAILRACE_CARRY, name, before, behind, carries_all, offset, here, otherwise)
#define TAILRACE_WRITE_ALL(name, before, behind, offset, here, otherwise) \
  TAILRACE_BOTH_COUNTS(TAILRACE_CARRY_ALL, name, before, behind, carries_all, offset, here, otherwise)

TAILRACE_WRITE(File_write_at, (MPI_File handle, MPI_Offset at, const void* from), (MPI_Datatype type, MPI_Status* s),
               at, finish(write_at(write_alone, handle, *file, at, from, n, type), s),
               real(handle, at, from, n, type, s));
TAILRACE_WRITE_ALL(File_write_at_all, (MPI_File handle, MPI_Offset at, const void* from),
                   (MPI_Datatype type, MPI_Status* s), at,
                   finish(write_at(write_together, handle, *file, at, from, n, type), s),
                   real(handle, at, from, n, type, s));
TAILRACE_WRITE(File_write, (MPI_File handle, const void* from), (MPI_Datatype type, MPI_Status* s), 0,
               finish(write_next(write_alone, handle, *file, from, n, type), s),
               at_pointer(handle, s, [=](MPI_Status* told) { return real(handle, from, n, type, told); }));
TAILRACE_WRITE_ALL(File_write_all, (MPI_File handle, const void* from), (MPI_Datatype type, MPI_Status* s), 0,
                   finish(write_next(write_together, handle, *file, from, n, type), s),
                   at_pointer(handle, s, [=](MPI_Status* told) { return real(handle, from, n, type, told); }));
TAILRACE_WRITE(File_iwrite_at, (MPI_File handle, MPI_Offset at, const void* from),
               (MPI_Datatype type, MPI_Request* r), at,
               request(handle, write_at(write_alone, handle, *file, at, from, n, type), r),
               real(handle, at, from, n, type, r));
TAILRACE_BEGIN_WRITE_ALL(File_iwrite_at_all, (MPI_File handle, MPI_Offset at, const void* from),
                         (MPI_Datatype type, MPI_Request* r), at,
                         request(handle, write_at(together_later, handle, *file, at, from, n, type), r),
                         real(handle, at, from, n, type, r));
TAILRACE_WRITE(File_iwrite, (MPI_File handle, const void* from), (MPI_Datatype type, MPI_Request* r), 0,
               request(handle, write_next(write_alone, handle, *file, from, n, type), r),
               from_pointer(handle, n, type, [=] { return real(handle, from, n, type, r); }));
TAILRACE_BEGIN_WRITE_ALL(File_iwrite_all, (MPI_File handle, const void* from), (MPI_Datatype type, MPI_Request* r), 0,
                         request(handle, write_next(together_later, handle, *file, from, n, type), r),
                         from_pointer(handle, n, type, [=] { return real(handle, from, n, type, r); }));
TAILRACE_BEGIN_WRITE_ALL(File_write_at_all_begin, (MPI_File handle, MPI_Offset at, const void* from),
                         (MPI_Datatype type), at,
                         begin_split(*file, write_at(together_later, handle, *file, at, from, n, type)),
                         (meet_file(handle), real(handle, at, from, n, type)));
TAILRACE_BEGIN_WRITE_ALL(File_write_all_begin, (MPI_File handle, const void* from), (MPI_Datatype type), 0,
                         begin_split(*file, write_next(together_later, handle, *file, from, n, type)),
                         from_pointer(handle, n, type, [=] {
                           meet_file(handle);
                           return real(handle, from, n, type);
                         }));

TAILRACE_END_SPLIT(File_write_at_all_end, const void*);
TAILRACE_END_SPLIT(File_write_all_end, const void*);
