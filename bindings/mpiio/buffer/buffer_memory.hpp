// BufferMemory: memory that the processes of a node share while they have a file open. It is a file in memory, whose
// name the processes remove when all of them have it. Each process holds a lock on a byte of it, which ends with the
// process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tailrace::mpiio {

class BufferMemory {
 public:
  // Opens the memory at `path`, or makes it: `bytes`, zero when they are new, of which the first `at_once` are there.
  // This process has the number `rank` among those that share it. Returns null if it cannot be had.
  static std::unique_ptr<BufferMemory> open(const std::string& path, uint64_t bytes, uint64_t at_once, uint32_t rank);
  ~BufferMemory();
  BufferMemory(const BufferMemory&) = delete;
  BufferMemory& operator=(const BufferMemory&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }
  // Has the memory from `begin` to `begin` + `length` in fact: a page that is missing when it is written to would end
  // the program. Returns false if there is none, or only as much as others should have.
  bool provide(uint64_t begin, uint64_t length) const;
  // Returns true if the process with that number has the memory, and has not ended.
  bool lives(uint32_t rank) const;

  // Call it in a forked child: the copy of the descriptor would hold the parent's lock.
  void leave_to_parent();

 private:
  BufferMemory(int descriptor, std::span<std::byte> bytes, uint32_t rank)
      : descriptor_(descriptor), bytes_(bytes), rank_(rank) {}

  int descriptor_;
  std::span<std::byte> bytes_;
  const uint32_t rank_;
};

}  // namespace tailrace::mpiio
