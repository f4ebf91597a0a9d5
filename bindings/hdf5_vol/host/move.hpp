// Move: the bytes that one call of a program moves between its memory and a contiguous dataset.
#pragma once

#include <tailrace/tailrace.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hdf5_vol/host/host.hpp"
#include "hdf5_vol/host/selection.hpp"

namespace tailrace::hdf5 {

struct Move {
  hid_t file_space;    // its selection says where in the file; all: the dataset's own space
  Selection in_file;   // the selection of file_space
  hid_t memory_space;  // H5S_ALL: the elements lie side by side, in the order of the file's selection
  std::optional<uint64_t> first_in_memory;  // see Selection::first
  uint64_t elements;
  size_t memory_element;  // bytes
  bool converts;
};

// The elements of a Move, a part at a time, between the program's memory and one run of bytes.
class Parts {
 public:
  // `element`: bytes of an element in the file; `base`: where the data of the dataset begin there. `move` must
  // outlive this.
  Parts(const Host& host, const Move& move, size_t element, uint64_t base);
  bool ok() const { return file_.ok() && (!memory_ || memory_->ok()); }

  // Goes on to the next part; returns false at the end, and on an error.
  bool next();
  bool failed() const { return failed_; }

  void gather(const std::byte* data);
  void scatter(std::byte* data) const;
  bool convert(hid_t from, hid_t to, hid_t transfer);
  std::byte* bytes() { return bytes_.data(); }
  const std::vector<tailrace_extent>& in_file() const { return in_file_; }

 private:
  const Move& move_;
  const Host& host_;
  const uint64_t at_once_;
  std::vector<std::byte> bytes_;
  const uint64_t base_;
  SelectionWalk file_;
  std::optional<SelectionWalk> memory_;
  std::vector<tailrace_extent> in_memory_;
  std::vector<tailrace_extent> in_file_;
  uint64_t done_ = 0;
  uint64_t count_ = 0;
  bool failed_ = false;
};

}  // namespace tailrace::hdf5
