// Selections of HDF5, as runs of bytes.
#pragma once

#include <tailrace/tailrace.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

struct Extent {
  int rank = 0;  // 0: scalar or empty; < 0: an error
  hsize_t length[H5S_MAX_RANK];

  static Extent of(const Host& host, hid_t space);
  bool operator==(const Extent& other) const;
};

// The selection of a call, in a space.
struct Selection {
  uint64_t elements = 0;
  bool is_points = false;  // in any order, some perhaps twice
  // Set if the elements obviously lie side by side (the whole extent, or one block): the number of the first.
  std::optional<uint64_t> first;

  // Returns none if the selection is not valid, or if its extent is not `expected` (null: any).
  static std::optional<Selection> look(const Host& host, hid_t space, const Extent* expected);
};

// Walks a selection in its own order, as runs of bytes ⟨offset, length⟩ from the first element of its extent on.
class SelectionWalk {
 public:
  // `space` has the selection; its elements have `element` bytes.
  SelectionWalk(const Host& host, hid_t space, size_t element);
  ~SelectionWalk();
  SelectionWalk(const SelectionWalk&) = delete;
  SelectionWalk& operator=(const SelectionWalk&) = delete;

  bool ok() const { return iterator_ >= 0; }
  // Returns true if the selection's `elements` elements are one run of bytes, and sets `begin` to its offset. Call it
  // before next().
  bool is_one_run(uint64_t elements, uint64_t& begin);
  // Appends the runs of the next `elements` elements to `runs`, each moved by `base`; returns false on an error.
  bool next(uint64_t elements, uint64_t base, std::vector<tailrace_extent>& runs);

 private:
  const Host& host_;
  const size_t element_;
  hid_t iterator_;
};

}  // namespace tailrace::hdf5
