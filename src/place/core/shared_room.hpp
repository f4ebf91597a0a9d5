// SharedRoom: how much of a file system in shared memory no file has taken, and how much of that the files of one
// directory may still take.
//
// A segment is as large as its client's budget from the start, and takes its pages little by little. So bytes that
// are free may be promised already.
#pragma once

#include <cstdint>

#include "base/function_ref.hpp"
#include "base/os/private_directory.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

struct SharedRoom {
  uint64_t free = 0;      // bytes that no file has taken
  uint64_t promised = 0;  // of these, the bytes that the files of the directory may still take

  bool has(uint64_t bytes) const { return free >= promised && free - promised >= bytes; }
};

// Returns both as they are at one moment. It reserves nothing: another process may take the room.
Result<SharedRoom> shared_room(const PrivateDirectory& directory);

// Measures by two functions that each count one of the two. Files take pages between two counts, which lowers both;
// so it counts until the promise is the same before and after the free bytes. After kRoomTries it returns less room
// than there is, never more.
inline constexpr int kRoomTries = 64;
Result<SharedRoom> shared_room(FunctionRef<Result<uint64_t>()> free, FunctionRef<Result<uint64_t>()> promised);

}  // namespace tailrace::impl
