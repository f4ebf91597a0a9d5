// The ways in which a call that may wait for other processes makes progress of the collective writes that go on
// (mpi_calls.def says which call uses which one). While there are none, each call is the MPI's own.
#pragma once

#include "mpiio/calls/background_accesses.hpp"
#include "mpiio/calls/call.hpp"
#include "mpiio/calls/meeting.hpp"
#include "mpiio/process/process.hpp"

namespace tailrace::mpiio {

inline BackgroundAccesses& background_accesses() { return BackgroundAccesses::instance(); }

// Calls try_it(done) until it sets `done` or fails, with progress between. Returns the first error.
template <class Try>
int until(Try try_it) {
  int failed = MPI_SUCCESS;
  int done = 0;
  while (done == 0) {
    if (!background_accesses().progress()) background_accesses().pause();
    const int error = try_it(done);
    failed = first_of(failed, BackgroundAccesses::take_error());
    if (error != MPI_SUCCESS) return first_of(failed, error);
  }
  return failed;
}

inline int wait(MPI_Request* request, MPI_Status* status) {
  return until([=](int& done) { return TAILRACE_REAL(MPI_Test)(request, &done, status); });
}

// Makes progress once, and calls the MPI's own function, which does not wait.
template <class Own>
int test(Own own) {
  background_accesses().progress();
  const int error = own();
  return first_of(BackgroundAccesses::take_error(), error);
}

// While writes go on, calls try_it(done) until it sets `done`; else the MPI's own function.
template <class Own, class Try>
int wait_by(Own own, Try try_it) {
  if (background_accesses().any()) return until(try_it);
  const int error = own();
  return first_of(BackgroundAccesses::take_error(), error);
}

template <class Begin>
int begin_and_wait(Begin begin, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = begin(&request);
  return error != MPI_SUCCESS ? error : wait(&request, status);
}

// A process that sends or receives by itself chooses the nonblocking form by itself: it matches the blocking one.
template <class Begin, class Own>
int begin_alone(Begin begin, Own own, MPI_Status* status) {
  return background_accesses().any() ? begin_and_wait(begin, status) : own();
}

// The forms of collective calls do not match (MPI 3.1, §5.12): all processes choose the same one.
template <class Begin, class Own>
int begin_all(Begin begin, Own own, MPI_Status* status) {
  return exchanges_in_background() ? begin_and_wait(begin, status) : own();
}

// When all processes have met, each waits in the call for those alone that are in it, too.
template <class Own>
int after_meeting(MPI_Comm comm, Own own) {
  meet(comm);
  return own();
}

template <class Own>
int after_meeting_of(MPI_Win window, Own own) {
  meet_window(window);
  return own();
}

template <class Own>
int make_window(MPI_Comm comm, const MPI_Win* window, Own own) {
  meet(comm);
  const int error = own();
  if (error == MPI_SUCCESS) note_window(*window, comm);
  return error;
}

}  // namespace tailrace::mpiio
