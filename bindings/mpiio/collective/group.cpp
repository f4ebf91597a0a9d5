#include "mpiio/collective/group.hpp"

namespace tailrace::mpiio {
namespace {

using Shared = std::shared_ptr<const Group>;

// A copy of the communicator has a group of its own.
int copy_nothing(MPI_Comm, int, void*, void*, void*, int* copies) {
  *copies = 0;
  return MPI_SUCCESS;
}

// The program frees the communicator, which all processes do.
int forget(MPI_Comm, int, void* group, void*) {
  delete static_cast<Shared*>(group);
  return MPI_SUCCESS;
}

// Returns the key of the attribute by which a communicator knows its group.
int attribute() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    TAILRACE_REAL(MPI_Comm_create_keyval)(copy_nothing, forget, &made, nullptr);
    return made;
  }();
  return key;
}

}  // namespace

bool any_thread_may_call() {
  int provided = MPI_THREAD_SINGLE;
  TAILRACE_REAL(MPI_Query_thread)(&provided);
  return provided == MPI_THREAD_MULTIPLE;
}

std::shared_ptr<const Group> Group::of(MPI_Comm comm) {
  int size = 1;
  TAILRACE_REAL(MPI_Comm_size)(comm, &size);
  if (size == 1 || any_thread_may_call()) return Shared(new Group(comm));
  void* known = nullptr;
  int is_known = 0;
  TAILRACE_REAL(MPI_Comm_get_attr)(comm, attribute(), static_cast<void*>(&known), &is_known);
  if (is_known != 0) return *static_cast<Shared*>(known);
  auto* const made = new Shared(new Group(comm));
  TAILRACE_REAL(MPI_Comm_set_attr)(comm, attribute(), made);
  return *made;
}

// A process alone exchanges nothing.
Group::Group(MPI_Comm comm) : comm_(MPI_COMM_SELF) {
  TAILRACE_REAL(MPI_Comm_rank)(comm, &rank_);
  TAILRACE_REAL(MPI_Comm_size)(comm, &size_);
  if (size_ > 1) TAILRACE_REAL(MPI_Comm_dup)(comm, &comm_);
}

Group::~Group() {
  if (size_ > 1) TAILRACE_REAL(MPI_Comm_free)(&comm_);
}

}  // namespace tailrace::mpiio
