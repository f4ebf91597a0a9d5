#include "mpiio/calls/meeting.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "mpiio/calls/progress.hpp"

namespace tailrace::mpiio {
namespace {

constexpr int kTags = 16384;  // every MPI has tags up to 32767
constexpr int kExposed = 0;   // a tag in the communicators of windows

// The communicators for the meetings of windows, or of files.
template <class Handle>
class Meetings {
 public:
  // Makes a communicator by MPI_Comm_split, which calls no function of the program, as MPI_Comm_dup might.
  void note(Handle handle, MPI_Comm comm) {
    if (!exchanges_in_background()) return;
    int rank = 0;
    MPI_Comm made = MPI_COMM_NULL;
    TAILRACE_REAL(MPI_Comm_rank)(comm, &rank);
    if (TAILRACE_REAL(MPI_Comm_split)(comm, 0, rank, &made) != MPI_SUCCESS) return;
    const std::lock_guard lock(mutex_);
    comms_[handle] = made;
  }
  // Returns MPI_COMM_NULL if there is none.
  MPI_Comm find(Handle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = comms_.find(handle);
    return found != comms_.end() ? found->second : MPI_COMM_NULL;
  }
  void forget(Handle handle) {
    MPI_Comm comm = find(handle);
    if (comm == MPI_COMM_NULL) return;
    TAILRACE_REAL(MPI_Comm_free)(&comm);
    const std::lock_guard lock(mutex_);
    comms_.erase(handle);
  }

 private:
  std::mutex mutex_;
  std::map<Handle, MPI_Comm> comms_;  // guarded by mutex_
};

// Never destroyed: MPI closes files very late.
Meetings<MPI_Win>& windows() {
  static auto* const only = new Meetings<MPI_Win>;
  return *only;
}

Meetings<MPI_File>& files() {
  static auto* const only = new Meetings<MPI_File>;
  return *only;
}

// A copy of MPI_COMM_WORLD, whose messages are none of the program's. begin_meetings() sets it before all other
// calls, end_meetings() after them.
MPI_Comm& world() {
  static MPI_Comm comm = MPI_COMM_NULL;
  return comm;
}

// Returns the ranks in `comm` of the processes of the group; none if one of them has no rank there.
std::vector<int> ranks_in(MPI_Comm comm, MPI_Group group) {
  int count = 0;
  TAILRACE_REAL(MPI_Group_size)(group, &count);
  std::vector<int> in_group(static_cast<size_t>(count));
  for (size_t i = 0; i < in_group.size(); ++i) in_group[i] = static_cast<int>(i);
  std::vector<int> ranks(in_group.size());
  MPI_Group all = MPI_GROUP_NULL;
  TAILRACE_REAL(MPI_Comm_group)(comm, &all);
  TAILRACE_REAL(MPI_Group_translate_ranks)(group, count, in_group.data(), all, ranks.data());
  TAILRACE_REAL(MPI_Group_free)(&all);
  for (const int rank : ranks) {
    if (rank == MPI_UNDEFINED) return {};
  }
  return ranks;
}

void tell(MPI_Comm comm, int rank, int tag, MPI_Request& request) {
  TAILRACE_REAL(MPI_Isend)(nullptr, 0, MPI_BYTE, rank, tag, comm, &request);
}

void hear(MPI_Comm comm, int rank, int tag, MPI_Request& request) {
  TAILRACE_REAL(MPI_Irecv)(nullptr, 0, MPI_BYTE, rank, tag, comm, &request);
}

// Sends nothing to each, or receives it, by `one`, and waits for all.
template <class One>
void with_all(MPI_Comm comm, const std::vector<int>& ranks, int tag, One one) {
  std::vector<MPI_Request> requests(ranks.size(), MPI_REQUEST_NULL);
  for (size_t i = 0; i < ranks.size(); ++i) one(comm, ranks[i], tag, requests[i]);
  until([&](int& done) {
    return TAILRACE_REAL(MPI_Testall)(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
  });
}

}  // namespace

void meet(MPI_Comm comm) {
  if (!exchanges_in_background() || comm == MPI_COMM_NULL) return;
  begin_and_wait([=](MPI_Request* made) { return TAILRACE_REAL(MPI_Ibarrier)(comm, made); }, MPI_STATUS_IGNORE);
}

// The process with the lowest rank hears all others, and then tells them.
void meet_group(MPI_Group group, unsigned tag) {
  if (world() == MPI_COMM_NULL || group == MPI_GROUP_NULL) return;
  int rank = 0;
  TAILRACE_REAL(MPI_Comm_rank)(world(), &rank);
  std::vector<int> others = ranks_in(world(), group);
  const auto lowest = std::min_element(others.begin(), others.end());
  if (lowest == others.end()) return;
  const int used = static_cast<int>(tag % kTags);
  if (rank == *lowest) {
    others.erase(lowest);
    with_all(world(), others, used, hear);
    with_all(world(), others, used, tell);
  } else {
    others = {*lowest};
    with_all(world(), others, used, tell);
    with_all(world(), others, used, hear);
  }
}

void begin_meetings() {
  if (!exchanges_in_background()) return;
  int rank = 0;
  TAILRACE_REAL(MPI_Comm_rank)(MPI_COMM_WORLD, &rank);
  TAILRACE_REAL(MPI_Comm_split)(MPI_COMM_WORLD, 0, rank, &world());
}

void end_meetings() {
  if (world() != MPI_COMM_NULL) TAILRACE_REAL(MPI_Comm_free)(&world());
}

void note_window(MPI_Win window, MPI_Comm comm) { windows().note(window, comm); }
void meet_window(MPI_Win window) { meet(windows().find(window)); }
void forget_window(MPI_Win window) { windows().forget(window); }

void note_file(MPI_File file, MPI_Comm comm) { files().note(file, comm); }
void meet_file(MPI_File file) { meet(files().find(file)); }
void forget_file(MPI_File file) { files().forget(file); }

void tell_exposed(MPI_Win window, MPI_Group to) {
  const MPI_Comm comm = windows().find(window);
  if (comm == MPI_COMM_NULL) return;
  for (const int rank : ranks_in(comm, to)) {
    MPI_Request request = MPI_REQUEST_NULL;
    tell(comm, rank, kExposed, request);
    TAILRACE_REAL(MPI_Request_free)(&request);
  }
}

void wait_until_exposed(MPI_Win window, MPI_Group by) {
  const MPI_Comm comm = windows().find(window);
  if (comm != MPI_COMM_NULL) with_all(comm, ranks_in(comm, by), kExposed, hear);
}

}  // namespace tailrace::mpiio
