// OwnArrays: the simulated program's own arrays, one for each variable, into which its blocks are computed.
//
// Most programs have such arrays. They are touched beforehand, so that the first iteration is like the others.
#pragma once

#include <vector>

#include "lab/pattern/memory.hpp"
#include "lab/pattern/options.hpp"

namespace bench {

class OwnArrays {
 public:
  // `arrays`: arrays of each variable to use in turn; more than one only if a writer borrows them.
  explicit OwnArrays(const WriteOptions& options, int arrays = 1, Buffer::Start start = Buffer::Start::page)
      : variables_(static_cast<size_t>(options.variables)), arrays_(static_cast<size_t>(arrays)) {
    for (size_t i = 0; i < variables_ * arrays_; ++i) buffers_.emplace_back(options.block_bytes(), start);
  }

  char* of(int variable, int iteration) const {
    const size_t turn = static_cast<size_t>(iteration) % arrays_;
    return buffers_[turn * variables_ + static_cast<size_t>(variable)].data();
  }

  uint64_t held() const {
    uint64_t bytes = 0;
    for (const Buffer& buffer : buffers_) bytes += buffer.held();
    return bytes;
  }

 private:
  const size_t variables_;
  const size_t arrays_;
  std::vector<Buffer> buffers_;
};

}  // namespace bench
