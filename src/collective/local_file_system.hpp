// is_local_file_system: tells the file systems on which the processes of a node may write side by side, by the
// numbers that statfs(2) gives for their types.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace tailrace::collective {

// Returns true for the local file systems whose page cache all processes of a node share, by mappings, too, and which
// write back only what was written: the bytes of one process never replace those of another one beside them.
inline bool is_local_file_system(uint32_t type) {
  constexpr std::array<uint32_t, 7> kLocal = {
      0xEF53,      // ext2, ext3, ext4
      0x58465342,  // XFS
      0x9123683E,  // btrfs
      0x01021994,  // tmpfs
      0xF2F52010,  // F2FS
      0xCA451A4E,  // bcachefs
      0x794C7630   // overlayfs
  };
  return std::find(kLocal.begin(), kLocal.end(), type) != kLocal.end();
}

}  // namespace tailrace::collective
