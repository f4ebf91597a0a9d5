// Access: one contiguous range of a file to be read or written, and the pieces of requests that it carries.
//
// The merge stage makes accesses from requests, and the execute stage carries them out. Plain data.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <vector>

#include "model/request.hpp"

namespace tailrace::impl {

struct Access {
  // A piece of a request, or a part of one; or a hole between two: a read covers it, and discards its bytes, and a
  // write leaves it out.
  struct Part {
    const Request* request = nullptr;  // borrowed until the request has ended; null: a hole
    uint64_t length = 0;
  };

  Operation operation = Operation::write;  // read or write
  FileId file = 0;
  Extent extent;
  std::vector<iovec> segments;  // memory in file order, null for holes; their lengths add up to extent.length
  std::vector<Part> parts;      // in file order; no hole at either end; lengths add up as well
  uint64_t holes = 0;           // bytes
};

// Returns the access that carries only `piece` of `request`.
inline Access access_of(const Request& request, const Piece& piece) {
  const uint64_t length = piece.extent.length;
  return {request.operation, request.file, piece.extent, {{piece.memory, length}}, {{&request, length}}, 0};
}

// Splits an access into accesses of one part each.
std::vector<Access> taken_apart(const Access& access);

// Returns the status of a request whose access carried only `extent` of it and ended with `status`. If the request
// has several pieces, a failure names the piece, counted from 1 in the order of the request.
Status end_of_piece(const Request& request, const Extent& extent, const Status& status);

}  // namespace tailrace::impl
