// A write that HDF5's asynchronous calls (H5Dwrite_async, H5Dwrite_multi_async) have begun, as an event set holds it:
// it has ended when its bytes are in the file.
#pragma once

#include <tailrace/tailrace.h>

#include <chrono>
#include <string>
#include <vector>

#include "host.hpp"

namespace tailrace::hdf5 {

class Request {
 public:
  explicit Request(const Host& host) : host_(host), begun_(std::chrono::system_clock::now()) {}

  // A part of it is on its way to the file of that name, which may be closed meanwhile.
  void add(const std::string& file, tailrace_ticket ticket) { parts_.push_back({file, ticket}); }
  bool empty() const { return parts_.empty(); }

  // Waits for at most `timeout` nanoseconds (H5ES_WAIT_FOREVER: for ever) until all of it has ended.
  H5VL_request_status_t wait(uint64_t timeout);
  // Why it failed; a new error stack, the caller's to close.
  hid_t error_stack() const;
  // When it was handed over, in microseconds of the system's clock, and how long it took from then, as far as is
  // known, in nanoseconds.
  void execution(uint64_t* begun, uint64_t* took) const;

 private:
  struct Part {
    std::string file;
    tailrace_ticket ticket;
  };

  const Host& host_;
  const std::chrono::system_clock::time_point begun_;
  std::chrono::system_clock::time_point ended_;
  std::vector<Part> parts_;  // that have not ended yet
  std::string why_;          // it failed; empty: it has not, so far
};

}  // namespace tailrace::hdf5
