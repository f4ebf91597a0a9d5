// MappedMemory: the bytes of a pool, taken from the system and touched once, at the start.
//
// First touch is what makes memory slow (design §6): about 0.5 GB/s against 10 GB/s after it. So the whole of it is
// touched here, in huge pages where they can be had, and never again. But a program that may end before it has used
// all of it would wait for nothing: that has pages touched when it first uses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/memory/process_mark.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

// Takes every page of a mapping from the system now, for writing; the bytes stay what they are. Returns errno, or 0.
// `begin` is aligned to pages.
int touch(std::byte* begin, size_t size);

class MappedMemory {
 public:
  // `bytes` is a multiple of the page size; `prefault`: all of it is touched now. Fails with TAILRACE_OUT_OF_MEMORY.
  static Result<MappedMemory> create(size_t bytes, bool prefault = true);

  MappedMemory(MappedMemory&& other) noexcept;
  MappedMemory& operator=(MappedMemory&&) = delete;
  ~MappedMemory();

  std::span<std::byte> bytes() const { return bytes_; }
  // Describes the memory that was got: "256 MiB, 100 % in huge pages (transparent), touched in 0.03 s".
  const std::string& description() const { return description_; }

 private:
  MappedMemory(void* mapping, size_t mapped, std::span<std::byte> bytes)
      : mapping_(mapping), mapped_(mapped), bytes_(bytes) {}

  void* mapping_;
  size_t mapped_;
  std::span<std::byte> bytes_;
  std::string description_;
  const uint64_t process_ = process_mark();  // a child has other things at these addresses
};

}  // namespace tailrace::impl
