// IterationEnds: how the iterations that have left ended: published, or without a file, and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include "base/ended_numbers.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

class IterationEnds {
 public:
  static constexpr size_t kUnpublishedRemembered = 4096;

  void add_published(int64_t iteration) { published_.add(iteration); }
  // Notes that the iteration has left without a file: a file of its name belongs to an earlier run. Remembers the
  // latest of these.
  void add_unpublished(int64_t iteration, const Status& why);

  // Returns why the iteration has no file; ok if it is not known to have none.
  Status why_unpublished(int64_t iteration) const;
  // Returns ok if the iteration has not left, as far as this remembers; else why nothing can be added to it.
  Status writable(int64_t iteration) const;

 private:
  EndedNumbers published_;
  std::map<int64_t, Status> unpublished_;
  std::deque<int64_t> order_;  // keys of unpublished_, oldest first
};

}  // namespace tailrace::impl
