// Addresses of IPv6 that UCX can use.
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstring>
#include <memory>

#include "base/net/socket_address.hpp"
#include "transport_rig.hpp"

namespace tailrace::impl {
namespace {

// Returns an address of this machine that UCX can use; empty: there is none.
std::string own_ipv6_address() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return "";
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(first, &freeifaddrs);
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET6 || (one->ifa_flags & IFF_UP) == 0) continue;
    sockaddr_storage address{};
    std::memcpy(&address, one->ifa_addr, sizeof(sockaddr_in6));
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
    if (IN6_IS_ADDR_LOOPBACK(&six.sin6_addr) || IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr)) continue;
    return text_of_address(address);
  }
  return "";
}

TEST(UcxAddress, ConnectsByIpv6) {
  const std::string address = own_ipv6_address();
  if (address.empty()) GTEST_SKIP() << "this machine has no IPv6 address but those of the loopback and of links";
  TransportRig rig("ucx_ipv6");
  rig.listen(address);
  if (!::testing::Test::HasFatalFailure()) rig.connect();
}

TEST(UcxAddress, RefusesTheLoopbackOfIpv6) {
  TransportRig rig("ucx_ipv6");
  const Result<std::string> address = rig.listener.transport->listen("[::1]:0");
  ASSERT_FALSE(address.ok());
  EXPECT_EQ(address.status().code(), TAILRACE_UNSUPPORTED);
  rig.client.transport->connect("[::1]:4711");
  EXPECT_EQ(rig.next(rig.client, Kind::lost).status.code(), TAILRACE_UNSUPPORTED);
}

}  // namespace
}  // namespace tailrace::impl
