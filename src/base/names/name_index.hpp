// NameIndex: finds one of many objects by its name, in constant time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tailrace::impl {

class NameIndex {
 public:
  NameIndex() = default;
  // Each object has a unique `name`. Borrows the names: the objects must not move.
  template <class T>
  explicit NameIndex(const std::vector<T>& things) {
    index_.reserve(things.size());
    for (size_t i = 0; i < things.size(); ++i) index_.emplace(things[i].name, static_cast<uint32_t>(i));
  }

  std::optional<uint32_t> find(std::string_view name) const {
    const auto found = index_.find(name);
    return found != index_.end() ? std::optional(found->second) : std::nullopt;
  }

 private:
  std::unordered_map<std::string_view, uint32_t> index_;
};

}  // namespace tailrace::impl
