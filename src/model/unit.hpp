// parse_unit: converts a unit as people write it ("kg m^-3") to openPMD's form (a factor to SI and seven powers).
//
// Used only while the configuration is read. It refuses units with an offset (degC), which openPMD cannot express.
#pragma once

#include <string_view>

#include "base/status.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

// Accepts products ("N m", "N*m"), quotients ("m/s", "1/s"), whole powers ("m^2", "m**2", "m2", "s-1") and SI
// prefixes; "1" and "%" have no dimension. Fails with TAILRACE_INVALID_CONFIG; the message names the invalid part and
// gives a hint. Unit::symbol is `text` without surrounding spaces.
Result<Unit> parse_unit(std::string_view text);

}  // namespace tailrace::impl
