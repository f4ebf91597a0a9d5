// CallTree: the call paths of a profile, numbered in preorder, as the anchor lists them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tailrace::cube {

struct CallPath {
  uint32_t id = 0;                 // in the anchor
  int32_t parent = -1;             // its number; -1: a root
  uint32_t region = 0;             // the number of the region that it calls
  uint32_t end = 0;                // one more than the number of the last call path below it
  std::vector<uint32_t> children;  // their numbers
  std::vector<std::pair<std::string, std::string>> parameters;  // names and values
};

class CallTree {
 public:
  // `paths` in preorder, with `parent` and `region`; the rest of the structure is computed.
  explicit CallTree(std::vector<CallPath> paths = {});

  size_t size() const { return paths_.size(); }
  const CallPath& operator[](size_t number) const { return paths_[number]; }
  const std::vector<CallPath>& paths() const { return paths_; }

  // The ids of rows: of exclusive metrics the number itself; of inclusive ones the place in the wide order, in which
  // the children of a call path are numbered together, before each is descended into.
  uint32_t wide_id(uint32_t number) const { return wide_[number]; }
  uint32_t by_wide_id(uint32_t id) const { return by_wide_[id]; }

 private:
  std::vector<CallPath> paths_;
  std::vector<uint32_t> wide_;
  std::vector<uint32_t> by_wide_;
};

}  // namespace tailrace::cube
