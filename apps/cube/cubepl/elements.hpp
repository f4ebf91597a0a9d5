// Elements: those of an array of CubePL, whose indices may have large gaps: the memory is in proportion to how many
// were set.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tailrace::cube {

template <typename T>
class Elements {
 public:
  // Returns null for an element that was never set.
  const T* find(size_t index) const {
    if (index < dense_.size()) return dense_[index] ? &*dense_[index] : nullptr;
    const auto found = sparse_.find(index);
    return found == sparse_.end() ? nullptr : &found->second;
  }
  // Returns true if the element is a new one.
  bool set(size_t index, T value) {
    const bool made = find(index) == nullptr;
    count_ += made ? 1 : 0;
    if (index >= size_) size_ = index + 1;
    if (index >= dense_.size() && index < 2 * count_ + kFew) fill_up_to(index);
    if (index < dense_.size()) {
      dense_[index] = std::move(value);
    } else {
      sparse_[index] = std::move(value);
    }
    return made;
  }
  size_t count() const { return count_; }  // that were set
  size_t size() const { return size_; }    // one more than the greatest index that was set

 private:
  static constexpr size_t kFew = 64;

  void fill_up_to(size_t index) {
    dense_.resize(index + 1);
    while (!sparse_.empty() && sparse_.begin()->first <= index) {
      dense_[sparse_.begin()->first] = std::move(sparse_.begin()->second);
      sparse_.erase(sparse_.begin());
    }
  }

  std::vector<std::optional<T>> dense_;
  std::map<size_t, T> sparse_;  // indices of dense_.size() and more
  size_t count_ = 0;
  size_t size_ = 0;
};

}  // namespace tailrace::cube
