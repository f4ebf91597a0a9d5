// The calls that make progress of the collective writes in ways of their own (`own` in mpi_calls.def). The first
// parameter of each calls the MPI's own function.
#pragma once

#include <climits>

#include "mpiio/calls/meeting.hpp"
#include "mpiio/calls/progress.hpp"
#include "mpiio/files/telling.hpp"

namespace tailrace::mpiio {

// ---- requests and messages -------------------------------------------------------------------------------------

template <class Own>
int own_Wait(Own own, MPI_Request* r, MPI_Status* s) {
  return wait_by(own, [=](int& done) { return TAILRACE_REAL(MPI_Test)(r, &done, s); });
}

template <class Own>
int own_Waitall(Own own, int n, MPI_Request r[], MPI_Status s[]) {
  return wait_by(own, [=](int& done) { return TAILRACE_REAL(MPI_Testall)(n, r, &done, s); });
}

template <class Own>
int own_Waitany(Own own, int n, MPI_Request r[], int* index, MPI_Status* s) {
  return wait_by(own, [=](int& done) { return TAILRACE_REAL(MPI_Testany)(n, r, index, &done, s); });
}

template <class Own>
int own_Waitsome(Own own, int n, MPI_Request r[], int* count, int indices[], MPI_Status s[]) {
  return wait_by(own, [=](int& done) {
    const int error = TAILRACE_REAL(MPI_Testsome)(n, r, count, indices, s);
    done = *count != 0 ? 1 : 0;
    return error;
  });
}

template <class Own>
int own_Probe(Own own, int from, int tag, MPI_Comm comm, MPI_Status* s) {
  return wait_by(own, [=](int& done) { return TAILRACE_REAL(MPI_Iprobe)(from, tag, comm, &done, s); });
}

template <class Own>
int own_Mprobe(Own own, int from, int tag, MPI_Comm comm, MPI_Message* m, MPI_Status* s) {
  return wait_by(own, [=](int& done) { return TAILRACE_REAL(MPI_Improbe)(from, tag, comm, &done, m, s); });
}

// For MPIs without MPI_Isendrecv, of MPI 4.
int send_and_receive(const void* a, int n, MPI_Datatype t, int to, int tag, void* b, int m, MPI_Datatype u, int from,
                     int from_tag, MPI_Comm comm, MPI_Status* status);
int send_and_replace(void* a, int n, MPI_Datatype t, int to, int tag, int from, int from_tag, MPI_Comm comm,
                     MPI_Status* status);

template <class Own, class... Arguments>
int own_Sendrecv(Own own, Arguments... arguments) {
  return background_accesses().any() ? send_and_receive(arguments...) : own();
}

template <class Own, class... Arguments>
int own_Sendrecv_replace(Own own, Arguments... arguments) {
  return background_accesses().any() ? send_and_replace(arguments...) : own();
}

// ---- buffered messages -----------------------------------------------------------------------------------------

// Where writes go on in the background, MPI_Bsend sends a copy of the message, whose end can be waited for with
// progress. It cannot be for the messages in the MPI's own buffer.
int send_buffered(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
// Waits until such messages are sent.
void wait_for_buffered();

inline bool may_buffer(MPI_Count count, MPI_Datatype type) {
  return exchanges_in_background() && count >= 0 && count <= INT_MAX && type != MPI_DATATYPE_NULL;
}

template <class Own, class Count>
int own_Bsend(Own own, const void* a, Count n, MPI_Datatype t, int to, int tag, MPI_Comm comm) {
  return may_buffer(n, t) ? send_buffered(a, static_cast<int>(n), t, to, tag, comm) : own();
}

// The request has ended at once: one of an empty message to no process.
template <class Own, class Count>
int own_Ibsend(Own own, const void* a, Count n, MPI_Datatype t, int to, int tag, MPI_Comm comm, MPI_Request* made) {
  if (!may_buffer(n, t)) return own();
  const int error = send_buffered(a, static_cast<int>(n), t, to, tag, comm);
  return error != MPI_SUCCESS ? error : TAILRACE_REAL(MPI_Isend)(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, made);
}

template <class Own>
int buffered(Own own) {
  wait_for_buffered();
  return own();
}

// ---- communicators ---------------------------------------------------------------------------------------------

template <class Own, class... Others>
int own_Comm_disconnect(Own own, MPI_Comm* comm) {
  wait_for_buffered();
  meet(*comm);
  return own();
}

template <class Own>
int own_Comm_create_group(Own own, MPI_Comm, MPI_Group group, int tag, MPI_Comm*) {
  meet_group(group, static_cast<unsigned>(tag));
  return own();
}

// Waits for the processes of both communicators. The leaders send to each other by the communicator and the tag that
// the MPI uses for that, too.
void meet_beyond(MPI_Comm local, int leader, MPI_Comm peers, int other_leader, int tag);

template <class Own>
int own_Intercomm_create(Own own, MPI_Comm local, int leader, MPI_Comm peers, int other_leader, int tag, MPI_Comm*) {
  meet_beyond(local, leader, peers, other_leader, tag);
  return own();
}

// Returns a tag for a text.
unsigned tag_of(const char* text);
// Waits for the processes of both groups.
void meet_groups(MPI_Group one, MPI_Group other, unsigned tag);

template <class Own, class... Others>
int own_Comm_create_from_group(Own own, MPI_Group group, const char* text, Others...) {
  meet_group(group, tag_of(text));
  return own();
}

template <class Own, class... Others>
int own_Intercomm_create_from_groups(Own own, MPI_Group local, int, MPI_Group other, int, const char* text,
                                     Others...) {
  meet_groups(local, other, tag_of(text));
  return own();
}

// ---- windows ---------------------------------------------------------------------------------------------------

// A process that starts to access a window waits, perhaps only when it completes that, until others expose theirs.
template <class Own>
int own_Win_start(Own own, MPI_Group group, int, MPI_Win window) {
  wait_until_exposed(window, group);
  return own();
}

template <class Own>
int own_Win_post(Own own, MPI_Group group, int, MPI_Win window) {
  const int error = own();
  if (error == MPI_SUCCESS) tell_exposed(window, group);
  return error;
}

template <class Own>
int own_Win_wait(Own own, MPI_Win window) {
  return wait_by(own, [=](int& done) { return TAILRACE_REAL(MPI_Win_test)(window, &done); });
}

template <class Own>
int own_Win_free(Own own, const MPI_Win* window) {
  meet_window(*window);
  forget_window(*window);
  return own();
}

// ---- the process -----------------------------------------------------------------------------------------------

template <class Own, class... Arguments>
int own_Init(Own own, Arguments...) {
  const int error = own();
  if (error == MPI_SUCCESS) {
    begin_meetings();
    look_who_listens();
  }
  return error;
}

template <class Own, class... Arguments>
int own_Init_thread(Own own, Arguments... arguments) {
  return own_Init(own, arguments...);
}

template <class Own>
int own_Finalize(Own own) {
  background_accesses().finish_all();
  wait_for_buffered();
  end_meetings();
  return own();
}

}  // namespace tailrace::mpiio
