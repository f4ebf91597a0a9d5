// OwnWrites: the bytes of raw files that a client has handed over and may still have in its pool. A read that finds
// all its bytes there needs no server: it would get the client's own pending writes anyway. Openings of one file, by
// whatever paths, have one key.
//
// It does not know whether a write is still pending, but asks when that matters. Runs on the client's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/function_ref.hpp"
#include "model/request.hpp"
#include "model/stored_file.hpp"

namespace tailrace::impl {

class OwnWrites {
 public:
  // Returns true if the write that was sent with this block of the pool and this sequence has not ended. Then the
  // block still has the bytes that were written, and no other client has written to the same place since.
  using IsPending = FunctionRef<bool(uint32_t block, uint64_t sequence)>;

  // Stands for all files whose identity is not known; such a file has nothing here.
  static constexpr uint32_t kUnknown = 0;

  // Notes an opening. Returns the key of its file, which no other file gets.
  uint32_t opened(FileIdentity identity);
  // Notes that an opening's close has ended: its writes have, too.
  void closed(uint32_t file);
  // is_read() returns true if set_read() was called since the file was opened.
  bool is_read(uint32_t file) const { return file != kUnknown && files_.at(file).is_read; }
  void set_read(uint32_t file) { files_.at(file).is_read = true; }

  // Notes a block that is about to be sent: its bytes, side by side, belong to `extents` of `file`. Forgets what the
  // block held before. The extents must not overlap.
  void sent(uint32_t file, uint32_t block, uint64_t sequence, std::span<const Extent> extents,
            const std::byte* bytes);

  // Copies the bytes of `extents`, side by side, if pending writes have all of them. Returns false otherwise; `to`
  // may then have been written to.
  bool read(uint32_t file, std::span<const Extent> extents, std::byte* to, IsPending is_pending) const;

 private:
  struct File {
    FileIdentity identity;
    uint32_t openings = 0;
    bool is_read = false;
  };
  struct Run {
    uint64_t end = 0;
    const std::byte* bytes = nullptr;
    uint32_t block = 0;
    uint64_t sequence = 0;
  };
  // The write that a block was sent with.
  struct Sent {
    uint32_t file = 0;
    uint64_t sequence = 0;
    std::vector<Extent> extents;
  };
  using Key = std::pair<uint32_t, uint64_t>;  // file, offset
  using Runs = std::map<Key, Run>;

  Runs::iterator first_after(uint32_t file, uint64_t offset);
  void cut(uint32_t file, const Extent& extent);
  void forget(uint32_t file);
  void forget_block(uint32_t block);

  // Used by the client's thread only.
  std::map<FileIdentity, uint32_t> keys_;
  std::map<uint32_t, File> files_;  // by key
  uint32_t last_ = kUnknown;        // the latest key
  Runs runs_;                       // runs of a file do not overlap
  std::vector<Sent> sent_;          // by block
};

}  // namespace tailrace::impl
