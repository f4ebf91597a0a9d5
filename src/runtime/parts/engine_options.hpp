// engine_options: the engine's options, from the configuration.
#pragma once

#include "engine/engine.hpp"
#include "model/config/config.hpp"

namespace tailrace::impl {

// `timed`: the engine's driver calls it when it is due.
EngineOptions engine_options(const Config& config, bool timed);

}  // namespace tailrace::impl
