// Sink: where the blocks of an output file go. Each way to write is one Sink, so that they can be compared.
//
// The file is written as PATH.partial and has its name after finish(). Without finish() it keeps the former.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace::cube {

// The variants of the thesis on the asynchronous re-mapper (Grenoble/Jülich 2017, 3.1), the last one first.
enum class Writer : uint8_t {
  tailrace,     // blocks of one pool, written by tailrace's thread
  aligned,      // as `pinned`, with buffers on cache lines of their own
  pinned,       // as `naive`, with the write threads on a cpu of their own
  naive,        // POSIX AIO of the C library, with a new buffer for each block
  synchronous,  // pwrite by the thread that computes
  nothing       // discards everything: what computing alone takes
};

std::optional<Writer> writer_of(std::string_view name);  // "tailrace", "aligned", …, "sync", "none"

struct SinkOptions {
  Writer writer = Writer::tailrace;
  size_t block_bytes = 4 << 20;
  uint64_t budget = 64 << 20;  // bytes of all blocks, at least four of them
  int cpu = -1;                // for the writer's thread; -1: any
  bool durable = false;        // finish() waits until the device has the file
};

// Any thread may call take(), write() and give_back(). Errors throw Error, in the call that is under way when they
// are noticed, and in finish().
class Sink {
 public:
  virtual ~Sink() = default;

  // Returns memory for a block that belongs at that place of the file; waits while the budget has no room. Numbers in
  // it need not be aligned.
  virtual std::byte* take(uint64_t offset) = 0;
  // Hands over the first `bytes` of a block that take() returned for `offset`. It is the sink's then.
  virtual void write(std::byte* block, size_t bytes, uint64_t offset) = 0;
  // Returns a block that is not written.
  virtual void give_back(std::byte* block) = 0;
  // Waits until everything is written, and gives the file its name.
  virtual void finish() = 0;

  size_t block_bytes() const { return block_bytes_; }
  // Copies bytes into blocks, and writes these.
  void write_copy(std::string_view bytes, uint64_t offset);

 protected:
  explicit Sink(size_t block_bytes) : block_bytes_(block_bytes) {}

 private:
  const size_t block_bytes_;
};

std::unique_ptr<Sink> open_sink(const std::string& path, const SinkOptions& options);

}  // namespace tailrace::cube
