#include "runtime/parts/open_remote.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <span>
#include <utility>

#include "runtime/parts/provenance.hpp"
#include "storage/remote/remote_storage.hpp"
#include "transport/secure/key_file.hpp"
#include "transport/secure/random_bytes.hpp"
#include "transport/ucx_loader/load_ucx.hpp"

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

}  // namespace

std::string name_of_process() { return fmt::format("{}/{}", machine_name(), ::getpid()); }

Result<std::unique_ptr<Storage>> open_remote(const Config& config, std::unique_ptr<Storage> local, const Clock& clock,
                                             Doorbell& doorbell, Log& log) {
  Result<ForwardKey> key = read_key(config.forward.key);
  if (!key.ok()) return key.status();
  auto transport = load_ucx_transport(doorbell, {.transports = config.forward.transports});
  if (!transport.ok()) return transport.status();
  RemoteStorage::Options options;
  options.servers = config.forward.servers;
  options.on_loss = on_loss_of(config.forward.on_loss);
  options.confirm = confirm_of(config.forward.confirm);
  options.spread = config.forward.spread;
  options.name = name_of_process();
  system_random()(std::as_writable_bytes(std::span(&options.process, 1)));
  options.links.encrypts_bulk = config.forward.encrypt;
  auto storage = RemoteStorage::create(std::move(transport).value(), std::move(local), key.value(), clock, doorbell,
                                       log, options);
  if (!storage.ok()) return storage.status();
  return std::unique_ptr<Storage>(std::move(storage).value());
}

}  // namespace tailrace::impl
