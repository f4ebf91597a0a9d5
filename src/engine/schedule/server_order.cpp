#include "engine/schedule/server_order.hpp"

#include <numeric>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

// Returns the `rank`-th number from 1 to `servers` that is coprime to it, counted from 0 and round and round.
uint32_t coprime(uint32_t servers, uint32_t rank) {
  uint32_t count = 0;  // of coprime numbers
  for (uint32_t number = 1; number <= servers; ++number) count += std::gcd(number, servers) == 1 ? 1 : 0;
  rank %= count;
  uint32_t number = 1;
  while (std::gcd(number, servers) != 1 || rank-- > 0) ++number;
  return number;
}

}  // namespace

ServerOrder::ServerOrder(uint32_t forwarder, uint32_t servers) : servers_(servers), first_(0), step_(1) {
  TAILRACE_REQUIRE(servers > 0);
  first_ = forwarder % servers;
  if (forwarder >= servers) step_ = coprime(servers, forwarder / servers);
}

uint32_t ServerOrder::at(int64_t turn) const {
  const int64_t within = (turn % servers_ + servers_) % servers_;
  return static_cast<uint32_t>((first_ + step_ * within) % servers_);
}

}  // namespace tailrace::impl
