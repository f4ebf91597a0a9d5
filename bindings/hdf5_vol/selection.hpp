// Selections of HDF5, as the runs of bytes they are.
#pragma once

#include <tailrace/tailrace.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "host.hpp"

namespace tailrace::hdf5 {

// The run of bytes that a valid selection of `elements` elements is, if that is seen at once: all of its extent, or
// one block that lies side by side. Without it, it may be one all the same.
std::optional<tailrace_extent> run_at_once(const Host& host, hid_t space, uint64_t elements, size_t element);

// Walks a selection in its own order: runs of bytes ⟨offset, length⟩ from the first element of its extent on.
class SelectionWalk {
 public:
  // `space` has a selection of elements of `element` bytes.
  SelectionWalk(const Host& host, hid_t space, size_t element);
  ~SelectionWalk();
  SelectionWalk(const SelectionWalk&) = delete;
  SelectionWalk& operator=(const SelectionWalk&) = delete;

  bool ok() const { return iterator_ >= 0; }
  // Whether its `elements` elements are one run of bytes, and where it begins. Nothing may have been taken before.
  bool is_one_run(uint64_t elements, uint64_t& begin);
  // Appends the runs of the next `elements` elements to `runs`, each moved by `base`; false on an error.
  bool next(uint64_t elements, uint64_t base, std::vector<tailrace_extent>& runs);

 private:
  const Host& host_;
  const size_t element_;
  hid_t iterator_;
};

}  // namespace tailrace::hdf5
