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
  // A piece of a request, in this access.
  struct Part {
    const Request* request;  // borrowed until the request has ended
    Piece piece;
  };

  Operation operation = Operation::write;  // read or write
  FileId file = 0;
  Extent extent;
  std::vector<iovec> segments;  // memory in file order; their lengths add up to extent.length
  std::vector<Part> parts;      // in file order, without gap or overlap
};

// The access that carries `part` alone.
inline Access access_of(const Access::Part& part) {
  return {part.request->operation,
          part.request->file,
          part.piece.extent,
          {{part.piece.memory, part.piece.extent.length}},
          {part}};
}

}  // namespace tailrace::impl
