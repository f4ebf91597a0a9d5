// View: a process's view of a file (MPI 3.1, §13.3): which bytes of the file are its data, in which order. Pure; it
// knows no MPI.
#pragma once

#include <tailrace/tailrace.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "mpiio/types/flat_type.hpp"

namespace tailrace::mpiio {

class View {
 public:
  // The view that a file has at first: all of its bytes.
  View() = default;
  // `displacement` in bytes; `etype`: size of an elementary type, in bytes; `filetype`: of a copy of the pattern.
  View(uint64_t displacement, uint64_t etype, std::shared_ptr<const FlatType> filetype)
      : displacement_(displacement), etype_(etype), filetype_(std::move(filetype)) {}

  uint64_t etype() const { return etype_; }
  bool is_contiguous() const { return filetype_ == nullptr; }
  // Returns true if no byte of the file is in it.
  bool is_empty() const { return filetype_ != nullptr && filetype_->size() == 0; }
  // Returns where `length` bytes of data lie in the file, beginning with the data's byte `begin`.
  std::vector<tailrace_extent> find(uint64_t begin, uint64_t length) const {
    if (length == 0) return {};
    if (filetype_ == nullptr) return {{displacement_ + begin, length}};
    std::vector<tailrace_extent> extents;
    filetype_->find(begin, length, displacement_, extents);
    return extents;
  }
  // Returns how many bytes of the data lie below `offset` in the file.
  uint64_t below(uint64_t offset) const {
    if (offset <= displacement_) return 0;
    return filetype_ == nullptr ? offset - displacement_ : filetype_->below(offset - displacement_);
  }
  // Returns how many bytes two copies of the pattern have; a contiguous view has one byte in it.
  uint64_t two_copies() const { return filetype_ == nullptr ? 2 : 2 * filetype_->size(); }
  // Returns how many pieces `length` bytes of data are in, about.
  uint64_t pieces(uint64_t length) const {
    return filetype_ == nullptr || length == 0
               ? 1
               : length / filetype_->size() * filetype_->pieces() + filetype_->pieces();
  }

 private:
  uint64_t displacement_ = 0;
  uint64_t etype_ = 1;
  std::shared_ptr<const FlatType> filetype_;  // null: contiguous
};

}  // namespace tailrace::mpiio
