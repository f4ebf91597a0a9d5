// UcxWorker: the context and the worker of UCX that one transport has, and their settings.
//
// Settings come from UCX's own environment and files, changed where tailrace's promises require it; nothing is put
// into the environment. One thread at a time uses the worker.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <memory>

#include "base/status.hpp"
#include "transport/transport_module.hpp"

namespace tailrace::impl {

class UcxWorker {
 public:
  // Fails with TAILRACE_UNSUPPORTED if UCX cannot work here as `options` ask, or could reach no other machine.
  static Result<std::unique_ptr<UcxWorker>> create(const TransportOptions& options);
  // Requires that all endpoints and listeners are closed. Leaves UCX's memory to the process if it is damaged.
  ~UcxWorker();
  UcxWorker(const UcxWorker&) = delete;
  UcxWorker& operator=(const UcxWorker&) = delete;

  ucp_context_h context() const { return context_; }
  ucp_worker_h get() const { return worker_; }
  // Becomes readable when there is something to do after arm(). Owned by UCX.
  int descriptor() const { return descriptor_; }
  // Returns the most bytes that fit into the header of an active message.
  size_t most_header() const { return most_header_; }

  // Carries on what is under way, which calls callbacks. Returns false if there was nothing to do.
  bool progress() { return ucp_worker_progress(worker_) != 0; }
  // Returns false if something has happened meanwhile that progress() must see.
  bool arm() { return ucp_worker_arm(worker_) != UCS_ERR_BUSY; }

  // Says that an endpoint could not be created. UCX 1.13 then keeps a half-made one, which it would free wrongly.
  void note_damage() { is_damaged_ = true; }

  // Registers a callback for active messages of this id. UCX keeps all data until they are released.
  Status receive(unsigned id, ucp_am_recv_callback_t callback, void* argument);

 private:
  UcxWorker() = default;
  Status open_context(const TransportOptions& options);
  Status open_worker();
  Status find_network(const TransportOptions& options);

  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int descriptor_ = -1;
  size_t most_header_ = 0;
  bool is_damaged_ = false;
};

}  // namespace tailrace::impl
