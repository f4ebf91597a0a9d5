// MappedMemory: the private memory of a pool, promised by the system, in huge pages where they can be had.
//
// Nothing of it is touched here: Toucher does so beside the program, or the program does when it first uses it.
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
  // `bytes` is a multiple of the page size; `prefault`: all of it is about to be touched. Fails with
  // TAILRACE_OUT_OF_MEMORY, if that is known now.
  static Result<MappedMemory> create(size_t bytes, bool prefault = true);

  MappedMemory(MappedMemory&& other) noexcept;
  MappedMemory& operator=(MappedMemory&&) = delete;
  ~MappedMemory();

  std::span<std::byte> bytes() const { return bytes_; }
  // Touches a part. TAILRACE_OUT_OF_MEMORY if the system does not give it.
  Status take(size_t offset, size_t size) const;
  // Does so beside the program, which may map and unmap other memory meanwhile. Returns false if the system does not
  // give it.
  bool take_aside(size_t offset, size_t size) const;
  // Describes the memory that was got: "256 MiB, transparent huge pages, touched beside the program".
  const std::string& description() const { return description_; }

 private:
  MappedMemory(void* mapping, size_t mapped, std::span<std::byte> bytes)
      : mapping_(mapping), mapped_(mapped), bytes_(bytes) {}
  // Huge pages of which an administrator has set some aside.
  bool has_explicit_pages() const { return bytes_.data() == mapping_ && mapped_ - bytes_.size() < kHugePage; }

  void* mapping_;
  size_t mapped_;
  std::span<std::byte> bytes_;
  std::string description_;
  const uint64_t process_ = process_mark();  // a child has other things at these addresses
};

}  // namespace tailrace::impl
