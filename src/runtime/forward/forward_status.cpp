#include "runtime/forward/forward_status.hpp"

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/sync/doorbell.hpp"
#include "config/config_forward.hpp"
#include "runtime/parts/open_remote.hpp"
#include "storage/remote/forwarders/forwarder_set.hpp"

namespace tailrace::impl {
Result<std::string> forward_status(const std::string& address, const std::string& key_file) {
  if (!is_address(address)) {
    return Status(TAILRACE_INVALID_ARGUMENT, "the forwarder's address: found '" + address + "', expected HOST:PORT");
  }
  auto log = open_log(LogLevel::off, "", "tailrace inspect");
  if (!log.ok()) return log.status();
  const SteadyClock clock;
  Doorbell doorbell;
  ForwardSettings forward;
  forward.keys = {key_file};
  forward.connections = 1;
  auto transport = open_transport(forward, doorbell);
  if (!transport.ok()) return transport.status();
  Links links(*transport.value(), clock, *log.value(), encode_terms(ForwardTerms::Role::inspector, name_of_process()),
              {});
  ForwarderSet forwarders(links, clock, doorbell, *log.value(), {.addresses = {address}});
  ForwardCallMessage message;
  message.record.call = ForwardCall::status;
  std::vector<std::byte> bulk;
  auto answer = forwarders.call(0, message, bulk);
  if (!answer.ok()) return answer.status();
  if (Status status = status_of(answer.value(), "inspect", address); !status.ok()) return status;
  forwarders.leave();
  return std::string(reinterpret_cast<const char*>(bulk.data()), bulk.size());
}

}  // namespace tailrace::impl
