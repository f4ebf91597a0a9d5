// Sieves: bytes of a file that a door has read at once, since the program wants many pieces of them. Most of the
// pieces are then copied from memory: pieces of one call, or rows that the program reads in succession.
//
// A sieve that is kept holds what a read would return: the door changes it with each write that it carries, and has
// it forget all before anybody else writes. A sieve reads nothing itself.
#pragma once

#include <tailrace/tailrace.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tailrace::process {

// Adjacent bytes, of one dataset or for one call.
class Sieve {
 public:
  // Larger reads are worth a call of the system each.
  static bool is_small(uint64_t bytes) { return bytes <= kSmall; }

  // Returns the bytes if all of them are held; else null. They stay until the next call.
  const std::byte* find(const tailrace_extent& bytes);
  // Returns the bytes to be read, if `bytes` are not held: more than `bytes` if this read follows the one before, but
  // none behind `end`; else just `bytes`. Returns nullopt for the first read, which the caller makes as if there were
  // no sieve.
  std::optional<tailrace_extent> wanted(const tailrace_extent& bytes, uint64_t end);
  // Forgets all, and returns the memory to read `bytes` bytes into: what is wanted. filled() says how many bytes from
  // `begin` on it holds then.
  std::byte* room(uint64_t bytes);
  void filled(uint64_t begin, uint64_t length) { held_ = {begin, length}; }

  // Changes the bytes of `extents` that are held to those of `data`, which lie there back to back.
  void overwrite(std::span<const tailrace_extent> extents, const std::byte* data);
  void forget();

 private:
  static constexpr uint64_t kSmall = 16 << 10;  // bytes
  static constexpr uint64_t kMost = 256 << 10;  // bytes held; at most a read through the server each

  std::unique_ptr<std::byte[]> room_;
  uint64_t size_ = 0;  // of room_, bytes
  tailrace_extent held_{};
  uint64_t next_ = 0;   // where the latest read ended; 0: there was none
  uint64_t ahead_ = 0;  // how many bytes were wanted last, since forget()
};

// The sieves of one file, by where the data of their datasets begin.
class Sieves {
 public:
  // Returns the sieve of that dataset. The first call makes it, and drops the oldest if there are many.
  Sieve& of(uint64_t dataset);
  void overwrite(std::span<const tailrace_extent> extents, const void* data);
  void forget();
  // Also gives back the memory for that dataset.
  void forget(uint64_t dataset);
  // Forgets what the sieves of all files hold.
  static void forget_all() { forgotten_.fetch_add(1, std::memory_order_relaxed); }

 private:
  static constexpr size_t kMost = 16;

  struct Of {
    uint64_t dataset;
    Sieve sieve;
  };
  void look_whether_forgotten();

  // Orders nothing: the door lets one thread at a time use a file.
  static inline std::atomic<uint64_t> forgotten_ = 0;  // how often

  std::vector<Of> all_;
  uint64_t known_ = 0;  // of forgotten_
};

}  // namespace tailrace::process
