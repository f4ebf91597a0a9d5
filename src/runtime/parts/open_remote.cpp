#include "runtime/parts/open_remote.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "runtime/parts/provenance.hpp"
#include "storage/remote/remote_storage.hpp"
#include "transport/key/key_file.hpp"
#include "transport/key/random_bytes.hpp"
#include "transport/loader/load_transport.hpp"

namespace tailrace::impl {
namespace {

RemoteFiles::OnLoss on_loss_of(OnForwarderLoss loss) {
  switch (loss) {
    case OnForwarderLoss::next: return RemoteFiles::OnLoss::next;
    case OnForwarderLoss::direct: return RemoteFiles::OnLoss::direct;
    case OnForwarderLoss::fail: return RemoteFiles::OnLoss::fail;
  }
  TAILRACE_ASSERT(false);
}

TransferRecord::Confirm confirm_of(Confirm confirm) {
  switch (confirm) {
    case Confirm::written: return TransferRecord::Confirm::written;
    case Confirm::durable: return TransferRecord::Confirm::durable;
    case Confirm::received: return TransferRecord::Confirm::received;
  }
  TAILRACE_ASSERT(false);
}

// Returns where a program writes: the same text for all nodes of a job.
std::string output_of(const Config& config) {
  std::error_code error;
  const std::string& given = config.storage.paths.front();
  const std::filesystem::path path = std::filesystem::absolute(given, error);
  return ((error ? std::filesystem::path(given) : path) / config.name).lexically_normal().string();
}

// A thread that sleeps until an answer comes is woken later than the answer to a small write takes. A program that
// computes meanwhile loses no more than this for each small message.
constexpr Nanoseconds kLook = std::chrono::microseconds(100);

}  // namespace

std::string name_of_process() { return fmt::format("{}/{}", machine_name(), ::getpid()); }

Result<std::vector<PreSharedKey>> read_keys(const std::vector<std::string>& files) {
  std::vector<PreSharedKey> keys;
  for (const std::string& file : files) {
    const Result<ForwardKey> key = read_key(file);
    if (!key.ok()) return key.status();
    PreSharedKey shared = pre_shared(key.value());
    const auto is_same = [&](const PreSharedKey& other) { return other.identity == shared.identity; };
    if (std::any_of(keys.begin(), keys.end(), is_same)) continue;
    keys.push_back(std::move(shared));
  }
  return keys;
}

Result<std::unique_ptr<Transport>> open_transport(const ForwardSettings& config, Doorbell& doorbell) {
  auto keys = read_keys(config.keys);
  if (!keys.ok()) return keys.status();
  TransportOptions options;
  options.keys = std::move(keys).value();
  options.most_strangers = config.strangers.most;
  options.most_of_one_host = config.strangers.of_one_address;
  options.greeting = config.strangers.time;
  options.connections = config.connections;
  options.devices = config.devices;
  options.transports = config.transports.empty() ? "^tcp" : config.transports;  // TCP never: see decision 016
  return load_transport(config.ucx ? TransportKind::ucx : TransportKind::tcp, doorbell, std::move(options));
}

Result<std::unique_ptr<Storage>> open_remote(const Config& config, std::unique_ptr<Storage> local, const Clock& clock,
                                             Doorbell& doorbell, Log& log) {
  auto transport = open_transport(config.forward, doorbell);
  if (!transport.ok()) return transport.status();
  RemoteStorage::Options options;
  options.servers = config.forward.servers;
  // All nodes that name the same forwarders, in whatever order, use the same one for a path.
  std::sort(options.servers.begin(), options.servers.end());
  options.on_loss = on_loss_of(config.forward.on_loss);
  options.confirm = confirm_of(config.forward.confirm);
  options.spread = config.forward.spread;
  options.look = kLook;
  options.name = name_of_process();
  options.output = output_of(config);
  system_random()(std::as_writable_bytes(std::span(&options.process, 1)));
  auto storage = RemoteStorage::create(std::move(transport).value(), std::move(local), clock, doorbell, log, options);
  if (!storage.ok()) return storage.status();
  return std::unique_ptr<Storage>(std::move(storage).value());
}

}  // namespace tailrace::impl
