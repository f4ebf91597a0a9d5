// What of the configuration concerns the engine.
#pragma once

#include "engine/engine.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

// `timed`: whoever runs the engine calls it when it is due.
EngineOptions engine_options(const Config& config, bool timed);

}  // namespace tailrace::impl
