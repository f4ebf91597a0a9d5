#include "storage/remote/domains.hpp"

#include <algorithm>
#include <limits>

#include "base/assert.hpp"

namespace tailrace::impl {

Domains::Domains(const StripeMap& stripes, size_t forwarders, size_t first)
    : stripes_(stripes), forwarders_(forwarders) {
  TAILRACE_REQUIRE(first < forwarders);
  if (stripes.unit != StripeMap::kWholeFile) return;
  stripes_.unit = kUnit;
  stripes_.servers.clear();
  for (size_t i = 0; i < forwarders; ++i) {
    stripes_.servers.push_back(static_cast<uint32_t>((first + i) % forwarders));
  }
}

size_t Domains::forwarder_of(uint64_t offset) const { return stripes_.server_of(offset) % forwarders_; }

uint64_t Domains::length_at(uint64_t offset, uint64_t most) const {
  const size_t forwarder = forwarder_of(offset);
  uint64_t length = stripes_.unit - offset % stripes_.unit;
  // If a whole turn of the stripes is one forwarder's, so are all.
  for (size_t stripe = 0; length < most && forwarder_of(offset + length) == forwarder; ++stripe) {
    if (stripe == stripes_.servers.size()) return most;
    if (stripes_.unit > std::numeric_limits<uint64_t>::max() - offset - length) return most;
    length += stripes_.unit;
  }
  return std::min(length, most);
}

}  // namespace tailrace::impl
