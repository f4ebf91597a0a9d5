// Calls of MPI that wait or test: meanwhile, writes of all that go on in the background make progress (going_on.hpp).
// While there are none, each is the MPI's own.
#include <sched.h>

#include "mpiio/calls/call.hpp"
#include "mpiio/calls/going_on.hpp"

namespace tailrace::mpiio {
namespace {

GoingOn& going_on() { return GoingOn::instance(); }

// Calls try_it(done) until it sets `done` or fails, with progress between. Returns the first error.
template <class Try>
int until(Try try_it) {
  int failed = MPI_SUCCESS;
  int done = 0;
  while (done == 0) {
    going_on().progress();
    const int error = try_it(done);
    failed = first_of(failed, GoingOn::take_error());
    if (error != MPI_SUCCESS) return first_of(failed, error);
  }
  return failed;
}

int wait(MPI_Request* request, MPI_Status* status) {
  return until([=](int& done) { return TAILRACE_REAL(MPI_Test)(request, &done, status); });
}

}  // namespace
}  // namespace tailrace::mpiio

using namespace tailrace::mpiio;  // NOLINT: the functions of MPI are outside all namespaces

// Defines MPI_<name>: it makes progress once, and calls the MPI's own.
#define TAILRACE_TEST(name, parameters, arguments)         \
  extern "C" int MPI_##name parameters {                   \
    going_on().progress();                                 \
    const int error = TAILRACE_REAL(MPI_##name) arguments; \
    return first_of(GoingOn::take_error(), error);         \
  }                                                        \
  TAILRACE_ALSO_PMPI(name)

TAILRACE_TEST(Test, (MPI_Request * r, int* done, MPI_Status* s), (r, done, s));
TAILRACE_TEST(Testall, (int n, MPI_Request r[], int* done, MPI_Status s[]), (n, r, done, s));
TAILRACE_TEST(Testany, (int n, MPI_Request r[], int* index, int* done, MPI_Status* s), (n, r, index, done, s));
TAILRACE_TEST(Testsome, (int n, MPI_Request r[], int* count, int indices[], MPI_Status s[]),
              (n, r, count, indices, s));
TAILRACE_TEST(Request_get_status, (MPI_Request r, int* done, MPI_Status* s), (r, done, s));
TAILRACE_TEST(Iprobe, (int from, int tag, MPI_Comm comm, int* is_here, MPI_Status* s), (from, tag, comm, is_here, s));

// Defines MPI_<name>: while writes go on, it calls `instead` until that sets `done`.
#define TAILRACE_WAIT(name, parameters, arguments, instead)  \
  extern "C" int MPI_##name parameters {                     \
    if (!going_on().any()) {                                 \
      const int error = TAILRACE_REAL(MPI_##name) arguments; \
      return first_of(GoingOn::take_error(), error);         \
    }                                                        \
    return until([&](int& done) { return instead; });        \
  }                                                          \
  TAILRACE_ALSO_PMPI(name)

TAILRACE_WAIT(Wait, (MPI_Request * r, MPI_Status* s), (r, s), TAILRACE_REAL(MPI_Test)(r, &done, s));
TAILRACE_WAIT(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s),
              TAILRACE_REAL(MPI_Testall)(n, r, &done, s));
TAILRACE_WAIT(Waitany, (int n, MPI_Request r[], int* index, MPI_Status* s), (n, r, index, s),
              TAILRACE_REAL(MPI_Testany)(n, r, index, &done, s));
TAILRACE_WAIT(Waitsome, (int n, MPI_Request r[], int* count, int indices[], MPI_Status s[]),
              (n, r, count, indices, s), [&] {
                const int error = TAILRACE_REAL(MPI_Testsome)(n, r, count, indices, s);
                done = *count != 0 ? 1 : 0;
                return error;
              }());
