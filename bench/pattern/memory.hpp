// The memory of the simulated program's output, and how much the whole process has used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace bench {

// Touched memory that lives as long as the program's output does: in huge pages if possible.
class Buffer {
 public:
  enum class Start { page, off_any_line };

  explicit Buffer(uint64_t bytes, Start start = Start::page);
  char* data() const { return data_; }
  // Returns the bytes of the process's memory that this takes.
  uint64_t held() const { return held_; }

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  uint64_t held_;
  std::unique_ptr<char, Free> memory_;
  char* data_;
};

// Memory of malloc as it comes: not aligned beyond malloc's promise, and not touched. Throws std::bad_alloc.
struct MallocFree {
  void operator()(char* memory) const;
};
using MallocBuffer = std::unique_ptr<char, MallocFree>;
MallocBuffer new_malloc_buffer(uint64_t bytes);

// Lets the system give real memory to each page, as a program that fills the buffer would.
void touch(char* memory, uint64_t bytes);

// Marks the block as this iteration's at 64 places, so that no writer could get away with an old one.
struct Stamp {
  int64_t iteration;
  int64_t variable;
  double result;
};
constexpr uint64_t kStamps = 64;
constexpr uint64_t kLeastBlock = sizeof(Stamp);  // holds one
// Where stamp number `index` lies; false: the block is too small for so many.
bool stamp_at(uint64_t bytes, uint64_t index, uint64_t* offset);
void stamp(char* block, uint64_t bytes, const Stamp& stamp);

// The most memory the process has held since reset_peak_memory(), or since its start where the system cannot reset
// it.
uint64_t peak_memory();
void reset_peak_memory();

}  // namespace bench
