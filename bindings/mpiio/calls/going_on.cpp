#include "mpiio/calls/going_on.hpp"

#include <sched.h>

#include <utility>

#include "mpiio/calls/call.hpp"

namespace tailrace::mpiio {
namespace {

// The functions of a request. A failure is not returned by query(): MPIs report that to the error handler of
// MPI_COMM_WORLD, which ends the program, and not to the file's.
int query(void* state, MPI_Status* status) {
  set_status(status, static_cast<const Outcome*>(state)->bytes);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int release(void* state) {
  delete static_cast<Outcome*>(state);
  return MPI_SUCCESS;
}

int cancel(void*, int) { return MPI_SUCCESS; }

}  // namespace

int GoingOn::start(MPI_File handle, Begun begun, MPI_Request* request) {
  if (begun.outcome.error != MPI_SUCCESS && begun.going_on == nullptr) {
    *request = MPI_REQUEST_NULL;
    return begun.outcome.error;
  }
  auto* const outcome = new Outcome(begun.outcome);
  const int error = TAILRACE_REAL(MPI_Grequest_start)(query, release, cancel, outcome, request);
  if (error != MPI_SUCCESS) return error;
  if (begun.going_on == nullptr) return TAILRACE_REAL(MPI_Grequest_complete)(*request);
  while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
  entries_.push_back({handle, std::move(begun.going_on), outcome, *request});
  busy_.clear(std::memory_order_release);
  count_.fetch_add(1, std::memory_order_relaxed);
  return begun.outcome.error;
}

int GoingOn::progress() {
  if (!any() || busy_.test_and_set(std::memory_order_acquire)) return MPI_SUCCESS;
  const int error = step();
  busy_.clear(std::memory_order_release);
  return error;
}

int GoingOn::step() {
  int failed = MPI_SUCCESS;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (!entry->write->progress()) sched_yield();
    if (!entry->write->has_ended()) {
      ++entry;
      continue;
    }
    *entry->outcome = mpiio::finish(*entry->write);
    failed = first_of(failed, report(entry->handle, entry->outcome->error));
    TAILRACE_REAL(MPI_Grequest_complete)(entry->request);
    entry = entries_.erase(entry);
    count_.fetch_sub(1, std::memory_order_relaxed);
  }
  return failed;
}

void GoingOn::finish() {
  while (any()) progress();
}

}  // namespace tailrace::mpiio
