// run_forwarder: builds a forwarder with all its parts from a configuration, and runs it. It is a composition root,
// like CoreServer.
//
// It serves clients until it is asked to stop, and then tells them, answers what it has, and ends.
// Its process does nothing else. One thread runs all of it; the storage and the transport have helpers of their own.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/status.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

// Requests from signal handlers. seq_cst; read by the forwarder's thread after it wakes.
struct ForwardRequests {
  std::atomic<bool> stop{false};
  std::atomic<bool> read_keys{false};  // read the key files again
  std::atomic<int> bell{-1};           // writing a 64-bit 1 to this descriptor wakes the forwarder
};

struct ForwardServerOptions {
  std::string config;     // file
  std::string log_level;  // empty: as the configuration says
  // Called with the address when it is ready.
  std::function<void(const std::string&)> listening;
  // For test-beds: gets the storage, and returns the one that is used instead.
  std::function<std::unique_ptr<Storage>(std::unique_ptr<Storage>)> wrap = {};
};

Status run_forwarder(const ForwardServerOptions& options, ForwardRequests& requests);

}  // namespace tailrace::impl
