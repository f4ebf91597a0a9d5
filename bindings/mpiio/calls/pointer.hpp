// Calls that the MPI makes at the individual file pointer. If the pointer is kept here (open_file.hpp), the MPI's own
// is set before the call, and ours is moved after it.
#pragma once

#include <cstdint>

#include "mpiio/calls/call.hpp"

namespace tailrace::mpiio {

// Calls make(status) at the pointer, and moves it by as much as the status says. Writes first what is on its way.
template <class Make>
int at_pointer(MPI_File handle, MPI_Status* status, Make make) {
  const int failed = settle(handle);
  OpenFile* const file = find(handle);
  if (file == nullptr || !file->has_pointer()) return first_of(failed, make(status));
  const auto locked = file->lock();
  MPI_Status own;
  MPI_Status* const told = status == MPI_STATUS_IGNORE ? &own : status;
  TAILRACE_REAL(MPI_File_seek)(handle, file->position(), MPI_SEEK_SET);
  const int error = make(told);
  if (error != MPI_SUCCESS) return first_of(failed, error);
  MPI_Count bytes = 0;
  TAILRACE_REAL(MPI_Get_elements_x)(told, MPI_BYTE, &bytes);
  file->set_position(file->position() + bytes / static_cast<MPI_Offset>(file->view().etype()));
  return failed;
}

// Does it for a call that only begins: it moves the pointer by as much as it asks for.
template <class Make>
int from_pointer(MPI_File handle, MPI_Count count, MPI_Datatype type, Make make) {
  const int failed = settle(handle);
  OpenFile* const file = find(handle);
  if (file == nullptr || !file->has_pointer()) return first_of(failed, make());
  const auto locked = file->lock();
  TAILRACE_REAL(MPI_File_seek)(handle, file->position(), MPI_SEEK_SET);
  const int error = make();
  if (error != MPI_SUCCESS) return first_of(failed, error);
  MPI_Count size = 0;
  TAILRACE_REAL(MPI_Type_size_x)(type, &size);
  file->set_position(file->position() + size * count / static_cast<MPI_Offset>(file->view().etype()));
  return failed;
}

}  // namespace tailrace::mpiio
