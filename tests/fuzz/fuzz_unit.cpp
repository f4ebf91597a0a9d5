// Units. Property: a text is refused with a message, which is readable if the text is; or it has a positive factor
// and integer powers, and means the same when its symbol is read again, with spaces around it, or as a quotient by
// nothing.
#include <cmath>
#include <string>

#include "model/unit.hpp"
#include "target.hpp"

namespace {

using tailrace::impl::parse_unit;
using tailrace::impl::Result;
using tailrace::impl::Unit;

void require_same(const Unit& unit, const std::string& text) {
  const Result<Unit> other = parse_unit(text);
  TAILRACE_REQUIRE(other.ok());
  TAILRACE_REQUIRE(other.value().factor == unit.factor);
  TAILRACE_REQUIRE(other.value().dimension == unit.dimension);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<Unit> unit = parse_unit(text);
  if (!unit.ok()) {
    const std::string& message = unit.status().fault().message;
    TAILRACE_REQUIRE(!message.empty());
    if (tailrace::fuzz::is_utf8(text, true)) tailrace::fuzz::require_readable(message);
    return 0;
  }
  TAILRACE_REQUIRE(tailrace::fuzz::is_utf8(text, true));
  TAILRACE_REQUIRE(std::isnormal(unit.value().factor) && unit.value().factor > 0);
  for (const double power : unit.value().dimension) TAILRACE_REQUIRE(power == std::floor(power));
  require_same(unit.value(), unit.value().symbol);
  require_same(unit.value(), "  " + text + " ");
  return 0;
}
