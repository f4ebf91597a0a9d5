// Unit: a unit in openPMD's form, a factor to SI and seven powers; and parse_unit, which makes it of one as people
// write it ("kg m^-3").
//
// Parsed only while the configuration is read. Units with an offset (degC) are refused: openPMD cannot express them.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace tailrace::impl {

// value_in_SI = factor · value, and the powers of the seven base quantities in openPMD's
// order: length, mass, time, electric current, temperature, amount of substance, luminous intensity.
struct Unit {
  std::string symbol = "1";
  double factor = 1.0;
  std::array<double, 7> dimension{};
};

// Accepts products ("N m", "N*m"), quotients ("m/s", "1/s"), whole powers ("m^2", "m**2", "m2", "s-1") and SI
// prefixes; "1" and "%" have no dimension. Fails with TAILRACE_INVALID_CONFIG; the message names the invalid part and
// gives a hint. Unit::symbol is `text` without surrounding spaces.
Result<Unit> parse_unit(std::string_view text);

}  // namespace tailrace::impl
