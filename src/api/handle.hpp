// tailrace_client: the handle that users hold, and the guard that every call on one goes through.
//
// Handles are never freed, so that one that was closed is recognised and not a dangling pointer: a small record each,
// for the life of the process (docs/decisions/004). A handle belongs to the process that opened it: a forked child
// has the record, but neither the threads nor the memory behind it, and a thread of the parent may have been changing
// what it has (docs/decisions/004). So in a child nothing of a handle is looked at but what never changes.
#pragma once

#include <tailrace/tailrace.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "api/error_record.hpp"
#include "base/memory/process_mark.hpp"
#include "runtime/session.hpp"

struct tailrace_client {
  explicit tailrace_client(std::unique_ptr<tailrace::impl::Session> opened) : session(std::move(opened)) {}
  bool is_of_this_process() const { return mark == tailrace::impl::process_mark(); }

  // Mark of the process that opened the client.
  const uint64_t mark = tailrace::impl::process_mark();
  const pid_t process = getpid();
  tailrace_client* next = nullptr;  // in the list of all; constant once it is in it

  // Known to whoever is inside a call, that is, has set `inside`.
  std::unique_ptr<tailrace::impl::Session> session;
  tailrace::impl::ErrorRecord error;
  std::deque<tailrace::impl::Status> untold;  // failures that the close has not told, the oldest first
  // True while a thread is in a call. acquire on entry, release on leaving: calls on a handle may come from different
  // threads, one after the other.
  std::atomic<bool> inside{false};
};

namespace tailrace::impl {

// A new handle for an open session.
tailrace_client* new_handle(std::unique_ptr<Session> session);

// No exception leaves the C ABI: runs `body`, which returns a Status, and makes one of whatever it throws.
template <class Body>
Status without_exceptions(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Status(TAILRACE_OUT_OF_MEMORY, "the system has no more memory");
  } catch (const std::exception& exception) {
    return Status(TAILRACE_INTERNAL, std::string("unexpected exception: ") + exception.what());
  }
}

// For calls without a client: the status is remembered for tailrace_last_error(NULL, …).
template <class Body>
tailrace_status guarded(Body body) {
  const Status status = without_exceptions(body);
  if (!status.ok()) thread_error().set(status, false, 0);
  return status.code();
}

// Which failures of accepted requests a call tells, if it does not fail itself: those from before the call, so that
// none is told of a request that the call itself has made; for calls that wait, also those from while they waited.
enum class Tells { earlier_failures, failures_so_far, only_its_own };
enum class Leaves { client_open, client_closed };

// Refuses a handle of the process that forked this one. The handle's own record of errors may have been in another
// thread's hands at that moment: this thread's is used.
tailrace_status refuse_in_child(const tailrace_client& client);

// Keeps the failures that a session has not reported and that is about to be closed. Never throws.
void keep_untold(tailrace_client& client) noexcept;

// Tells the oldest untold failure; see tailrace_next_error. The caller is inside.
tailrace_status next_error(tailrace_client& client, tailrace_error* out);

// For calls on a client: refuses NULL, a parent's, closed and busy handles, runs `body(Session&)`, and tells its
// failure or else (unless the call tells only its own) one of an earlier request. The last call of a client leaves it
// closed.
template <class Body>
tailrace_status guarded(tailrace_client* client, Tells tells, Body body, Leaves leaves = Leaves::client_open) {
  if (client == nullptr) {
    return guarded([] { return Status(TAILRACE_INVALID_ARGUMENT, "found NULL, expected a client handle"); });
  }
  if (!client->is_of_this_process()) return refuse_in_child(*client);
  if (client->inside.exchange(true, std::memory_order_acquire)) return TAILRACE_BUSY;
  tailrace_status code = TAILRACE_OK;
  if (client->session == nullptr) {
    client->error.set(Status(TAILRACE_CLOSED, "this client has been closed"), false, 0);
    code = TAILRACE_CLOSED;
  } else {
    Session& session = *client->session;
    const bool failed_before = session.client().unseen_failures() > 0;
    const Status status = without_exceptions([&] { return body(session); });
    code = status.code();
    if (!status.ok()) {
      client->error.set(status, false, session.client().unseen_failures());
    } else if (tells == Tells::failures_so_far || (tells == Tells::earlier_failures && failed_before)) {
      if (const std::optional<Status> earlier = session.client().earlier()) {
        client->error.set(*earlier, true, session.client().unseen_failures());
        code = TAILRACE_EARLIER_FAILURE;
      }
    }
    if (leaves == Leaves::client_closed) {
      keep_untold(*client);
      client->session.reset();
    }
  }
  client->inside.store(false, std::memory_order_release);
  return code;
}

}  // namespace tailrace::impl
