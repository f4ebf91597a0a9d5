// The module libtailrace_ucx.so, loaded as processes do that forward.
#include "transport/loader/load_transport.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include "transport_rig.hpp"

namespace tailrace::impl {
namespace {

TEST(LoadUcx, OpensATransport) {
  Doorbell doorbell;
  Result<std::unique_ptr<Transport>> transport = load_transport(TransportKind::ucx, doorbell, {}, TEST_MODULE);
  ASSERT_TRUE(transport.ok()) << message_of(transport.status());
  const Result<std::string> address = transport.value()->listen("127.0.0.1:0");
  EXPECT_TRUE(address.ok()) << message_of(address.status());
}

TEST(LoadUcx, FindsTheModuleInTheBuildDirectory) {
  Doorbell doorbell;
  const Result<std::unique_ptr<Transport>> transport = load_transport(TransportKind::ucx, doorbell, {});
  EXPECT_TRUE(transport.ok()) << message_of(transport.status());
}

TEST(LoadUcx, SaysThatUcxCannotWorkAsAsked) {
  Doorbell doorbell;
  TransportOptions options;
  options.transports = "no_such_transport";
  const Result<std::unique_ptr<Transport>> transport =
      load_transport(TransportKind::ucx, doorbell, options, TEST_MODULE);
  ASSERT_FALSE(transport.ok());
  EXPECT_EQ(transport.status().code(), TAILRACE_UNSUPPORTED);
}

// Shared memory alone is no network: nobody could connect.
TEST(LoadUcx, SaysThatDevicesHaveNoFabric) {
  Doorbell doorbell;
  for (const char* const device : {"lo", "no_such_device"}) {
    TransportOptions options;
    options.transports = "^tcp";
    options.devices = device;
    const Result<std::unique_ptr<Transport>> transport =
        load_transport(TransportKind::ucx, doorbell, options, TEST_MODULE);
    ASSERT_FALSE(transport.ok()) << device;
    EXPECT_EQ(transport.status().code(), TAILRACE_UNSUPPORTED);
    EXPECT_NE(message_of(transport.status()).find(device), std::string::npos) << message_of(transport.status());
  }
}

TEST(LoadUcx, SaysWhatIsMissing) {
  Doorbell doorbell;
  Result<std::unique_ptr<Transport>> transport =
      load_transport(TransportKind::ucx, doorbell, {}, "/no/such/libtailrace_ucx.so");
  ASSERT_FALSE(transport.ok());
  EXPECT_EQ(transport.status().code(), TAILRACE_UNSUPPORTED);
  EXPECT_NE(message_of(transport.status()).find("libucx0"), std::string::npos) << message_of(transport.status());
  // A library that is no module.
  transport = load_transport(TransportKind::ucx, doorbell, {}, "libz.so.1");
  ASSERT_FALSE(transport.ok());
  EXPECT_NE(message_of(transport.status()).find("another version"), std::string::npos)
      << message_of(transport.status());
}

}  // namespace
}  // namespace tailrace::impl
