// FlatType: the bytes of a datatype, in the order of its type map, as runs of pieces. Pure; it knows no MPI.
//
// Pieces of the same length at the same distance are one run, so that a column of a matrix with 10⁶ rows is one run,
// and not 10⁶ entries.
#pragma once

#include <tailrace/tailrace.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpiio/types/type_tree.hpp"

namespace tailrace::mpiio {

// `count` pieces of `length` bytes each; the i-th begins at offset + i · stride.
struct Run {
  int64_t offset = 0;
  uint64_t length = 0;
  int64_t stride = 0;
  uint64_t count = 0;

  uint64_t bytes() const { return length * count; }
};

class FlatType {
 public:
  // Takes as long as there are pieces, and as much memory as there are runs.
  explicit FlatType(const TypeTree& tree);

  uint64_t size() const { return size_; }     // bytes of data
  int64_t extent() const { return extent_; }  // distance of copies that follow one another, bytes
  const std::vector<Run>& runs() const { return runs_; }
  uint64_t pieces() const { return pieces_; }  // contiguous parts of a copy
  // Returns true if copies of it that follow one another have no gaps.
  bool is_contiguous() const;
  // Returns true if no piece begins before the end of the one before it, also from one copy to the next. A file
  // type must be so (MPI 3.1, §13.3).
  bool ascends() const;

  // Appends where the bytes from `begin` to `begin` + `length` of endless copies lie, the first copy at 0. Pieces
  // that meet become one; offsets must not be negative.
  void find(uint64_t begin, uint64_t length, uint64_t base, std::vector<tailrace_extent>& out) const;

  // Returns how many bytes of endless copies, the first one at 0, lie below `offset`. The type ascends.
  uint64_t below(uint64_t offset) const;

  // Copies the bytes from `begin` to `begin` + `length` of the copies at `memory` to `out`, back to back.
  void gather(const std::byte* memory, uint64_t begin, uint64_t length, std::byte* out) const;
  // Copies `from` to these bytes.
  void scatter(const std::byte* from, uint64_t begin, uint64_t length, std::byte* memory) const;

 private:
  class Builder;

  // Calls act(offset, length) for each piece of those bytes.
  template <class Act>
  void walk(uint64_t begin, uint64_t length, Act act) const;

  std::vector<Run> runs_;
  std::vector<uint64_t> before_;  // bytes before each run
  uint64_t size_ = 0;
  uint64_t pieces_ = 0;
  int64_t extent_ = 0;
};

}  // namespace tailrace::mpiio
