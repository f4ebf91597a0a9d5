// Witness: the memory of events of a group of files that must outlive the server, if somebody keeps it.
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
  // Notes an iteration without a file.
  virtual void unpublished(int64_t iteration, const Status& why) = 0;
  // The journal of dropped iterations holds so many bytes.
  virtual void journaled(uint64_t end) = 0;
  // Why nothing of the iteration is to be believed, though all its blocks have been written; ok: it is.
  virtual Status doubt(int64_t iteration) = 0;
  // A chunk has its place.
  virtual void placed(const Block& block, uint64_t index, const FilteredChunk& chunk, const Loss& loss) = 0;
};

// Keeps nothing: where nobody goes on after a death.
class NoWitness final : public Witness {
 public:
  void failed(int64_t, const Status&) override {}
  void left(int64_t) override {}
  void unpublished(int64_t, const Status&) override {}
  void journaled(uint64_t) override {}
  Status doubt(int64_t) override { return {}; }
  void placed(const Block&, uint64_t, const FilteredChunk&, const Loss&) override {}
};

}  // namespace tailrace::impl
