#include "runtime/forward/forward_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include "base/clock.hpp"
#include "base/descriptor_limit.hpp"
#include "base/limited_log.hpp"
#include "base/memory/memory_map.hpp"
#include "base/memory/range_allocator.hpp"
#include "base/sync/doorbell.hpp"
#include "config/config_yaml.hpp"
#include "forward/forwarder.hpp"
#include "runtime/forward/forward_view.hpp"
#include "runtime/parts/open_remote.hpp"
#include "runtime/parts/open_storage.hpp"
#include "runtime/parts/provenance.hpp"
#include "runtime/parts/server_parts.hpp"

namespace tailrace::impl {
namespace {

// A client that waits for each of its small writes sends the next one soon. To be woken takes longer than all the
// rest of such a write, so after each message the forwarder looks for another one for so long before it sleeps.
constexpr Nanoseconds kLook = std::chrono::microseconds(100);

// Returns the time, on the steady clock, at which the system clock began: a moment that all nodes have in common.
Nanoseconds common_origin(const Clock& clock) {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return clock.now() - std::chrono::duration_cast<Nanoseconds>(since);
}

Status check(const Config& config) {
  if (!config.forward.listen.empty()) return {};
  return Status(TAILRACE_INVALID_CONFIG, fmt::format("{}: forward.listen: found nothing, expected an address such as "
                                                     "0.0.0.0:4711",
                                                     config.source));
}

// All parts of a forwarder; each uses the members above it.
struct Parts {
  SteadyClock clock;
  Doorbell doorbell;
  std::unique_ptr<Storage> storage;
  std::unique_ptr<Scheduler> scheduler;
  std::optional<MappedMemory> memory;
  std::unique_ptr<Transport> transport;
  std::optional<Engine> engine;
  std::optional<Links> links;
  std::optional<Forwarder> forwarder;
};

Status build(Parts& parts, const Config& config, const ForwardServerOptions& options, Log& log) {
  auto storage = open_local(config, {}, parts.doorbell, log, config.forward.roots);
  if (!storage.ok()) return storage.status();
  parts.storage = std::move(storage).value();
  if (options.wrap) parts.storage = options.wrap(std::move(parts.storage));
  parts.scheduler = make_scheduler(config.schedule, config.forward.number, common_origin(parts.clock));
  const uint64_t budget = config.memory.budget / RangeAllocator::kPage * RangeAllocator::kPage;
  auto memory = MappedMemory::create(budget, false);
  if (!memory.ok()) return memory.status();
  parts.memory.emplace(std::move(memory).value());
  auto transport = open_transport(config.forward, parts.doorbell);
  if (!transport.ok()) return transport.status();
  parts.transport = std::move(transport).value();
  parts.storage->use_memory(parts.memory->bytes());
  parts.transport->use_memory(parts.memory->bytes());
  parts.engine.emplace(*parts.storage, *parts.scheduler, parts.clock, engine_options(config, true));
  Forwarder::Options limits;
  Links::Options link_options;
  link_options.silence = link_options.lease = limits.lease;
  parts.links.emplace(*parts.transport, parts.clock, log, encode_terms(Forwarder::terms(limits), name_of_process()),
                      link_options);
  parts.forwarder.emplace(*parts.links, *parts.engine, parts.memory->bytes(), parts.clock, log, limits,
                          [&config, begun = parts.clock.now(), &clock = parts.clock](const Forwarder::View& view) {
                            return forward_view(config, view, clock.now() - begun);
                          });
  return {};
}

// Takes the keys that the files have now. A file without a key changes nothing.
void read_keys_again(Transport& transport, const ForwardSettings& config, Log& log) {
  auto keys = read_keys(config.keys);
  std::string names;
  for (const PreSharedKey& key : keys.ok() ? keys.value() : std::vector<PreSharedKey>()) {
    names += (names.empty() ? "" : ", ") + key.identity;
  }
  const Status used = !keys.ok() ? keys.status() : names.empty() ? Status() : transport.use_keys(keys.value());
  if (!used.ok()) {
    log.error("the keys stay as they are: {}", used.fault().message);
  } else {
    log.info("new connections need one of these keys: {}", names.empty() ? "none, UCX has no keys" : names);
  }
}

void serve(Parts& parts, ForwardRequests& requests, const ForwardSettings& config, Log& log) {
  Forwarder& forwarder = *parts.forwarder;
  Nanoseconds awake_until{0};
  while (!forwarder.has_left()) {
    if (requests.stop) forwarder.leave();
    if (requests.read_keys.exchange(false)) read_keys_again(*parts.transport, config, log);
    if (forwarder.step()) {
      awake_until = parts.clock.now() + kLook;
      continue;
    }
    if (parts.clock.now() < awake_until) {
      std::this_thread::yield();  // others of this machine come first
      continue;
    }
    parts.doorbell.prepare();
    if (forwarder.step() || (requests.stop && forwarder.has_left())) {
      parts.doorbell.cancel();
      continue;
    }
    std::optional<Nanoseconds> limit = forwarder.due();
    if (limit) limit = std::max(*limit - parts.clock.now(), Nanoseconds::zero());
    parts.doorbell.sleep(limit);
  }
}

}  // namespace

Status run_forwarder(const ForwardServerOptions& options, ForwardRequests& requests) {
  ConfigInput input;
  input.file = options.config;
  Result<Config> config = read_config(input);
  if (!config.ok()) return config.status();
  if (Status status = check(config.value()); !status.ok()) return status;
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes becomes an error of the write
  raise_descriptor_limit();
  const std::string level = options.log_level.empty() ? config.value().log.level : options.log_level;
  auto opened = open_log(log_level_of(level), config.value().log.file, "tailrace forward");
  if (!opened.ok()) return opened.status();
  LimitedLog log(*opened.value(), log_level_of(level));  // clients decide how much is logged
  Parts parts;
  if (Status status = build(parts, config.value(), options, log); !status.ok()) return status;
  const Result<std::string> address = parts.links->listen(config.value().forward.listen);
  if (!address.ok()) return address.status();
  requests.bell = parts.doorbell.fd();
  if (options.listening) options.listening(address.value());
  serve(parts, requests, config.value().forward, log);
  requests.bell = -1;
  return {};
}

}  // namespace tailrace::impl
