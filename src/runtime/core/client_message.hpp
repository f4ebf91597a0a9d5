// What a client sends the server of its node about itself: its configuration, as the application gave it.
//
// JSON: the text of the configuration, its file name for messages, the program's parameters and output directory, and
// the directory that relative paths are meant from. Checked whole when it is read, as it comes from another process.
#pragma once

#include <string>

#include "base/status.hpp"
#include "config/config_yaml.hpp"

namespace tailrace::impl {

struct ClientMessage {
  ConfigInput input;      // with `text` set
  std::string directory;  // absolute
};

// Of this process. Reads the configuration's file if `input` has no text.
Result<std::string> encode_client(const ConfigInput& input);
Result<ClientMessage> decode_client(const std::string& message);

// The configuration of a client of another process: its paths are absolute.
Result<Config> config_of(const ClientMessage& message);

}  // namespace tailrace::impl
