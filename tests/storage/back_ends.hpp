// The back ends by name, for tests that are the same for all. `striped` is over `posix`, with the least unit, so that
// small files have many stripes. `threads` is `posix` with threads for operations on whole files, `scattering` with
// threads for scattered writes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/memory/memory_storage.hpp"
#include "storage/posix/posix_storage.hpp"
#include "storage/striped/striped_storage.hpp"
#include "storage/threads/operation_threads.hpp"
#include "storage/threads/scatter_threads.hpp"
#include "storage/uring/uring_storage.hpp"

namespace tailrace::impl {

// Returns a function that makes ids for striped files: 0, 1, 2, …
inline std::function<std::string()> numbered_ids() {
  return [next = 0]() mutable { return std::to_string(next++); };
}

inline Result<std::unique_ptr<Storage>> make_striped(Doorbell& doorbell, std::vector<std::string> directories) {
  const auto devices = static_cast<uint32_t>(directories.size());
  auto posix = PosixStorage::create(doorbell, {.devices = devices, .depth = 32, .direct = true, .cpus = {}});
  if (!posix.ok()) return posix.status();
  StripeSet set{directories, directories, kLeastStripe, numbered_ids()};
  auto striped = StripedStorage::create(doorbell, std::move(posix).value(), std::move(set));
  if (!striped.ok()) return striped.status();
  return std::unique_ptr<Storage>(std::move(striped).value());
}

// `directories`: for `striped`.
inline Result<std::unique_ptr<Storage>> make_back_end(const std::string& name, Doorbell& doorbell,
                                                      std::vector<std::string> directories = {}) {
  if (name == "striped") return make_striped(doorbell, std::move(directories));
  if (name == "memory") return std::unique_ptr<Storage>(std::make_unique<MemoryStorage>(doorbell));
  if (name == "threads") {
    auto posix = make_back_end("posix", doorbell);
    if (!posix.ok()) return posix.status();
    return std::unique_ptr<Storage>(new OperationThreads(std::move(posix).value(), doorbell, {}));
  }
  if (name == "scattering") {
    auto posix = make_back_end("posix", doorbell);
    if (!posix.ok()) return posix.status();
    return std::unique_ptr<Storage>(new ScatterThreads(std::move(posix).value(), doorbell, {}));
  }
  if (name == "posix") {
    auto posix = PosixStorage::create(doorbell, {.devices = 2, .depth = 16, .direct = true, .cpus = {}});
    if (!posix.ok()) return posix.status();
    return std::unique_ptr<Storage>(std::move(posix).value());
  }
  TAILRACE_REQUIRE(name == "uring");
  auto uring = UringStorage::create(doorbell, {.depth = 16, .direct = true, .cpus = {}});
  if (!uring.ok()) return uring.status();
  return std::unique_ptr<Storage>(std::move(uring).value());
}

}  // namespace tailrace::impl
