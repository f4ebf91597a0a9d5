#include "format/plan/holes.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "format/plan/fill_value.hpp"
#include "format/plan/stored_as.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kMostOfPiece = uint64_t{1} << 20;  // bytes

using Box = std::vector<uint64_t>;  // offset and shape

// Adds what is left of `box` outside the block: at most two boxes for each axis.
void subtract(Box box, const Box& block, std::vector<Box>& left) {
  const size_t rank = box.size() / 2;
  const auto end = [rank](const Box& of, size_t axis) { return of[axis] + of[rank + axis]; };
  for (size_t axis = 0; axis < rank; ++axis) {
    if (block[axis] >= end(box, axis) || end(block, axis) <= box[axis]) return left.push_back(std::move(box));
  }
  for (size_t axis = 0; axis < rank; ++axis) {
    const uint64_t begin = std::max(box[axis], block[axis]);
    const uint64_t stop = std::min(end(box, axis), end(block, axis));
    if (box[axis] < begin) {
      Box before = box;
      before[rank + axis] = begin - box[axis];
      left.push_back(std::move(before));
    }
    if (stop < end(box, axis)) {
      Box behind = box;
      behind[rank + axis] = end(box, axis) - stop;
      behind[axis] = stop;
      left.push_back(std::move(behind));
    }
    box[axis] = begin;
    box[rank + axis] = stop - begin;
  }
}

// Fills extents with one element. All pieces of a length share their bytes.
class Filler {
 public:
  explicit Filler(std::vector<std::byte> element) : element_(std::move(element)) {}

  void fill(Extent extent, std::vector<MetadataPiece>& pieces) {
    while (extent.length > 0) {
      const uint64_t length = std::min(extent.length, kMostOfPiece);
      pieces.push_back({extent.offset, bytes(length)});
      extent.offset += length;
      extent.length -= length;
    }
  }

 private:
  SharedBytes bytes(uint64_t length) {
    const auto [found, is_new] = by_length_.try_emplace(length);
    if (is_new) {
      std::vector<std::byte> all(length);
      for (uint64_t at = 0; at < length; at += element_.size()) {
        std::copy(element_.begin(), element_.end(), all.begin() + static_cast<std::ptrdiff_t>(at));
      }
      found->second = std::move(all);
    }
    return found->second;
  }

  const std::vector<std::byte> element_;
  std::map<uint64_t, SharedBytes> by_length_;
};

}  // namespace

std::vector<std::vector<uint64_t>> holes_of(const std::vector<uint64_t>& whole,
                                            const std::vector<std::vector<uint64_t>>& blocks) {
  Box all(whole.size());
  all.insert(all.end(), whole.begin(), whole.end());
  std::vector<Box> holes;
  if (std::find(whole.begin(), whole.end(), 0) == whole.end()) holes.push_back(std::move(all));
  for (const Box& block : blocks) {
    std::vector<Box> left;
    for (Box& hole : holes) subtract(std::move(hole), block, left);
    holes = std::move(left);
  }
  return holes;
}

std::vector<MetadataPiece> filled_holes(const Config& config, const IterationPlan& plan) {
  std::vector<MetadataPiece> pieces;
  if (!plan.has_shared()) return pieces;
  const bool lacks = !plan.missing().empty() || plan.missing_unnamed() > 0;
  const bool one_node = config.place.nodes == 1 && config.place.node == 0;
  const bool has_whole = config.storage.file_per == FilePer::job || one_node;
  std::map<std::string, Filler> fillers;  // by the bytes of an element
  for (const auto& [name, dataset] : plan.datasets()) {
    if (!dataset.shared || dataset.in_chunks) continue;
    const StoredAs as = plan.stored_as(dataset);
    const Variable& variable = config.variables[dataset.variable];
    const std::optional<Number> value = value_of_holes(variable, as.block->type);
    if (!value || !(lacks || (variable.fill_value && has_whole))) continue;
    const std::vector<std::byte> element = element_of(as.block->type, *value);
    const std::string key(reinterpret_cast<const char*>(element.data()), element.size());
    Filler& filler = fillers.try_emplace(key, element).first->second;
    const size_t rank = as.shape().size();
    Layout layout = *as.block;
    for (const Box& hole : holes_of(as.shape(), dataset.stored.blocks)) {
      layout.offset.assign(hole.begin(), hole.begin() + static_cast<std::ptrdiff_t>(rank));
      layout.shape.assign(hole.begin() + static_cast<std::ptrdiff_t>(rank), hole.end());
      for (const Extent& extent : extents_of(layout, as, dataset.stored.extent.offset)) filler.fill(extent, pieces);
    }
  }
  std::sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return pieces;
}

}  // namespace tailrace::impl
