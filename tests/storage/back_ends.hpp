// The three back ends by name, for tests that are the same for all.
#pragma once

#include <memory>
#include <string>

#include "storage/memory/memory_storage.hpp"
#include "storage/posix/posix_storage.hpp"
#include "storage/uring/uring_storage.hpp"

namespace tailrace::impl {

inline Result<std::unique_ptr<Storage>> make_back_end(const std::string& name, Doorbell& doorbell) {
  if (name == "memory") return std::unique_ptr<Storage>(std::make_unique<MemoryStorage>(doorbell));
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
