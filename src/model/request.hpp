// Request: work asked of the engine, in bytes: which parts of which file go to or come from which memory.
//
// Plain data. Every optimisation of the engine is an operation on lists of these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

// A file that the engine has open; given by Engine::open, gone when a publish, close or remove of it has ended.
using FileId = uint32_t;

struct Extent {
  uint64_t offset = 0;  // bytes from the start of the file
  uint64_t length = 0;

  uint64_t end() const { return offset + length; }
  bool overlaps(const Extent& other) const { return offset < other.end() && other.offset < end(); }
};

enum class Operation : uint8_t {
  read,
  write,
  sync,      // to the device; of a directory, its names
  truncate,  // cut the file to Request::size, or make it that long
  publish,   // rename the file to its final name and close it
  close,
  remove  // close the file and delete it
};

// "write", for messages.
const char* name_of(Operation operation);

// An extent and the memory it goes to or comes from.
struct Piece {
  Extent extent;
  std::byte* memory = nullptr;  // borrowed until the request has ended; only read from by a write
};

struct Request;

// Whoever made a request learns its end here, on the engine's thread, exactly once. May submit further requests.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;
  virtual void ended(const Request& request, const Status& status) = 0;
};

struct Request {
  Operation operation = Operation::write;
  FileId file = 0;
  // For read and write: at least one, none empty, none overlapping another (check_extents). In any order; the engine
  // puts them in order.
  std::vector<Piece> pieces;
  uint32_t client = 0;
  uint64_t sequence = 0;  // the client's own count
  // Takes effect after all earlier requests of the file and before all later ones, and only if nothing of the file
  // has failed. Operations other than read and write always do (truncate, close and remove even if something failed).
  bool fence = false;
  uint64_t size = 0;               // of a truncate: bytes
  bool replace = true;             // of a publish: what has the final name already is replaced; else it is an error
  bool immediate = false;          // somebody waits for it: it is not held back to be merged with others
  CompletionSink* sink = nullptr;  // outlives the request; null, of a close: nobody asks how it ends
  uint64_t token = 0;              // the sink's own
  uint32_t slot = 0;               // the engine's own
  uint32_t server = 0;             // data server of its first byte, by the file's stripe map; set by the engine
  // Number of the phase in which the program handed the request over, larger for later ones. 0: none, so that the
  // request need not wait for a slot (engine/schedule/slots.hpp).
  uint64_t phase = 0;
  // How it went, for whoever measures: written by the engine, good when it has ended.
  struct Course {
    Nanoseconds begun = Nanoseconds::max();  // when its first transfer began, or when it ended if none did
    Nanoseconds ended{0};
    bool merged = false;  // whether it went together with other requests
    bool cached = false;  // whether some of it, of a file that can be written past the page cache, was not
  } course;

  bool moves_bytes() const { return operation == Operation::read || operation == Operation::write; }
  bool is_fence() const { return fence || !moves_bytes(); }
};

}  // namespace tailrace::impl
