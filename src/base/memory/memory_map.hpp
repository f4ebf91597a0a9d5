// MappedMemory: the private memory of a pool, mapped in huge pages if they are available.
//
// It touches no page by itself: a Toucher does so beside the program, or the program does on first use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/memory/process_mark.hpp"
#include "base/memory/touch.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

class MappedMemory {
 public:
  // Maps `bytes`, a multiple of the page size. `prefault` says that all of it is about to be touched. Fails with
  // TAILRACE_OUT_OF_MEMORY if the memory is known to be unavailable.
  static Result<MappedMemory> create(size_t bytes, bool prefault = true);

  MappedMemory(MappedMemory&& other) noexcept;
  MappedMemory& operator=(MappedMemory&&) = delete;
  ~MappedMemory();

  std::span<std::byte> bytes() const { return bytes_; }
  // Touches a part. Returns TAILRACE_OUT_OF_MEMORY if the system does not provide it.
  Status take(size_t offset, size_t size) const;
  // Touches a part while the program may map and unmap other memory. Returns false if the system does not provide it.
  bool take_aside(size_t offset, size_t size) const;
  // Describes the memory: "256 MiB, transparent huge pages, touched beside the program".
  const std::string& description() const { return description_; }

 private:
  MappedMemory(void* mapping, size_t mapped, std::span<std::byte> bytes)
      : mapping_(mapping), mapped_(mapped), bytes_(bytes) {}
  // Returns true if the memory consists of explicit huge pages, which an administrator has set aside.
  bool has_explicit_pages() const { return bytes_.data() == mapping_ && mapped_ - bytes_.size() < kHugePage; }

  void* mapping_;
  size_t mapped_;
  std::span<std::byte> bytes_;
  std::string description_;
  const uint64_t process_ = process_mark();  // a forked child has other mappings at these addresses
};

}  // namespace tailrace::impl
