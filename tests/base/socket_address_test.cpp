// Addresses as people write them.
#include "base/net/socket_address.hpp"

#include <gtest/gtest.h>
#include <string>
#include <utility>

namespace tailrace::impl {
namespace {

std::string message_of(const Status& status) { return status.ok() ? "ok" : status.fault().message; }

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

}  // namespace
}  // namespace tailrace::impl
