// Reads, and everything with the shared file pointer: the MPI makes them, when what is on its way has been written.
#include "mpiio/calls/call.hpp"
#include "mpiio/calls/pointer.hpp"

using namespace tailrace::mpiio;  // NOLINT: the functions of MPI are outside all namespaces

TAILRACE_SETTLE_FIRST(File_read_at,
                      (MPI_File handle, MPI_Offset at, void* to, int n, MPI_Datatype type, MPI_Status* s),
                      (handle, at, to, n, type, s));
TAILRACE_SETTLE_ALL_FIRST(File_read_at_all,
                          (MPI_File handle, MPI_Offset at, void* to, int n, MPI_Datatype type, MPI_Status* s),
                          (handle, at, to, n, type, s));
TAILRACE_SETTLE_FIRST(File_iread_at,
                      (MPI_File handle, MPI_Offset at, void* to, int n, MPI_Datatype type, MPI_Request* r),
                      (handle, at, to, n, type, r));
TAILRACE_SETTLE_FIRST(File_iread_at_all,
                      (MPI_File handle, MPI_Offset at, void* to, int n, MPI_Datatype type, MPI_Request* r),
                      (handle, at, to, n, type, r));
TAILRACE_SETTLE_FIRST(File_read_at_all_begin, (MPI_File handle, MPI_Offset at, void* to, int n, MPI_Datatype type),
                      (handle, at, to, n, type));
extern "C" int MPI_File_read(MPI_File handle, void* to, int n, MPI_Datatype type, MPI_Status* s) {
  return at_pointer(handle, s,
                    [=](MPI_Status* told) { return TAILRACE_REAL(MPI_File_read)(handle, to, n, type, told); });
}
TAILRACE_ALSO_PMPI(File_read);

extern "C" int MPI_File_read_all(MPI_File handle, void* to, int n, MPI_Datatype type, MPI_Status* s) {
  GoingOn::instance().finish();
  return at_pointer(handle, s,
                    [=](MPI_Status* told) { return TAILRACE_REAL(MPI_File_read_all)(handle, to, n, type, told); });
}
TAILRACE_ALSO_PMPI(File_read_all);

extern "C" int MPI_File_iread(MPI_File handle, void* to, int n, MPI_Datatype type, MPI_Request* r) {
  return from_pointer(handle, n, type, [=] { return TAILRACE_REAL(MPI_File_iread)(handle, to, n, type, r); });
}
TAILRACE_ALSO_PMPI(File_iread);

extern "C" int MPI_File_iread_all(MPI_File handle, void* to, int n, MPI_Datatype type, MPI_Request* r) {
  return from_pointer(handle, n, type, [=] { return TAILRACE_REAL(MPI_File_iread_all)(handle, to, n, type, r); });
}
TAILRACE_ALSO_PMPI(File_iread_all);

extern "C" int MPI_File_read_all_begin(MPI_File handle, void* to, int n, MPI_Datatype type) {
  return from_pointer(handle, n, type, [=] { return TAILRACE_REAL(MPI_File_read_all_begin)(handle, to, n, type); });
}
TAILRACE_ALSO_PMPI(File_read_all_begin);

TAILRACE_SETTLE_FIRST(File_read_shared, (MPI_File handle, void* to, int n, MPI_Datatype type, MPI_Status* s),
                      (handle, to, n, type, s));
TAILRACE_SETTLE_FIRST(File_iread_shared, (MPI_File handle, void* to, int n, MPI_Datatype type, MPI_Request* r),
                      (handle, to, n, type, r));
TAILRACE_SETTLE_ALL_FIRST(File_read_ordered, (MPI_File handle, void* to, int n, MPI_Datatype type, MPI_Status* s),
                          (handle, to, n, type, s));
TAILRACE_SETTLE_FIRST(File_read_ordered_begin, (MPI_File handle, void* to, int n, MPI_Datatype type),
                      (handle, to, n, type));
TAILRACE_SETTLE_FIRST(File_write_shared, (MPI_File handle, const void* from, int n, MPI_Datatype type, MPI_Status* s),
                      (handle, from, n, type, s));
TAILRACE_SETTLE_FIRST(File_iwrite_shared,
                      (MPI_File handle, const void* from, int n, MPI_Datatype type, MPI_Request* r),
                      (handle, from, n, type, r));
TAILRACE_SETTLE_ALL_FIRST(File_write_ordered,
                          (MPI_File handle, const void* from, int n, MPI_Datatype type, MPI_Status* s),
                          (handle, from, n, type, s));
TAILRACE_SETTLE_FIRST(File_write_ordered_begin, (MPI_File handle, const void* from, int n, MPI_Datatype type),
                      (handle, from, n, type));
