// StripeMap: the data servers of a parallel file system that hold the parts of a file.
//
// The file is cut into stripes of equal size, which its servers hold in turn. A file whose servers are unknown lies
// on one server.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace tailrace::impl {

struct StripeMap {
  static constexpr uint64_t kWholeFile = std::numeric_limits<uint64_t>::max();

  uint64_t unit = kWholeFile;           // bytes per stripe; never 0
  std::vector<uint32_t> servers = {0};  // numbers of the servers, starting with the first stripe's; never empty

  uint32_t server_of(uint64_t offset) const { return servers[offset / unit % servers.size()]; }
};

}  // namespace tailrace::impl
