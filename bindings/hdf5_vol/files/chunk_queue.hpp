// ChunkQueue: the chunks of one dataset that are being filtered, in the order in which they were written.
//
// Call it under the host's own lock, as HDF5 calls are made.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hdf5_vol/filters/chunk_crew.hpp"
#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

class ChunkQueue {
 public:
  // `path` names the file in messages.
  ChunkQueue(const Host& host, std::string path) : host_(host), path_(std::move(path)) {}

  // Adds the chunk that begins at `offset` and has `shape` elements, of the dataset open as `under`.
  void add(void* under, std::vector<hsize_t> offset, std::vector<hsize_t> shape, std::shared_ptr<ChunkJob> job);
  // Gives HDF5 the filtered chunks in order; if `all`, waits for all chunks and gives them all. Adds what HDF5 could
  // not write to `failures`.
  void place(bool all, std::vector<std::string>& failures);
  // Waits for that chunk and those before it, and places them. Returns false if they are not all filtered at the
  // deadline.
  bool place_until(const ChunkJob& job, std::optional<ChunkCrew::Deadline> deadline,
                   std::vector<std::string>& failures);
  // Waits for the first chunk and places it.
  void place_one(std::vector<std::string>& failures);
  bool empty() const { return waiting_.empty(); }
  // Returns true if a filter has failed for many chunks, and for most: HDF5 then did all that work again.
  bool mostly_fails() const { return unfiltered_ >= kMany && unfiltered_ > filtered_; }
  // Returns the number of the first chunk. A chunk that is added later, to any queue, has a larger one.
  uint64_t number() const { return waiting_.front().number; }
  // Closes `under`, which the program has closed, when all chunks are placed.
  void close_later(void* under) { closing_.push_back(under); }

  // Call it in a forked child: forgets the chunks that wait, since the parent places them.
  void leave_to_parent();

  // Returns the bytes that wait in all queues of the process, unfiltered.
  static uint64_t bytes() { return bytes_; }

 private:
  struct Waiting {
    void* under;
    std::vector<hsize_t> offset;
    std::vector<hsize_t> shape;
    std::shared_ptr<ChunkJob> job;
    uint64_t bytes;
    uint64_t number;
  };

  static constexpr uint64_t kMany = 16;

  bool give(const Waiting& chunk);
  bool give_filtered(const Waiting& chunk) const;
  bool give_unfiltered(const Waiting& chunk) const;
  bool select(const Waiting& chunk, hid_t space, hid_t memory) const;

  const Host& host_;
  const std::string path_;
  std::deque<Waiting> waiting_;
  std::map<std::vector<hsize_t>, uint64_t> newest_;  // by offset of a chunk that waits: its latest number
  std::vector<void*> closing_;
  uint64_t filtered_ = 0;    // chunks that HDF5 got filtered
  uint64_t unfiltered_ = 0;  // chunks that HDF5 filtered, since a filter failed
  // Sums that order nothing: relaxed.
  static std::atomic<uint64_t> bytes_;
  static std::atomic<uint64_t> added_;  // chunks
};

}  // namespace tailrace::hdf5
