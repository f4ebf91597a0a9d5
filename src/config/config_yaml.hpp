// read_config: turns a configuration file (docs/formats/configuration.md) into a checked Config, or into a message.
//
// It is the first step of opening a client. It reads one file and nothing else: it does not check that directories or
// processors exist, and starts nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "config/yaml/yaml_report.hpp"
#include "model/config/config.hpp"

namespace tailrace::impl {

struct ConfigInput {
  std::string file;                           // names the configuration in messages; read unless `text` is given
  std::optional<std::string> text;            // the YAML itself
  std::optional<std::string> path_override;   // replaces storage.path
  std::optional<std::string> files_override;  // replaces storage.files
  std::vector<std::pair<std::string, Number>> parameters;  // replace or add to `parameters:`
  int client = 0;                                          // the value of the parameter `client`
  bool flush_waits = false;                                // refuse a configuration in which flush does not wait
  std::string program_python;                              // Config::program_python
};

// Fails with TAILRACE_INVALID_CONFIG ("FILE:LINE:COLUMN: KEY.PATH: found X, expected Y; hint", and how many mistakes
// there are besides), with TAILRACE_IO_ERROR and errno if the file cannot be read, and with TAILRACE_INVALID_ARGUMENT
// if `path_override` or `parameters` is wrong. Never throws. `mistakes`, if given, gets all that the file has, in
// their order.
Result<Config> read_config(const ConfigInput& input, std::vector<Mistake>* mistakes = nullptr);

// Returns the bytes of a configuration file, at most one beyond the limit.
Result<std::string> read_config_text(const std::string& path);

}  // namespace tailrace::impl
