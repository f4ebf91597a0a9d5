#include "runtime/forward/forward_view.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

namespace tailrace::impl {
namespace {

using Json = nlohmann::json;

Json describe(const ForwardClient& client) {
  return {{"name", client.name},          {"address", client.address},        {"files", client.files.size()},
          {"locks", client.locks.size()}, {"waiting", client.waiting.size()}, {"under_way", client.under_way},
          {"held_bytes", client.held},    {"transfers", client.transfers},    {"written_bytes", client.written},
          {"read_bytes", client.read},    {"failed", client.failed},          {"gone", client.gone}};
}

}  // namespace

std::string forward_view(const Config& config, const Forwarder::View& view, Nanoseconds age) {
  Json clients = Json::array();
  for (const auto& [name, client] : view.clients) {
    if (client.role == ForwardTerms::Role::client) clients.push_back(describe(client));
  }
  Json servers = Json::array();
  for (const auto& [server, bytes] : view.queued) servers.push_back({{"server", server}, {"queued_bytes", bytes}});
  const double seconds = std::chrono::duration<double>(age).count();
  const double busy = std::chrono::duration<double>(view.counts.busy).count();
  const Json json = {{"listen", config.forward.listen},
                     {"roots", config.forward.roots},
                     {"schedule", name_of(config.schedule.kind)},
                     {"seconds", seconds},
                     {"busy_seconds", busy},
                     {"bytes_written", view.counts.transfers.bytes_written},
                     {"transfers", view.counts.transfers.transfers},
                     {"merged", view.counts.merged},
                     {"memory_bytes", view.memory.size()},
                     {"memory_held_bytes", view.memory.held()},
                     {"memory_peak_bytes", view.memory.peak()},
                     {"files", view.files},
                     {"clients", std::move(clients)},
                     {"servers", std::move(servers)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tailrace::impl
