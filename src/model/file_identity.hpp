// FileIdentity: tells a file from all others of its file system, whatever names it has. The numbers are the file
// system's own (device and inode). A file keeps them while anybody has it open; after that, a new file may get them.
#pragma once

#include <compare>
#include <cstdint>

namespace tailrace::impl {

struct FileIdentity {
  uint64_t volume = 0;
  uint64_t number = 0;  // 0: unknown

  bool is_known() const { return number != 0; }
  auto operator<=>(const FileIdentity&) const = default;
};

}  // namespace tailrace::impl
