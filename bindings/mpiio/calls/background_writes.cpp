#include "mpiio/calls/background_writes.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "mpiio/calls/call.hpp"

namespace tailrace::mpiio {
namespace {

// The first failure among the requests that the MPI has ended in this thread since take_error().
struct Ended {
  MPI_File handle = MPI_FILE_NULL;
  int error = MPI_SUCCESS;
};
thread_local Ended ended;

// Gives an error that no call has returned to the file's next one.
void keep(MPI_File handle, int error) {
  if (error == MPI_SUCCESS) return;
  if (OpenFile* const file = find(handle)) file->keep(error);
}

// The functions of a request. A failure is not returned by query(): MPIs report that to the error handler of
// MPI_COMM_WORLD, which ends the program, and not to the file's.
int query(void* state, MPI_Status* status) {
  auto* const result = static_cast<BackgroundWrites::Result*>(state);
  set_status(status, result->outcome.bytes);
  const int error = std::exchange(result->outcome.error, MPI_SUCCESS);
  if (error != MPI_SUCCESS && ended.error == MPI_SUCCESS) {
    ended = {result->handle, error};
  } else {
    keep(result->handle, error);
  }
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int release(void* state) {
  auto* const result = static_cast<BackgroundWrites::Result*>(state);
  keep(result->handle, result->outcome.error);
  delete result;
  return MPI_SUCCESS;
}

int cancel(void*, int) { return MPI_SUCCESS; }

}  // namespace

int BackgroundWrites::start(MPI_File handle, Begun begun, MPI_Request* request) {
  if (begun.outcome.error != MPI_SUCCESS && begun.in_background == nullptr) {
    *request = MPI_REQUEST_NULL;
    return begun.outcome.error;
  }
  auto* const result = new Result{handle, {MPI_SUCCESS, begun.outcome.bytes}};
  const int error = TAILRACE_REAL(MPI_Grequest_start)(query, release, cancel, result, request);
  if (error != MPI_SUCCESS) return error;
  if (begun.in_background == nullptr) return TAILRACE_REAL(MPI_Grequest_complete)(*request);
  add({std::move(begun.in_background), result, *request});
  return begun.outcome.error;
}

void BackgroundWrites::add(Entry entry) {
  while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
  entries_.push_back(std::move(entry));
  busy_.clear(std::memory_order_release);
  count_.fetch_add(1, std::memory_order_relaxed);
}

void BackgroundWrites::progress() {
  if (!any() || busy_.test_and_set(std::memory_order_acquire)) return;
  step();
  busy_.clear(std::memory_order_release);
}

int BackgroundWrites::take_error() {
  if (ended.error == MPI_SUCCESS) return MPI_SUCCESS;
  const Ended taken = std::exchange(ended, Ended());
  return report(taken.handle, taken.error);
}

void BackgroundWrites::step() {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (!entry->write->progress()) sched_yield();
    if (!entry->write->has_ended()) {
      ++entry;
      continue;
    }
    if (entry->result != nullptr) {
      entry->result->outcome = mpiio::finish(*entry->write);
      TAILRACE_REAL(MPI_Grequest_complete)(entry->request);
    }
    entry = entries_.erase(entry);
    count_.fetch_sub(1, std::memory_order_relaxed);
  }
}

bool BackgroundWrites::goes_on(const AggregatedWrite& write) {
  while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
  const bool found =
      std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.write.get() == &write; });
  busy_.clear(std::memory_order_release);
  return found;
}

void BackgroundWrites::finish(const AggregatedWrite& write) {
  while (goes_on(write)) progress();
}

void BackgroundWrites::finish_all() {
  while (any()) progress();
}

}  // namespace tailrace::mpiio
