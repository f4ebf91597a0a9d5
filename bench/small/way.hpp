// Way: one way in which a client writes pieces of the file that all share, exchangeable behind one interface.
#pragma once

#include <tailrace/tailrace.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "bench/small/options.hpp"

namespace bench::small {

// The requests to the storage so far, of all clients of a server together.
struct Requests {
  uint64_t transfers = 0;  // reads and writes
  uint64_t merged = 0;     // requests that went together with others
};

class Way {
 public:
  Way() = default;
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;
  virtual ~Way() = default;

  // Writes pieces, of one length, whose bytes lie one after the other. They are the client's again then.
  virtual void write(std::span<const tailrace::Extent> pieces, std::span<const char> bytes) = 0;
  // Reads a piece that this client has written.
  virtual void read(const tailrace::Extent& piece, std::span<char> bytes) = 0;
  // Until all that this client wrote is in the file.
  virtual void flush() {}
  virtual Requests requests() const = 0;
  // Until all that is in the file is on the device. After flush() of all clients, by one of them.
  virtual void sync() = 0;
  virtual void close() = 0;
  virtual std::string description() const = 0;
};

// The name of the file, in Options::dir. It is there, and empty, before the ways are made.
inline constexpr const char* kFile = "small.raw";

// Makes a way for client number `client`. Each throws RunError or tailrace::Error.
std::unique_ptr<Way> make_posix(const Options& options);
std::unique_ptr<Way> make_tailrace(const Options& options, int client);

}  // namespace bench::small
