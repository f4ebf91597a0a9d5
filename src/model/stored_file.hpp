// Facts that a storage tells of a file when it opens it: which file it is, and where its stripes lie.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <vector>

namespace tailrace::impl {

// Tells a file from all others of its file system, whatever names it has. The numbers are the file system's own
// (device and inode). A file keeps them while anybody has it open; after that, a new file may get them.
struct FileIdentity {
  uint64_t volume = 0;
  uint64_t number = 0;  // 0: unknown

  bool is_known() const { return number != 0; }
  auto operator<=>(const FileIdentity&) const = default;
};

// The data servers of a parallel file system that hold the parts of a file. The file is cut into stripes of equal
// size, which its servers hold in turn. A file whose servers are unknown lies on one server.
struct StripeMap {
  static constexpr uint64_t kWholeFile = std::numeric_limits<uint64_t>::max();

  uint64_t unit = kWholeFile;           // bytes per stripe; never 0
  std::vector<uint32_t> servers = {0};  // numbers of the servers, starting with the first stripe's; never empty

  uint32_t server_of(uint64_t offset) const { return servers[offset / unit % servers.size()]; }
};

}  // namespace tailrace::impl
