// Chunk: a piece of memory with a part of what the program writes to one file.
#pragma once

#include <cstddef>
#include <memory>

namespace tailrace::openfoam {

struct Chunk {
  // recorded: text with numbers that are still to be formatted (recording.hpp); plain: bytes of the file
  enum class Kind { recorded, plain };

  std::unique_ptr<std::byte[]> memory = nullptr;
  size_t capacity = 0;  // bytes
  size_t used = 0;      // bytes, from the first on
  Kind kind = Kind::recorded;

  size_t room() const { return capacity - used; }
  std::byte* end() const { return memory.get() + used; }
};

// Where chunks come from and go to. One thread at a time uses it.
class ChunkTaker {
 public:
  virtual ~ChunkTaker() = default;
  // Returns an empty chunk of `bytes` bytes, or of fewer where memory is short, but at least of 32.
  virtual Chunk fresh(size_t bytes) = 0;
  // Takes the file's next chunk over. May wait for memory.
  virtual void take(Chunk chunk) = 0;
};

}  // namespace tailrace::openfoam
