// Addresses as people write them, and those that UCX can use.
#include "transport/ucx/socket_address.hpp"

#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstring>
#include <memory>
#include <utility>

#include "transport_rig.hpp"

namespace tailrace::impl {
namespace {

TEST(SocketAddress, ReadsAndWrites) {
  for (const char* text : {"127.0.0.1:4711", "0.0.0.0:0", "10.1.2.3:65535", "[::1]:4711", "[::]:0", "[fe80::1]:80"}) {
    const Result<SocketAddress> address = resolve_address(text, text[0] == '[' ? AF_INET6 : AF_INET);
    ASSERT_TRUE(address.ok()) << message_of(address.status());
    EXPECT_EQ(text_of_address(address.value().storage), text);
  }
}

TEST(SocketAddress, ResolvesNames) {
  const Result<SocketAddress> address = resolve_address("localhost:4711", AF_INET);
  ASSERT_TRUE(address.ok()) << message_of(address.status());
  EXPECT_EQ(text_of_address(address.value().storage), "127.0.0.1:4711");
}

TEST(SocketAddress, RefusesWhatIsNone) {
  for (const char* text : {"", ":", "host", "host:", ":4711", "[]:4711", "host:65536", "host:-1", "host:1x",
                           "::1:4711", "[::1]", "[::1]4711"}) {
    const Result<SocketAddress> address = resolve_address(text, AF_INET);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_EQ(address.status().code(), TAILRACE_INVALID_ARGUMENT) << text;
    EXPECT_NE(message_of(address.status()).find("HOST:PORT"), std::string::npos);
  }
}

TEST(SocketAddress, RefusesTheOtherFamily) {
  for (const auto& [text, family] : {std::pair("[::1]:4711", AF_INET), std::pair("127.0.0.1:4711", AF_INET6)}) {
    const Result<SocketAddress> address = resolve_address(text, family);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_EQ(address.status().code(), TAILRACE_NOT_FOUND);
    EXPECT_NE(message_of(address.status()).find("IPv"), std::string::npos);
  }
}

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

TEST(SocketAddress, UcxConnectsByIpv6) {
  const std::string address = own_ipv6_address();
  if (address.empty()) GTEST_SKIP() << "this machine has no IPv6 address but those of the loopback and of links";
  TransportRig rig("ucx_ipv6");
  rig.listen(address);
  if (!::testing::Test::HasFatalFailure()) rig.connect();
}

TEST(SocketAddress, UcxRefusesTheLoopbackOfIpv6) {
  TransportRig rig("ucx_ipv6");
  const Result<std::string> address = rig.listener.transport->listen("[::1]:0");
  ASSERT_FALSE(address.ok());
  EXPECT_EQ(address.status().code(), TAILRACE_UNSUPPORTED);
  rig.client.transport->connect("[::1]:4711");
  EXPECT_EQ(rig.next(rig.client, Kind::lost).status.code(), TAILRACE_UNSUPPORTED);
}

}  // namespace
}  // namespace tailrace::impl
