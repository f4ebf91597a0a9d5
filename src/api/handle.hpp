// tailrace_client: the handle that users hold, and the guard that every call on one goes through.
//
// Handles are never freed, so that a closed one is recognised and does not dangle: each is a small record, for the
// life of the process (docs/decisions/004). A handle belongs to the process that opened it. A forked child has the
// record, but neither the threads nor the memory behind it, and a thread of the parent may have been changing it
// during the fork. So a child reads only those members of a handle that never change.
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
#include <system_error>
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
  tailrace_client* next = nullptr;  // in the list of all handles; constant once it is there

  // Used only inside a call, that is, by the thread that has set `inside`.
  std::unique_ptr<tailrace::impl::Session> session;
  tailrace::impl::ErrorRecord error;
  std::deque<tailrace::impl::Status> untold;  // failures that the close has not reported, oldest first
  // True while a thread is in a call. acquire on entry, release on leaving: different threads may call on a handle,
  // one at a time.
  std::atomic<bool> inside{false};
};

namespace tailrace::impl {

// Returns a new handle for an open session.
tailrace_client* new_handle(std::unique_ptr<Session> session);

// Runs `body`, which returns a Status, and turns any exception into a Status: no exception leaves the C ABI.
template <class Body>
Status without_exceptions(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Status(TAILRACE_OUT_OF_MEMORY, "the system has no more memory");
  } catch (const std::system_error& error) {
    Fault fault;
    fault.code = TAILRACE_IO_ERROR;
    fault.message = std::string("the system refuses it: ") + error.what();
    fault.system_errno = error.code().value();
    return Status(std::move(fault));
  } catch (const std::exception& exception) {
    return Status(TAILRACE_INTERNAL, std::string("unexpected exception: ") + exception.what());
  }
}

// For calls without a client: remembers the status for tailrace_last_error(NULL, …).
template <class Body>
tailrace_status guarded(Body body) {
  const Status status = without_exceptions(body);
  if (!status.ok()) thread_error().set(status, false, 0);
  return status.code();
}

// Which failures of accepted requests a call reports, if it does not fail itself. Those from before the call, so that
// it never reports a request that it has made itself; a call that waits also reports those from its wait.
enum class Tells { earlier_failures, failures_so_far, only_its_own };
enum class Leaves { client_open, client_closed };

// Refuses a handle of the process that forked this one. Another thread may have been using the handle's own error
// record during the fork, so this uses the thread's record.
tailrace_status refuse_in_child(const tailrace_client& client);

// Keeps the unreported failures of a session that is about to be closed. Never throws.
void keep_untold(tailrace_client& client) noexcept;

// Reports the oldest failure not reported yet; see tailrace_next_error. The caller is inside a call.
tailrace_status next_error(tailrace_client& client, tailrace_error* out);

// For calls on a client: refuses NULL, handles of the parent, closed and busy ones. Runs `body(Session&)` and reports
// its failure, or else (unless the call reports only its own) that of an earlier request. The last call on a client
// leaves it closed.
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
