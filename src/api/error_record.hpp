// ErrorRecord: the failure that tailrace_last_error returns, and the strings of it.
#pragma once

#include <tailrace/tailrace.h>

#include <cstdint>

#include "base/status.hpp"

namespace tailrace::impl {

class ErrorRecord {
 public:
  // Sets the failure of the call itself or, with `earlier`, of a request that was accepted earlier. `more`: number of
  // failures not reported yet.
  void set(const Status& status, bool earlier, uint64_t more);
  // Fills `out` up to its struct_size; its strings live until the next set().
  tailrace_status get(tailrace_error* out) const;

 private:
  Status status_;
  bool earlier_ = false;
  uint64_t more_ = 0;
};

// Returns the record for calls without a client; each thread has one.
ErrorRecord& thread_error();

// Copies a versioned structure to the caller, up to the struct_size that the caller has set in it.
bool copy_out(void* out, const void* from, size_t size);

}  // namespace tailrace::impl
