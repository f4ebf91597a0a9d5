// Request: work for the engine, in bytes: the parts of a file to transfer, and the memory they go to or come from.
//
// Plain data. Every optimisation of the engine is an operation on lists of requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

// A file that the engine has open, or opens. Engine::open returns it; it is invalid once a publish, close or remove
// of it has ended.
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
  truncate,  // truncate or extend the file to Request::size
  rename,    // rename the file to Request::path
  publish,   // rename the file to its final name and close it
  close,
  remove  // close the file and delete it
};

// Returns the operation's name for messages: "write".
const char* name_of(Operation operation);

// An extent and the memory that it is written from or read into.
struct Piece {
  Extent extent;
  std::byte* memory = nullptr;  // borrowed until the request has ended; a write only reads it
};

struct Request;

// The end of a request that may not be carried out any more, since its client is gone. Its file has not failed.
Status withdrawn();
bool is_withdrawn(const Status& status);

// Reports the end of a request to its maker, exactly once, on the engine's thread. May submit further requests.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;
  virtual void ended(const Request& request, const Status& status) = 0;
};

struct Request {
  Operation operation = Operation::write;
  FileId file = 0;
  // For read and write: at least one piece, none empty, no two overlapping. In any order; the engine
  // sorts them.
  std::vector<Piece> pieces;
  uint32_t client = 0;
  uint64_t sequence = 0;  // the client's own count
  // Takes effect after all earlier requests of the file and before all later ones, and only if no earlier request of
  // the file has failed. Operations other than read and write always do (truncate, close and remove even after a
  // failure).
  bool fence = false;
  uint64_t size = 0;               // of a truncate: bytes
  bool reserve = false;            // of a write: space is reserved before it begins, where that is worth a call
  std::string path = {};           // of a rename
  bool replace = true;             // of a rename and a publish: replaces an existing file; else that is an error
  bool immediate = false;          // a caller waits for it, so it is not held back to be merged
  CompletionSink* sink = nullptr;  // outlives the request; null, for a close only: the end is not reported
  uint64_t token = 0;              // for the sink's use
  uint32_t slot = 0;               // for the engine's use
  uint32_t server = 0;             // data server of its first byte, by the file's stripe map; set by the engine
  // The phase in which the program handed the request over; later phases have larger numbers. 0: no phase, so the
  // request need not wait for a slot (engine/schedule/slots.hpp).
  uint64_t phase = 0;
  // Timings for measurements. The engine writes them; they are valid when the request has ended.
  struct Course {
    Nanoseconds begun = Nanoseconds::max();  // start of its first transfer, or its end if there was none
    Nanoseconds ended{0};
    bool merged = false;  // it was transferred together with other requests
    bool cached = false;  // part of it went through the page cache although its file allows direct transfers
  } course;

  bool moves_bytes() const { return operation == Operation::read || operation == Operation::write; }
  bool is_fence() const { return fence || !moves_bytes(); }
};

}  // namespace tailrace::impl
