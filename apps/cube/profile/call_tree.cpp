#include "cube/profile/call_tree.hpp"

#include <algorithm>

namespace tailrace::cube {

CallTree::CallTree(std::vector<CallPath> paths) : paths_(std::move(paths)) {
  const auto size = static_cast<uint32_t>(paths_.size());
  std::vector<uint32_t> roots;
  for (uint32_t path = 0; path < size; ++path) {
    paths_[path].children.clear();
    paths_[path].end = path + 1;
    if (paths_[path].parent < 0) {
      roots.push_back(path);
    } else {
      paths_[static_cast<size_t>(paths_[path].parent)].children.push_back(path);
    }
  }
  for (uint32_t path = size; path-- > 0;) {
    if (paths_[path].parent >= 0) {
      uint32_t& end = paths_[static_cast<size_t>(paths_[path].parent)].end;
      end = std::max(end, paths_[path].end);
    }
  }
  wide_.resize(size);
  std::vector<uint32_t> open;
  const auto number = [&](uint32_t path) {
    wide_[path] = static_cast<uint32_t>(by_wide_.size());
    by_wide_.push_back(path);
  };
  for (const uint32_t root : roots) {
    number(root);
    open.push_back(root);
    while (!open.empty()) {
      const std::vector<uint32_t>& children = paths_[open.back()].children;
      open.pop_back();
      for (const uint32_t child : children) number(child);
      open.insert(open.end(), children.rbegin(), children.rend());
    }
  }
}

}  // namespace tailrace::cube
