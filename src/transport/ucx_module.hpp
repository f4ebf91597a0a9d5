// The module libtailrace_ucx.so as it looks from outside: the options of the transport over UCX, and the one function
// that the module exports.
//
// transport/ucx is built into the module, so that only processes that forward need UCX. transport/ucx_loader loads
// it. Both sides come from the same build; the number in UcxModule shows the loader if they do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/status.hpp"
#include "transport/transport.hpp"

namespace tailrace::impl {

class Doorbell;

struct UcxOptions {
  std::string transports = {};           // those that UCX may use, as UCX_TLS names them ("tcp"); empty: UCX chooses
  size_t most_eager = size_t{16} << 10;  // bulk data up to this size travel with the message, to UCX's memory
  bool ipv6 = false;                     // addresses are of IPv6 and not of IPv4: UCX's TCP carries only one of them
  bool others_use_ucx = false;           // set by the loader: UCX was in the process before
};

struct UcxModule {
  uint64_t build = 0;  // kUcxModuleBuild, as the module was compiled
  // Returns the transport, which the caller owns, or null and sets `why`. The doorbell outlives it.
  Transport* (*open)(Doorbell& doorbell, const UcxOptions& options, Status& why) = nullptr;
};

// Changes with the layout of what crosses. Raise the first number if a meaning changes and no size does.
constexpr uint64_t kUcxModuleBuild = uint64_t{2} << 48 | uint64_t{sizeof(TransportEvent)} << 32 |
                                     uint64_t{sizeof(UcxOptions)} << 16 | uint64_t{sizeof(Fault)};

constexpr const char* kUcxModuleFile = "libtailrace_ucx.so";
// The exported function, of type UcxModuleFunction with C linkage. Its result is constant.
constexpr const char* kUcxModuleFunction = "tailrace_ucx_module";
using UcxModuleFunction = const UcxModule*();

}  // namespace tailrace::impl
