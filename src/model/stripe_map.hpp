// StripeMap: which data server of a parallel file system has which part of a file.
//
// The file is cut into stripes of equal size, which go to its servers in turn. A file whose servers nobody knows lies
// on one server.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace tailrace::impl {

struct StripeMap {
  static constexpr uint64_t kWholeFile = std::numeric_limits<uint64_t>::max();

  uint64_t unit = kWholeFile;           // bytes of a stripe; never 0
  std::vector<uint32_t> servers = {0};  // numbers of the servers, that of the first stripe first; never empty

  uint32_t server_of(uint64_t offset) const { return servers[offset / unit % servers.size()]; }
};

}  // namespace tailrace::impl
