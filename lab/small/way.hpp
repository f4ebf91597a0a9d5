// Way: one way in which a client writes pieces of the shared file, exchangeable behind one interface.
#pragma once

#include <tailrace/tailrace.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lab/small/options.hpp"

namespace bench::small {

// The requests to the storage so far, of all clients of a server.
struct Requests {
  uint64_t transfers = 0;  // reads and writes
  uint64_t merged = 0;     // requests that were merged with others
};

class Way {
 public:
  Way() = default;
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;
  virtual ~Way() = default;

  // Writes pieces of one length, whose bytes are side by side. The client may change the bytes when it returns.
  virtual void write(std::span<const tailrace::Extent> pieces, std::span<const char> bytes) = 0;
  // Reads a piece that this client has written.
  virtual void read(const tailrace::Extent& piece, std::span<char> bytes) = 0;
  // Waits until everything that this client wrote is in the file.
  virtual void flush() {}
  virtual Requests requests() const = 0;
  // Waits until the whole file is on the device. One client calls it, after flush() of all.
  virtual void sync() = 0;
  virtual void close() = 0;
  virtual std::string description() const = 0;
};

// The name of the file in Options::dir. It exists, and is empty, before the ways are made.
inline constexpr const char* kFile = "small.raw";

// Make a way for client number `client`. Each throws RunError or tailrace::Error.
std::unique_ptr<Way> make_posix(const Options& options);
std::unique_ptr<Way> make_tailrace(const Options& options, int client);

}  // namespace bench::small
