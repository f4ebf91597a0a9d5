// The forms of an access that has begun, each with the end of a call that is carried: it waits, makes a request, or
// leaves the end to another call.
#pragma once

#include <utility>

#include "mpiio/calls/background_accesses.hpp"
#include "mpiio/calls/call.hpp"

namespace tailrace::mpiio {

inline int finish(const Begun& begun, MPI_Status* status) {
  set_status(status, begun.outcome.bytes);
  return begun.outcome.error;
}

inline int request(MPI_File handle, Begun begun, MPI_Request* out) {
  return BackgroundAccesses::instance().start(handle, std::move(begun), out);
}

inline int begin_split(OpenFile& file, Begun begun) {
  if (begun.in_background != nullptr) BackgroundAccesses::instance().add(begun.in_background);
  file.split = std::move(begun);
  return file.split->outcome.error;
}

inline int end_split(MPI_File handle, Begun begun, MPI_Status* status) {
  if (begun.in_background != nullptr) {
    BackgroundAccesses::instance().finish(*begun.in_background);
    begun.outcome = finish(*begun.in_background);
  }
  report(handle, begun.outcome.error);
  return finish(begun, status);
}

}  // namespace tailrace::mpiio

// Defines the end of an access that has begun. `Memory`: type of its address.
#define TAILRACE_END_SPLIT(name, Memory)                                      \
  extern "C" int MPI_##name(MPI_File handle, Memory at, MPI_Status* status) { \
    OpenFile* const file = find(handle);                                      \
    if (file == nullptr || !file->split.has_value()) {                        \
      return TAILRACE_REAL(MPI_##name)(handle, at, status);                   \
    }                                                                         \
    Begun begun = std::move(*file->split);                                    \
    file->split.reset();                                                      \
    return end_split(handle, std::move(begun), status);                       \
  }                                                                           \
  TAILRACE_ALSO_PMPI(name)
