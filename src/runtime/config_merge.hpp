// `merge:` of the configuration, and what of it concerns the engine.
#pragma once

#include "engine/engine.hpp"
#include "model/config.hpp"
#include "runtime/yaml_reader.hpp"

namespace tailrace::impl {

void read_merge(const YamlValue& value, Config& config);

// Who runs the engine.
enum class EngineIn : uint8_t {
  process,  // the one that computes; nobody goes on after it
  server,   // of a node: calls it when it is due; another goes on after its death
  own       // that which a client goes on with alone; `tailrace recover` goes on after its death
};
EngineOptions engine_options(const Config& config, EngineIn where);

}  // namespace tailrace::impl
