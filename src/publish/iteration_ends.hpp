// IterationEnds: what has become of the iterations that have left: published, or without a file, and why.
#pragma once

#include <cstdint>
#include <map>

#include "base/ended_numbers.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

class IterationEnds {
 public:
  void add_published(int64_t iteration) { published_.add(iteration); }
  // The iteration has left without a file: one of that name is of an earlier run. The latest of these are remembered.
  void add_unpublished(int64_t iteration, const Status& why);

  // Returns why the iteration has no file; ok if it is not known to have none.
  Status why_unpublished(int64_t iteration) const;
  // Returns ok if the iteration has not left, as far as it is remembered; else why nothing can be added to it.
  Status writable(int64_t iteration) const;

 private:
  static constexpr size_t kUnpublishedRemembered = 4096;

  EndedNumbers published_;
  std::map<int64_t, Status> unpublished_;
};

}  // namespace tailrace::impl
