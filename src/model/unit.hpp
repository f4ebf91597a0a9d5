// parse_unit: a unit as people write it ("kg m^-3"), as openPMD wants it (a factor to SI and seven powers).
//
// Used while the configuration is read, never later. Units that are not a pure factor (degC) are refused: openPMD
// has no place for an offset.
#pragma once

#include <string_view>

#include "base/status.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

// Understands products ("N m", "N*m"), quotients ("m/s", "1/s"), whole powers ("m^2", "m**2", "m2", "s-1") and SI
// prefixes; "1" and "%" have no dimension. Fails with TAILRACE_INVALID_CONFIG; the message says which part was not
// understood, and gives a hint. Unit::symbol is `text` without surrounding spaces.
Result<Unit> parse_unit(std::string_view text);

}  // namespace tailrace::impl
