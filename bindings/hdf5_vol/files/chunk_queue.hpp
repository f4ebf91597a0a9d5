// The chunks of one dataset that are being filtered, in the order in which they were written.
//
// Under the host's own lock, as HDF5 calls are.
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
  // `path`: the file, for messages.
  ChunkQueue(const Host& host, std::string path) : host_(host), path_(std::move(path)) {}

  // Adds the chunk that begins at `offset`, of that many elements in each dimension, of the dataset open as `under`.
  void add(void* under, std::vector<hsize_t> offset, std::vector<hsize_t> shape, std::shared_ptr<ChunkJob> job);
  // Gives HDF5 those that are filtered, in order; or, if `all`, waits for and gives all. What HDF5 could not write is
  // added to `failures`.
  void place(bool all, std::vector<std::string>& failures);
  // Waits for that one and those before it, and places them; false if they have not all been filtered by then.
  bool place_until(const ChunkJob& job, std::optional<ChunkCrew::Deadline> deadline,
                   std::vector<std::string>& failures);
  // Waits for the first one and places it.
  void place_one(std::vector<std::string>& failures);
  bool empty() const { return waiting_.empty(); }
  // Returns true if a filter has failed with many chunks, and with most: HDF5 did all that work again.
  bool mostly_fails() const { return unfiltered_ >= kMany && unfiltered_ > filtered_; }
  // Returns the number of the first chunk: chunks that were added later, to whichever queue, have larger ones.
  uint64_t number() const { return waiting_.front().number; }
  // Closes `under` when all has been placed, since the program has closed it.
  void close_later(void* under) { closing_.push_back(under); }

  // In a child that was forked: what waits is the parent's.
  void leave_to_parent();

  // Bytes of all queues of the process, before they were filtered.
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
  std::map<std::vector<hsize_t>, uint64_t> newest_;  // of each chunk that waits, by its offset: the number
  std::vector<void*> closing_;
  uint64_t filtered_ = 0;    // chunks given
  uint64_t unfiltered_ = 0;  // … since a filter failed
  // Sums, that order nothing: relaxed.
  static std::atomic<uint64_t> bytes_;
  static std::atomic<uint64_t> added_;  // chunks
};

}  // namespace tailrace::hdf5
