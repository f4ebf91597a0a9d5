// ClientMessage: a client's message to its node's server, with its configuration as the application gave it.
#pragma once

#include <string>

#include "base/status.hpp"
#include "config/config_yaml.hpp"
#include "runtime/core/file_rights.hpp"

namespace tailrace::impl {

struct ClientMessage {
  ConfigInput input;      // with `text` set
  std::string directory;  // absolute
  FileRights rights;      // of the client's process, when it opened
};

// Encodes the message of this process. Reads the configuration's file if `input` has no text.
Result<std::string> encode_client(const ConfigInput& input);
Result<ClientMessage> decode_client(const std::string& message);

// Returns the configuration of a client in another process: its paths are absolute.
Result<Config> config_of(const ClientMessage& message);

}  // namespace tailrace::impl
