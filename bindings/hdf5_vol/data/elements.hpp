// Elements: the type and the extent of an open dataset, and where the elements of a transfer lie in memory and in the
// file.
#pragma once

#include <tailrace/tailrace.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hdf5_vol/host/host.hpp"
#include "hdf5_vol/host/move.hpp"
#include "hdf5_vol/host/selection.hpp"
#include "hdf5_vol/policy/carry_policy.hpp"

namespace tailrace::hdf5 {

// The arguments of a call that moves data.
struct Transfer {
  hid_t memory_type;
  hid_t memory_space;
  hid_t file_space;
  hid_t list;  // its properties
};

class Elements {
 public:
  explicit Elements(const Host& host) : host_(host) {}
  ~Elements() { give_back(); }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;

  // Asks for the type of the dataset open as `under`. Returns false if its elements do not hold all of their data.
  bool take_type(void* under);
  // Asks for its extent, which a program may change.
  void take_extent(void* under);
  // Closes the identifiers that this holds: a program that lists all open ones sees them as its own.
  void give_back();

  hid_t type() const { return type_; }
  int rank() const { return extent_.rank; }
  uint64_t count() const { return count_; }
  uint64_t bytes() const { return count_ * element_; }
  size_t element_bytes() const { return element_; }

  // Sets the move that is to be made, as far as it can be made. Returns why HDF5 has to make it instead. `data`: the
  // program's memory.
  Reason plan(const Transfer& transfer, const void* data, Move& move) const;
  // Returns true if all of the dataset is moved. (A selection of points may have some of them twice.)
  bool is_whole(const Move& move) const { return move.elements == count_ && !move.in_file.is_points; }
  // Returns where the elements begin, if they are contiguous in memory; else null.
  const std::byte* one_run(const Move& move, const void* data) const;
  // Return where the elements lie in the file, in which the data of the dataset begin at `base`: the runs, which are
  // empty on an error, and the bytes among which the runs lie.
  std::vector<tailrace_extent> runs_in_file(const Move& move, uint64_t base) const;
  tailrace_extent bounds(const Move& move, uint64_t base) const;

 private:
  bool select(const Transfer& transfer, Move& move) const;
  bool is_of_type(hid_t type) const;
  bool has_numbers(hid_t memory_type) const;

  const Host& host_;
  hid_t type_ = H5I_INVALID_HID;
  hid_t space_ = H5I_INVALID_HID;
  size_t element_ = 0;  // bytes
  uint64_t count_ = 0;
  Extent extent_;                           // of space_
  mutable std::optional<hid_t> same_type_;  // one of HDF5's own types, known to equal type_
};

}  // namespace tailrace::hdf5
