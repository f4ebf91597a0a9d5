// open_remote: opens the back end `remote`, and the transport that it uses, as a configuration's `forward` says.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/sync/doorbell.hpp"
#include "model/config/config.hpp"
#include "storage/storage.hpp"
#include "transport/transport.hpp"

namespace tailrace::impl {

// `local`: the storage of this node itself, which goes on if forwarders are lost and on_forwarder_loss is direct;
// else null. All others are borrowed for the life of the storage. Fails with TAILRACE_SERVER_LOST if no forwarder
// answers.
Result<std::unique_ptr<Storage>> open_remote(const Config& config, std::unique_ptr<Storage> local, const Clock& clock,
                                             Doorbell& doorbell, Log& log);

// Opens the transport, with the keys. The doorbell outlives it.
Result<std::unique_ptr<Transport>> open_transport(const ForwardSettings& config, Doorbell& doorbell);

// Reads key files.
Result<std::vector<PreSharedKey>> read_keys(const std::vector<std::string>& files);

// Returns the name of this node and process, for the other end's log: "node7/4711".
std::string name_of_process();

}  // namespace tailrace::impl
