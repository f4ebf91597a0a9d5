// ReaderSets: small sets of requests' slots, identified by numbers. The pending index has one for each run of bytes.
//
// Nearly every set is empty or has one member, and then its number encodes it; only larger sets take memory. A number
// has value semantics: code that copies a run copies the set, and drops it with the run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"

namespace tailrace::impl {

class ReaderSets {
 public:
  using Id = uint32_t;
  static constexpr Id kEmpty = 0;

  // Each takes a set and returns the resulting one. Slots are below 2^31 − 1.
  Id with(Id set, uint32_t slot) {
    if (set == kEmpty) return slot + 1;
    if ((set & kMany) == 0) {
      if (set == slot + 1) return set;
      const Id many = new_list();
      lists_[many] = {set - 1, slot};
      return many | kMany;
    }
    std::vector<uint32_t>& list = lists_[set & ~kMany];
    if (std::find(list.begin(), list.end(), slot) == list.end()) list.push_back(slot);
    return set;
  }

  Id without(Id set, uint32_t slot) {
    if (set == kEmpty) return set;
    if ((set & kMany) == 0) return set == slot + 1 ? kEmpty : set;
    std::vector<uint32_t>& list = lists_[set & ~kMany];
    std::erase(list, slot);
    if (list.size() > 1) return set;
    const Id one = list.empty() ? kEmpty : list.front() + 1;
    drop(set);
    return one;
  }

  Id copy(Id set) {
    if ((set & kMany) == 0) return set;
    const Id many = new_list();
    lists_[many] = lists_[set & ~kMany];
    return many | kMany;
  }

  void drop(Id set) {
    if ((set & kMany) == 0) return;
    lists_[set & ~kMany].clear();
    free_.push_back(set & ~kMany);
  }

  template <class F>
  void for_each(Id set, F f) const {
    if (set == kEmpty) return;
    if ((set & kMany) == 0) return f(set - 1);
    for (const uint32_t slot : lists_[set & ~kMany]) f(slot);
  }

 private:
  static constexpr Id kMany = Id{1} << 31;  // the other bits number the list

  Id new_list() {
    if (free_.empty()) {
      lists_.emplace_back();
      return static_cast<Id>(lists_.size() - 1);
    }
    const Id id = free_.back();
    free_.pop_back();
    return id;
  }

  std::vector<std::vector<uint32_t>> lists_;
  std::vector<Id> free_;
};

}  // namespace tailrace::impl
