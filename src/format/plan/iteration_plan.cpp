#include "format/plan/iteration_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/names/counted.hpp"

namespace tailrace::impl {
namespace {

// HDF5 stores the length of an attribute's name in 16 bits.
constexpr size_t kLongestName = 65000;

std::string text_of(const StoredAs& as) {
  return fmt::format("shape [{}] of {} at [{}] of [{}]", fmt::join(as.shape(), ", "), name_of(as.block->type),
                     fmt::join(as.offset(), ", "), fmt::join(as.block->global_shape, ", "));
}

bool same_place(const StoredAs& a, const StoredAs& b) {
  return a.block->type == b.block->type && a.shape() == b.shape() && a.block->global_shape == b.block->global_shape &&
         a.offset() == b.offset();
}

}  // namespace

IterationPlan::IterationPlan(const Config& config, std::string path, uint64_t begin)
    : config_(config), path_(std::move(path)), raw_end_(begin) {}

IterationPlan IterationPlan::of_nodes(const Config& config, std::string path) {
  IterationPlan plan(config, std::move(path));
  plan.of_nodes_ = true;
  return plan;
}

uint64_t IterationPlan::allocate(uint64_t bytes) {
  const uint64_t offset = next_place(raw_end_, bytes);
  raw_end_ = offset + bytes;
  return offset;
}

StoredAs IterationPlan::stored_as(const Dataset& dataset) const {
  return impl::stored_as(config_.variables[dataset.variable], *dataset.block, config_.storage.file_per,
                         dataset.client);
}

// A dataset has one shape, and one place in the whole array.
Status IterationPlan::check_place(const StoredAs& as, const Dataset& before) const {
  const StoredAs expected = stored_as(before);
  if (same_place(as, expected)) return {};
  return Status(TAILRACE_WRONG_SHAPE, fmt::format("{} '{}': found {}, expected {} as in the earlier block",
                                                  as.shared ? "the clients of a node do not agree on"
                                                            : "two blocks of one iteration do not agree on",
                                                  as.name, text_of(as), text_of(expected)));
}

// Returns where a dataset that is not in chunks lies.
Result<Extent> IterationPlan::space_for(const Block& block, const StoredAs& as) {
  const uint64_t bytes = as.bytes();
  if (!of_nodes_) return bytes > 0 ? Extent{allocate(bytes), bytes} : Extent{};
  if (!places_) {
    TAILRACE_REQUIRE(block.layouts != nullptr);
    places_ = array_places(config_, *block.layouts, raw_end_);
    raw_end_ = places_->end;
  }
  const auto place = places_->of.find(as.name);
  TAILRACE_REQUIRE(place != places_->of.end());
  if (place->second.length == bytes) return place->second;
  return Status(TAILRACE_WRONG_SHAPE,
                fmt::format("'{}': found the global shape [{}] of {}, expected one of {}, as when the iteration "
                            "began: several nodes write the file",
                            as.name, fmt::join(as.shape(), ", "), counted(bytes, "byte"), place->second.length));
}

Result<IterationPlan::Dataset*> IterationPlan::dataset_of(const Block& block, const StoredAs& as) {
  const auto found = datasets_.lower_bound(as.name);
  if (found != datasets_.end() && found->first == as.name) {
    const bool known = found->second.block == block.layout && found->second.client == block.source;
    Status status = known ? Status() : check_place(as, found->second);
    if (!status.ok()) return status;
    return &found->second;
  }
  const Variable& variable = config_.variables[block.variable];
  Dataset made;
  made.variable = block.variable;
  made.client = block.source;
  made.block = block.layout;
  made.in_chunks = variable.filtered();
  made.shared = as.shared;
  made.stored.shape = as.shape();
  if (made.in_chunks) {
    made.stored.chunks.resize(plan_of(variable, *block.layout).chunking.count());
  } else {
    const Result<Extent> space = space_for(block, as);
    if (!space.ok()) return space.status();
    made.stored.extent = space.value();
  }
  return &add(found, as.name, std::move(made));
}

IterationPlan::Dataset& IterationPlan::add(Datasets::iterator before, const std::string& name, Dataset dataset) {
  parts_ += 1 + dataset.stored.chunks.size();
  has_chunks_ = has_chunks_ || dataset.in_chunks;
  has_shared_ = has_shared_ || dataset.shared;
  return datasets_.emplace_hint(before, name, std::move(dataset))->second;
}

void IterationPlan::note_patch(const Block& block, const StoredAs& as) {
  const Layout& layout = *block.layout;
  if (!config_.variables[block.variable].record.of_particles || layout.patch_offset.empty()) return;
  patches_[as.name.substr(0, as.name.find('/'))][block.source] = {layout.shape[0], as.shared ? layout.offset[0] : 0,
                                                                  layout.patch_offset, layout.patch_extent};
}

Result<std::vector<Extent>> IterationPlan::place(const Block& block) {
  const StoredAs as =
      impl::stored_as(config_.variables[block.variable], *block.layout, config_.storage.file_per, block.source);
  Result<Dataset*> found = dataset_of(block, as);
  if (!found.ok()) return found.status();
  note_patch(block, as);
  Dataset& to = *found.value();
  if (to.in_chunks) {  // this block has no chunks, but its dataset is like that of its other blocks
    TAILRACE_REQUIRE(block.layout->empty());
    return std::vector<Extent>();
  }
  std::vector<Extent> extents = extents_of(*block.layout, as, to.stored.extent.offset);
  if (!extents.empty()) reached_ = std::max(reached_, extents.back().end());
  if (as.shared && !block.layout->empty()) note_place(block, to);
  return extents;
}

// Notes that this part of a shared dataset has come.
void IterationPlan::note_place(const Block& block, Dataset& to) {
  std::vector<std::vector<uint64_t>>& came = to.stored.blocks;
  std::vector<uint64_t> where = place_of(*block.layout);
  const auto at = std::lower_bound(came.begin(), came.end(), where);
  if (at != came.end() && *at == where) return;
  came.insert(at, std::move(where));
  ++parts_;
}

void IterationPlan::note_block(const Block& block, uint64_t begin) {
  const StoredAs as =
      impl::stored_as(config_.variables[block.variable], *block.layout, config_.storage.file_per, block.source);
  TAILRACE_REQUIRE(as.shared);
  const auto found = datasets_.lower_bound(as.name);
  const bool is_new = found == datasets_.end() || found->first != as.name;
  Dataset made;
  if (is_new) {
    made.variable = block.variable;
    made.client = block.source;
    made.block = block.layout;
    made.shared = true;
    made.stored.shape = as.shape();
    if (as.bytes() > 0) made.stored.extent = {begin, as.bytes()};
  }
  Dataset& to = is_new ? add(found, as.name, std::move(made)) : found->second;
  if (block.layout->empty()) return;
  reached_ = std::max(reached_, to.stored.extent.offset + end_in_whole(*block.layout));
  note_place(block, to);
}

Result<std::vector<Extent>> IterationPlan::place_chunks(const Block& block, uint64_t first,
                                                        std::span<const FilteredChunk> chunks, const Loss& loss) {
  const StoredAs as =
      impl::stored_as(config_.variables[block.variable], *block.layout, config_.storage.file_per, block.source);
  Result<Dataset*> found = dataset_of(block, as);
  if (!found.ok()) return found.status();
  note_patch(block, as);
  Dataset& to = *found.value();
  TAILRACE_REQUIRE(to.in_chunks && first + chunks.size() <= to.stored.chunks.size());
  if (first == 0) to.loss = {};  // a block that comes again replaces the earlier one
  to.loss.add(loss);
  std::vector<Extent> extents;
  extents.reserve(chunks.size());
  for (size_t i = 0; i < chunks.size(); ++i) {
    const FilteredChunk& chunk = chunks[i];
    TAILRACE_REQUIRE(chunk.bytes > 0);
    PlacedChunk& placed = to.stored.chunks[first + i];
    // A chunk that comes again keeps its place if it is no longer than before.
    const uint64_t offset = chunk.bytes <= placed.extent.length ? placed.extent.offset : allocate(chunk.bytes);
    placed = {{offset, chunk.bytes}, chunk.skipped, chunk.effort};
    extents.push_back(placed.extent);
  }
  return extents;
}

Status IterationPlan::note_attribute(const std::string& dataset, int client, const Attribute& attribute) {
  const auto& [name, value] = attribute;
  const bool is_time = dataset.empty() && (name == kTimeAttribute || name == kStepAttribute);
  Attributes& attributes = is_time ? times_ : dataset.empty() ? attributes_ : dataset_attributes_[dataset];
  const auto [found, is_new] = attributes.try_emplace(name, Noted{value, client});
  if (is_new || same_bits(found->second.value, value)) return {};
  if (found->second.client != client) {
    return Status(TAILRACE_INVALID_ARGUMENT,
                  fmt::format("attribute '{}': client {} has set {}, expected {}, as client {} has set it", name,
                              client, text_of(value), text_of(found->second.value), found->second.client));
  }
  found->second.value = value;
  return {};
}

double IterationPlan::time(int64_t iteration) const {
  const auto given = times_.find(kTimeAttribute);
  if (given != times_.end()) return std::get<double>(given->second.value);
  return static_cast<double>(iteration) * config_.time.dt;
}

double IterationPlan::step() const {
  const auto given = times_.find(kStepAttribute);
  return given != times_.end() ? std::get<double>(given->second.value) : config_.time.dt;
}

void IterationPlan::note_event(const std::string& event) {
  if (events_.size() < kMostEvents) {
    events_.push_back(event);
  } else {
    ++events_not_listed_;
  }
}

Status IterationPlan::note_finding(const std::string& by, const std::string& name, const FindingValue& value) {
  if (name.empty() || name.size() > kLongestName) {
    return Status(TAILRACE_INVALID_ARGUMENT,
                  fmt::format("note finding '{:.60}…' in '{}': found a name of {} bytes, expected 1 to {}", name,
                              path_, name.size(), kLongestName));
  }
  const auto [earlier, is_new] = found_by_.try_emplace(name, by);
  if (!is_new && earlier->second != by) {
    return Status(TAILRACE_INVALID_ARGUMENT,
                  fmt::format("note finding '{}' of '{}' in '{}': '{}' has one of that name, expected another name",
                              name, by, path_, earlier->second));
  }
  findings_[name] = value;
  return {};
}

void IterationPlan::note_missing(const std::vector<int>& clients, uint32_t unnamed) {
  missing_.assign(clients.begin(), clients.end());
  missing_unnamed_ = unnamed;
}

// A chunk may have been longer before: perhaps a server placed it, died before it wrote it, and the next one needs
// fewer bytes.
uint64_t IterationPlan::reached() const {
  uint64_t end = reached_;
  if (!has_chunks_) return end;
  for (const auto& [name, dataset] : datasets_) {
    for (const PlacedChunk& chunk : dataset.stored.chunks) end = std::max(end, chunk.extent.end());
  }
  return end;
}

}  // namespace tailrace::impl
