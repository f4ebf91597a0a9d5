// IterationIndex: the iterations of a file of several, and the bytes of its group /data, which links them.
//
// The group is compact: its links are in the chunks of its object header. A header is never changed. Each iteration
// gets a new one, at another place, with one more link, so that a reader of the old one is not disturbed. A chunk
// that is full is written once, and later headers refer to it: what an iteration costs hardly grows with their
// number. Pure; the format is that of object headers 2 and of link messages 1 ("HDF5 File Format Specification",
// IV.A).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "format/metadata/object_header.hpp"
#include "model/request.hpp"

namespace tailrace::impl {

class IterationIndex {
 public:
  static constexpr size_t kLinksOfChunk = 128;

  // Takes up the iterations of the header of a group /data; none if the group is not one that write() has made.
  static std::optional<IterationIndex> from(const ObjectHeader& data);

  bool empty() const { return numbers_.empty(); }
  bool contains(int64_t iteration) const;
  // Returns the iterations, in ascending order.
  const std::vector<int64_t>& iterations() const { return numbers_; }

  // Adds an iteration that is not there. `address`: of the object header of its group.
  void add(int64_t iteration, uint64_t address);

  struct Chunk {
    uint64_t offset = 0;
    std::vector<std::byte> bytes;

    uint64_t end() const { return offset + bytes.size(); }
  };
  // Makes the group's header in the space from `begin` on, which is a multiple of 8. Returns what is to be written
  // there, in order; the last one is the header.
  std::vector<Chunk> write(uint64_t begin);

 private:
  struct Entry {
    int64_t iteration = 0;
    uint64_t address = 0;
  };

  std::vector<int64_t> numbers_;  // of all iterations, ascending
  std::vector<Extent> full_;      // chunks that are full
  std::vector<Entry> latest_;     // the links that no full chunk has
};

}  // namespace tailrace::impl
