// Witness: the port through which a group of files records the events that must outlive the server.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "filter/pipeline.hpp"
#include "model/block.hpp"

namespace tailrace::impl {

class Witness {
 public:
  virtual ~Witness() = default;
  virtual void failed(int64_t iteration, const Status& why) = 0;
  virtual void left(int64_t iteration) = 0;
  // Records that the iteration has no file.
  virtual void unpublished(int64_t iteration, const Status& why) = 0;
  // Records that the journal of dropped iterations has `end` bytes.
  virtual void journaled(uint64_t end) = 0;
  // Returns why the iteration must not be published although all its blocks are written, or ok.
  virtual Status doubt(int64_t iteration) = 0;
  // Records the place of a chunk.
  virtual void placed(const Block& block, uint64_t index, const FilteredChunk& chunk, const Loss& loss) = 0;
};

}  // namespace tailrace::impl
