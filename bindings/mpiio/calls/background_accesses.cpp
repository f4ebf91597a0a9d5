#include "mpiio/calls/background_accesses.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "mpiio/calls/call.hpp"
#include "mpiio/collective/group.hpp"
#include "process_client/own_thread.hpp"

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
  auto* const result = static_cast<BackgroundAccesses::Result*>(state);
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
  auto* const result = static_cast<BackgroundAccesses::Result*>(state);
  keep(result->handle, result->outcome.error);
  delete result;
  return MPI_SUCCESS;
}

int cancel(void*, int) { return MPI_SUCCESS; }

}  // namespace

int BackgroundAccesses::start(MPI_File handle, Begun begun, MPI_Request* request) {
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

void BackgroundAccesses::add(Entry entry) {
  if (entry.access->needs_progress()) in_need_.fetch_add(1, std::memory_order_relaxed);
  while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
  entries_.push_back(std::move(entry));
  busy_.clear(std::memory_order_release);
  count_.fetch_add(1, std::memory_order_relaxed);
  if (!any_thread_may_call()) return;
  const std::lock_guard lock(mutex_);
  try {
    if (!has_thread_) process::start_own_thread("tailrace-mpi", [this] { keep_going(); });
    has_thread_ = true;
  } catch (const std::system_error&) {
    return;  // the program's calls make progress
  }
  wake_.notify_one();
}

// Makes progress as long as there are accesses, without a call of the program. It pauses, since it would otherwise
// keep a processor busy; but not for long, since another process may wait for the next message.
void BackgroundAccesses::keep_going() {
  constexpr std::chrono::microseconds kShort{50};
  constexpr std::chrono::microseconds kLong{1000};
  std::chrono::microseconds pause = kShort;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return any(); });
    }
    pause = progress() ? kShort : std::min(2 * pause, kLong);
    std::this_thread::sleep_for(pause);
  }
}

bool BackgroundAccesses::progress() {
  if (!any() || busy_.test_and_set(std::memory_order_acquire)) return false;
  const bool moved = step();
  busy_.clear(std::memory_order_release);
  return moved;
}

void BackgroundAccesses::pause() const {
  constexpr std::chrono::microseconds kPause{20};
  if (any() && in_need_.load(std::memory_order_relaxed) == 0) std::this_thread::sleep_for(kPause);
}

int BackgroundAccesses::take_error() {
  if (ended.error == MPI_SUCCESS) return MPI_SUCCESS;
  const Ended taken = std::exchange(ended, Ended());
  return report(taken.handle, taken.error);
}

bool BackgroundAccesses::step() {
  bool moved = false;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->access->progress()) {
      moved = true;
    } else {
      sched_yield();
    }
    if (!entry->access->has_ended()) {
      ++entry;
      continue;
    }
    moved = true;
    if (entry->result != nullptr) {
      entry->result->outcome = mpiio::finish(*entry->access);
      TAILRACE_REAL(MPI_Grequest_complete)(entry->request);
    }
    if (entry->access->needs_progress()) in_need_.fetch_sub(1, std::memory_order_relaxed);
    entry = entries_.erase(entry);
    count_.fetch_sub(1, std::memory_order_relaxed);
  }
  return moved;
}

bool BackgroundAccesses::goes_on(const BackgroundAccess& access) {
  while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
  const bool found = std::any_of(entries_.begin(), entries_.end(),
                                 [&](const Entry& entry) { return entry.access.get() == &access; });
  busy_.clear(std::memory_order_release);
  return found;
}

void BackgroundAccesses::finish(const BackgroundAccess& access) {
  while (goes_on(access)) {
    if (!progress()) pause();
  }
}

void BackgroundAccesses::finish_all() {
  while (any()) progress();
}

}  // namespace tailrace::mpiio
