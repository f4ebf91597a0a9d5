// Access: one contiguous range of a file to be read or written, and the pieces of requests that it carries.
//
// What the merge stage makes of requests, and the execute stage carries out. Plain data.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <vector>

#include "model/request.hpp"

namespace tailrace::impl {

struct Access {
  // A piece of a request, or a part of one. Or a hole between two that a read goes over: its bytes are nobody's.
  struct Part {
    const Request* request = nullptr;  // borrowed until the request has ended; null: a hole
    uint64_t length = 0;
  };

  Operation operation = Operation::write;  // read or write
  FileId file = 0;
  Extent extent;
  std::vector<iovec> segments;  // memory in file order, null for holes; their lengths add up to extent.length
  std::vector<Part> parts;      // in file order, a hole neither first nor last; so do theirs
  uint64_t holes = 0;           // bytes
};

// The access that carries `piece` of `request` alone.
inline Access access_of(const Request& request, const Piece& piece) {
  const uint64_t length = piece.extent.length;
  return {request.operation, request.file, piece.extent, {{piece.memory, length}}, {{&request, length}}, 0};
}

// The accesses that do the same, a part each.
std::vector<Access> taken_apart(const Access& access);

// Returns the status of a request by that of an access which carries only `extent` of it. If the request has several
// pieces, a failure names its piece, counted from 1 in the order of the request.
Status end_of_piece(const Request& request, const Extent& extent, const Status& status);

}  // namespace tailrace::impl
