#include "place/core/shared_room.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tailrace::impl {
namespace {

// Returns how many bytes the files of the directory may still take.
Result<uint64_t> promised_bytes(const PrivateDirectory& directory) {
  const Result<std::vector<std::string>> names = directory.names();
  if (!names.ok()) return names.status();
  uint64_t promised = 0;
  for (const std::string& name : names.value()) {
    struct stat about {};
    if (fstatat(directory.fd(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode)) continue;
    const auto taken = static_cast<uint64_t>(about.st_blocks) * 512;
    promised += static_cast<uint64_t>(about.st_size) - std::min(taken, static_cast<uint64_t>(about.st_size));
  }
  return promised;
}

}  // namespace

Result<SharedRoom> shared_room(const PrivateDirectory& directory) {
  return shared_room([&] { return directory.free_bytes(); }, [&] { return promised_bytes(directory); });
}

Result<SharedRoom> shared_room(FunctionRef<Result<uint64_t>()> free, FunctionRef<Result<uint64_t>()> promised) {
  Result<uint64_t> before = promised();
  for (int left = kRoomTries;; --left) {
    if (!before.ok()) return before.status();
    const Result<uint64_t> now = free();
    if (!now.ok()) return now.status();
    Result<uint64_t> after = promised();
    if (!after.ok()) return after.status();
    if (after.value() == before.value() || left == 1) {
      return SharedRoom{.free = now.value(), .promised = std::max(before.value(), after.value())};
    }
    before = std::move(after);
  }
}

}  // namespace tailrace::impl