TAILRACE_WAIT(Probe, (int from, int tag, MPI_Comm comm, MPI_Status* s), (from, tag, comm, s),
              TAILRACE_REAL(MPI_Iprobe)(from, tag, comm, &done, s));
TAILRACE_WAIT(Mprobe, (int from, int tag, MPI_Comm comm, MPI_Message* m, MPI_Status* s), (from, tag, comm, m, s),
              TAILRACE_REAL(MPI_Improbe)(from, tag, comm, &done, m, s));

// Defines MPI_<name>: if `instead`, it calls the nonblocking MPI_<begin>, and waits for that.
#define TAILRACE_BEGIN_AND_WAIT(instead, name, begin, parameters, arguments, status, ...) \
  extern "C" int MPI_##name parameters {                                                  \
    if (!instead) return TAILRACE_REAL(MPI_##name) arguments;                             \
    MPI_Request request = MPI_REQUEST_NULL;                                               \
    const int error = TAILRACE_REAL(MPI_##begin)(__VA_ARGS__, &request);                  \
    return error != MPI_SUCCESS ? error : wait(&request, status);                         \
  }                                                                                       \
  TAILRACE_ALSO_PMPI(name)

// One process sends, or receives: it does so while its writes go on.
#define TAILRACE_ONE(...) TAILRACE_BEGIN_AND_WAIT(going_on().any(), __VA_ARGS__)
// All processes call together: they must call the same form.
#define TAILRACE_ALL(...) TAILRACE_BEGIN_AND_WAIT(exchanges_in_background(), __VA_ARGS__)

TAILRACE_ONE(Send, Isend, (const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (a, n, t, to, tag, c),
             MPI_STATUS_IGNORE, a, n, t, to, tag, c);
TAILRACE_ONE(Ssend, Issend, (const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
             (a, n, t, to, tag, c), MPI_STATUS_IGNORE, a, n, t, to, tag, c);
TAILRACE_ONE(Rsend, Irsend, (const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
             (a, n, t, to, tag, c), MPI_STATUS_IGNORE, a, n, t, to, tag, c);
TAILRACE_ONE(Recv, Irecv, (void* a, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s),
             (a, n, t, from, tag, c, s), s, a, n, t, from, tag, c);
TAILRACE_ONE(Mrecv, Imrecv, (void* a, int n, MPI_Datatype t, MPI_Message* m, MPI_Status* s), (a, n, t, m, s), s, a, n,
             t, m);
TAILRACE_ALL(Barrier, Ibarrier, (MPI_Comm c), (c), MPI_STATUS_IGNORE, c);
TAILRACE_ALL(Bcast, Ibcast, (void* a, int n, MPI_Datatype t, int root, MPI_Comm c), (a, n, t, root, c),
             MPI_STATUS_IGNORE, a, n, t, root, c);
TAILRACE_ALL(Gather, Igather,
             (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, int root, MPI_Comm c),
             (a, n, t, b, m, u, root, c), MPI_STATUS_IGNORE, a, n, t, b, m, u, root, c);
TAILRACE_ALL(Gatherv, Igatherv,
             (const void* a, int n, MPI_Datatype t, void* b, const int m[], const int at[], MPI_Datatype u, int root,
              MPI_Comm c),
             (a, n, t, b, m, at, u, root, c), MPI_STATUS_IGNORE, a, n, t, b, m, at, u, root, c);
TAILRACE_ALL(Scatter, Iscatter,
             (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, int root, MPI_Comm c),
             (a, n, t, b, m, u, root, c), MPI_STATUS_IGNORE, a, n, t, b, m, u, root, c);
TAILRACE_ALL(Scatterv, Iscatterv,
             (const void* a, const int n[], const int at[], MPI_Datatype t, void* b, int m, MPI_Datatype u, int root,
              MPI_Comm c),
             (a, n, at, t, b, m, u, root, c), MPI_STATUS_IGNORE, a, n, at, t, b, m, u, root, c);
TAILRACE_ALL(Allgather, Iallgather,
             (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c),
             (a, n, t, b, m, u, c), MPI_STATUS_IGNORE, a, n, t, b, m, u, c);
TAILRACE_ALL(Allgatherv, Iallgatherv,
             (const void* a, int n, MPI_Datatype t, void* b, const int m[], const int at[], MPI_Datatype u,
              MPI_Comm c),
             (a, n, t, b, m, at, u, c), MPI_STATUS_IGNORE, a, n, t, b, m, at, u, c);
TAILRACE_ALL(Alltoall, Ialltoall, (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c),
             (a, n, t, b, m, u, c), MPI_STATUS_IGNORE, a, n, t, b, m, u, c);
TAILRACE_ALL(Alltoallv, Ialltoallv,
             (const void* a, const int n[], const int from[], MPI_Datatype t, void* b, const int m[], const int to[],
              MPI_Datatype u, MPI_Comm c),
             (a, n, from, t, b, m, to, u, c), MPI_STATUS_IGNORE, a, n, from, t, b, m, to, u, c);
TAILRACE_ALL(Reduce, Ireduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c),
             (a, b, n, t, op, root, c), MPI_STATUS_IGNORE, a, b, n, t, op, root, c);
TAILRACE_ALL(Allreduce, Iallreduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
             (a, b, n, t, op, c), MPI_STATUS_IGNORE, a, b, n, t, op, c);
TAILRACE_ALL(Scan, Iscan, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (a, b, n, t, op, c),
             MPI_STATUS_IGNORE, a, b, n, t, op, c);

extern "C" int MPI_Sendrecv(const void* a, int n, MPI_Datatype t, int to, int tag, void* b, int m, MPI_Datatype u,
                            int from, int from_tag, MPI_Comm c, MPI_Status* status) {
  if (!going_on().any()) {
    return TAILRACE_REAL(MPI_Sendrecv)(a, n, t, to, tag, b, m, u, from, from_tag, c, status);
  }
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Request send = MPI_REQUEST_NULL;
  int error = TAILRACE_REAL(MPI_Irecv)(b, m, u, from, from_tag, c, &receive);
  if (error == MPI_SUCCESS) error = TAILRACE_REAL(MPI_Isend)(a, n, t, to, tag, c, &send);
  if (error == MPI_SUCCESS) error = wait(&send, MPI_STATUS_IGNORE);
  return error != MPI_SUCCESS ? error : wait(&receive, status);
}
TAILRACE_ALSO_PMPI(Sendrecv);

// Defines MPI_<name>, which all processes call and which has no form that makes progress: it ends the writes first.
#define TAILRACE_FINISH_FIRST(name, parameters, arguments) \
  extern "C" int MPI_##name parameters {                   \
    going_on().finish();                                   \
    return TAILRACE_REAL(MPI_##name) arguments;            \
  }                                                        \
  TAILRACE_ALSO_PMPI(name)

TAILRACE_FINISH_FIRST(Comm_dup, (MPI_Comm c, MPI_Comm* made), (c, made));
TAILRACE_FINISH_FIRST(Comm_create, (MPI_Comm c, MPI_Group group, MPI_Comm* made), (c, group, made));
TAILRACE_FINISH_FIRST(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm* made), (c, color, key, made));
TAILRACE_FINISH_FIRST(Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info info, MPI_Comm* made),
                      (c, type, key, info, made));
TAILRACE_FINISH_FIRST(Comm_free, (MPI_Comm * c), (c));
TAILRACE_FINISH_FIRST(Win_create, (void* a, MPI_Aint n, int unit, MPI_Info info, MPI_Comm c, MPI_Win* made),
                      (a, n, unit, info, c, made));
TAILRACE_FINISH_FIRST(Win_fence, (int hint, MPI_Win win), (hint, win));
TAILRACE_FINISH_FIRST(Finalize, (), ());
