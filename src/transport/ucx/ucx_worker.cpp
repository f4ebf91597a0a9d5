#include "transport/ucx/ucx_worker.hpp"

#include <fmt/format.h>

#include "base/os/signals_blocked.hpp"
#include "transport/ucx/quiet_ucx.hpp"
#include "transport/ucx/ucx_status.hpp"

namespace tailrace::impl {
namespace {

Status unsupported(std::string_view what, ucs_status_t status) {
  return Status(TAILRACE_UNSUPPORTED,
                fmt::format("UCX cannot work here: {}", ucx_failure(what, status).fault().message));
}

// The longest address of a worker that no other machine can reach: it has a head, the worker's number and an end.
// Each network device adds a dozen bytes or more.
constexpr size_t kLonelyAddress = 16;

struct ReleaseConfig {
  void operator()(ucp_config_t* config) const { ucp_config_release(config); }
};

}  // namespace

Result<std::unique_ptr<UcxWorker>> UcxWorker::create(const TransportOptions& options) {
  std::unique_ptr<UcxWorker> made(new UcxWorker());
  const SignalsBlocked for_ucx_threads;
  if (Status opened = made->open_context(options); !opened.ok()) return opened;
  if (Status opened = made->open_worker(); !opened.ok()) return opened;
  if (Status found = made->find_network(options); !found.ok()) return found;
  return made;
}

UcxWorker::~UcxWorker() {
  if (is_damaged_) return;
  if (worker_ != nullptr) ucp_worker_destroy(worker_);
  if (context_ != nullptr) ucp_cleanup(context_);
}

Status UcxWorker::open_context(const TransportOptions& options) {
  ucp_config_t* raw = nullptr;
  ucs_status_t status = ucp_config_read(nullptr, nullptr, &raw);
  if (status != UCS_OK) return unsupported("its configuration", status);
  const std::unique_ptr<ucp_config_t, ReleaseConfig> config(raw);
  if (!options.transports.empty()) {
    status = ucp_config_modify(raw, "TLS", options.transports.c_str());
    if (status != UCS_OK) return unsupported(fmt::format("the transports '{}'", options.transports), status);
  }
  if (!options.devices.empty()) {
    status = ucp_config_modify(raw, "NET_DEVICES", options.devices.c_str());
    if (status != UCS_OK) return unsupported(fmt::format("the devices '{}'", options.devices), status);
  }
  if (options.ipv6) (void)ucp_config_modify(raw, "AF_PRIO", "inet6,inet");
  // UCX uses shared memory only if it can tell that a process on the other side has died; this has a price for
  // others.
  (void)ucp_config_modify(raw, "MM_ERROR_HANDLING", "y");
  // A cache of registered memory has to watch every munmap of the process. Our memory is announced once instead. UCX
  // before 1.13 has no such setting: that is no failure.
  (void)ucp_config_modify(raw, "RCACHE_ENABLE", "n");

  // A listener that starts again takes its port, though the system keeps old connections of it for a minute.
  (void)ucp_config_modify(raw, "CM_REUSEADDR", "y");

  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  params.mt_workers_shared = 1;  // memory is registered on another thread
  params.name = "tailrace";
  status = ucp_init(&params, raw, &context_);
  if (status != UCS_OK) {
    context_ = nullptr;
    return unsupported("its context", status);
  }
  return {};
}

Status UcxWorker::open_worker() {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_FLAGS;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  params.flags = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK;
  ucs_status_t status = ucp_worker_create(context_, &params, &worker_);
  if (status != UCS_OK) {
    worker_ = nullptr;
    return unsupported("its worker", status);
  }
  status = ucp_worker_get_efd(worker_, &descriptor_);
  if (status != UCS_OK) return unsupported("its event descriptor", status);
  ucp_worker_attr_t attributes{};
  attributes.field_mask = UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER;
  status = ucp_worker_query(worker_, &attributes);
  if (status != UCS_OK) return unsupported("its limits", status);
  most_header_ = attributes.max_am_header;
  return {};
}

// Fails if no device that the options name has one of their transports. UCX itself is content with shared memory, by
// which it connects nobody to a listener.
Status UcxWorker::find_network(const TransportOptions& options) {
  const std::string said = last_message_of_ucx();  // perhaps that a device is not there
  ucp_worker_attr_t attributes{};
  attributes.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS;
  attributes.address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY;
  const ucs_status_t status = ucp_worker_query(worker_, &attributes);
  if (status != UCS_OK) return unsupported("its address", status);
  ucp_worker_release_address(worker_, attributes.address);
  if (attributes.address_length > kLonelyAddress) return {};
  const auto chosen = [](const std::string& list) { return list.empty() ? std::string("any") : list; };
  return Status(TAILRACE_UNSUPPORTED,
                fmt::format("UCX cannot work here: no peer could be reached, since the devices '{}' offer no fabric "
                            "(transports '{}'){}",
                            chosen(options.devices), chosen(options.transports),
                            said.empty() ? "" : fmt::format(": {}", said)));
}

Status UcxWorker::receive(unsigned id, ucp_am_recv_callback_t callback, void* argument) {
  ucp_am_handler_param_t params{};
  params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                      UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  params.id = id;
  params.flags = UCP_AM_FLAG_WHOLE_MSG | UCP_AM_FLAG_PERSISTENT_DATA;
  params.cb = callback;
  params.arg = argument;
  const ucs_status_t status = ucp_worker_set_am_recv_handler(worker_, &params);
  return status == UCS_OK ? Status{} : unsupported("active messages", status);
}

}  // namespace tailrace::impl
