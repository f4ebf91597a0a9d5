// `merge:` of the configuration, and what of it concerns the engine.
#pragma once

#include "engine/engine.hpp"
#include "model/config.hpp"
#include "runtime/yaml_reader.hpp"

namespace tailrace::impl {

void read_merge(const YamlValue& value, Config& config);

// `timed`: whoever runs the engine calls it when it is due.
EngineOptions engine_options(const Config& config, bool timed);

}  // namespace tailrace::impl
