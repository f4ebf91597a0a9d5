#include "api/handle.hpp"

#include <fmt/format.h>

#include <utility>

namespace tailrace::impl {

tailrace_client* new_handle(std::unique_ptr<Session> session) {
  // Handles are never destroyed: the program may use one, and must be refused, until the process has ended. The list
  // has no lock, since a forked child would inherit the lock's state. Nobody walks the list: it shows leak checkers
  // that all handles are reachable.
  static std::atomic<tailrace_client*> last{nullptr};
  auto* const handle = new tailrace_client(std::move(session));
  handle->next = last.load(std::memory_order_relaxed);
  while (!last.compare_exchange_weak(handle->next, handle, std::memory_order_relaxed)) {
  }
  return handle;
}

tailrace_status refuse_in_child(const tailrace_client& client) {
  return guarded([&] {
    return Status(TAILRACE_FORKED,
                  fmt::format("this handle belongs to process {}, which opened it, and this is process "
                              "{}, a child of it; open one of the child's own, with another id",
                              client.process, getpid()));
  });
}

void keep_untold(tailrace_client& client) noexcept {
  (void)without_exceptions([&] {
    while (std::optional<Status> failure = client.session->client().earlier()) {
      client.untold.push_back(*std::move(failure));
    }
    return Status();
  });
}

tailrace_status next_error(tailrace_client& client, tailrace_error* out) {
  // Take no failure that cannot be reported.
  if (const tailrace_status unusable = ErrorRecord().get(out); unusable != TAILRACE_OK) return unusable;
  std::optional<Status> failure;
  uint64_t more = 0;
  if (client.session != nullptr) {
    failure = client.session->client().earlier();
    more = client.session->client().unseen_failures();
  } else if (!client.untold.empty()) {
    failure = std::move(client.untold.front());
    client.untold.pop_front();
    more = client.untold.size();
  }
  if (!failure) return TAILRACE_OK;
  client.error.set(*failure, true, more);
  return client.error.get(out);
}

}  // namespace tailrace::impl
