// NoWitness: records nothing of what a group of files does.
#pragma once

#include "publish/witness.hpp"

namespace tailrace::impl {

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
