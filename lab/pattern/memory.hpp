// The memory of the simulated program's output, and the memory use of the whole process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace bench {

// Touched memory that lives as long as the program's output: in huge pages if possible.
class Buffer {
 public:
  enum class Start { page, off_any_line };

  explicit Buffer(uint64_t bytes, Start start = Start::page);
  char* data() const { return data_; }
  // Returns how much of the process's memory this uses.
  uint64_t held() const { return held_; }

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  uint64_t held_;
  std::unique_ptr<char, Free> memory_;
  char* data_;
};

// Memory straight from malloc: with malloc's alignment only, and not touched. Throws std::bad_alloc.
struct MallocFree {
  void operator()(char* memory) const;
};
using MallocBuffer = std::unique_ptr<char, MallocFree>;
MallocBuffer new_malloc_buffer(uint64_t bytes);

// Makes the system allocate each page, as a program does that fills the buffer.
void touch(char* memory, uint64_t bytes);

// Marks the block at 64 places as this iteration's, so that a check finds an old one.
struct Stamp {
  int64_t iteration;
  int64_t variable;
  double result;
};
constexpr uint64_t kStamps = 64;
constexpr uint64_t kLeastBlock = sizeof(Stamp);  // holds one
// Finds the place of stamp number `index`; returns false if the block is too small for that many.
bool stamp_at(uint64_t bytes, uint64_t index, uint64_t* offset);
void stamp(char* block, uint64_t bytes, const Stamp& stamp);

// Returns the most memory that the process has held since reset_peak_memory(), or since its start if the system
// cannot reset it.
uint64_t peak_memory();
void reset_peak_memory();

}  // namespace bench
