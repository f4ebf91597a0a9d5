#include "hdf5_vol/data/elements.hpp"

#include "hdf5_vol/host/errors.hpp"
#include "hdf5_vol/host/inquiry.hpp"

namespace tailrace::hdf5 {
namespace {

// Returns true if the elements hold all of their data. Data that lie elsewhere, or that refer to objects, are HDF5's
// own.
bool is_flat(const Host& host, hid_t type) {
  return host.H5Tdetect_class(type, H5T_VLEN) == 0 && host.H5Tdetect_class(type, H5T_REFERENCE) == 0 &&
         host.H5Tis_variable_str(type) == 0 && host.H5Tdetect_class(type, H5T_STRING) == 0;
}

// Returns true if the data may be computed on their way. HDF5 treats the question as an error if nothing was set; if
// it cannot be kept from printing that error, it is not asked.
bool may_transform(const Host& host, hid_t list) {
  const Quiet quiet(host);
  if (!quiet.can()) return true;
  return host.H5Pget_data_transform(list, nullptr, 0) > 0;
}

}  // namespace

// Copies a named type: the original would hold the file open.
bool Elements::take_type(void* under) {
  const hid_t type = get(host_, under, H5VL_DATASET_GET_TYPE);
  if (type < 0) return false;
  type_ = host_.H5Tcopy(type);
  host_.H5Tclose(type);
  if (type_ < 0 || !is_flat(host_, type_)) return false;
  element_ = host_.H5Tget_size(type_);
  return true;
}

void Elements::take_extent(void* under) {
  if (space_ >= 0) host_.H5Sclose(space_);
  space_ = get(host_, under, H5VL_DATASET_GET_SPACE);
  count_ = space_ >= 0 ? static_cast<uint64_t>(host_.H5Sget_simple_extent_npoints(space_)) : 0;
  if (space_ >= 0) extent_ = Extent::of(host_, space_);
}

void Elements::give_back() {
  if (type_ >= 0) host_.H5Tclose(type_);
  if (space_ >= 0) host_.H5Sclose(space_);
  type_ = space_ = H5I_INVALID_HID;
}

Reason Elements::plan(const Transfer& transfer, const void* data, Move& move) const {
  TransferFacts facts{.has_data = data != nullptr};
  if (facts.has_data) facts.is_transformed = transfer.list != host_.transfer && may_transform(host_, transfer.list);
  facts.has_selection = why_not(facts) == Reason::none && select(transfer, move);
  if (!facts.has_selection) return why_not(facts);
  move.converts = facts.converts = !is_of_type(transfer.memory_type);
  move.memory_element = move.converts ? host_.H5Tget_size(transfer.memory_type) : element_;
  if (move.converts) facts.has_numbers = has_numbers(transfer.memory_type);
  return why_not(facts);
}

// Sets where the elements lie. Returns false if that is not understood, or is wrong.
bool Elements::select(const Transfer& transfer, Move& move) const {
  if (space_ < 0) return false;
  move.file_space = space_;
  move.in_file = {count_, false, 0};
  if (transfer.file_space != H5S_ALL) {
    if (transfer.file_space <= H5S_PLIST) return false;
    const auto selected = Selection::look(host_, transfer.file_space, &extent_);
    if (!selected) return false;
    move.file_space = transfer.file_space;
    move.in_file = *selected;
  }
  move.elements = move.in_file.elements;
  move.memory_space = transfer.memory_space == H5S_ALL ? transfer.file_space : transfer.memory_space;
  if (move.memory_space == H5S_BLOCK) move.memory_space = H5S_ALL;
  if (move.memory_space == H5S_PLIST) return false;
  move.first_in_memory = 0;
  if (move.memory_space != H5S_ALL) {
    const auto selected = Selection::look(host_, move.memory_space, nullptr);
    if (!selected || selected->elements != move.elements) return false;
    move.first_in_memory = selected->first;
  }
  return true;
}

// A type that cannot be changed need not be looked at again.
bool Elements::is_of_type(hid_t type) const {
  if (type == same_type_) return true;
  const bool same = host_.H5Tequal(type, type_) > 0;
  if (same && host_.is_predefined(type)) same_type_ = type;
  return same;
}

// Returns true if both types are numbers. HDF5 has no conversion between some others (integers to enumerations), and
// says so before it does anything.
bool Elements::has_numbers(hid_t memory_type) const { return host_.is_number(memory_type) && host_.is_number(type_); }

const std::byte* Elements::one_run(const Move& move, const void* data) const {
  const auto* bytes = static_cast<const std::byte*>(data);
  if (move.first_in_memory) return bytes + *move.first_in_memory * move.memory_element;
  SelectionWalk walk(host_, move.memory_space, move.memory_element);
  uint64_t begin = 0;
  return walk.ok() && walk.is_one_run(move.elements, begin) ? bytes + begin : nullptr;
}

std::vector<tailrace_extent> Elements::runs_in_file(const Move& move, uint64_t base) const {
  if (move.in_file.first) return {bounds(move, base)};
  SelectionWalk walk(host_, move.file_space, element_);
  std::vector<tailrace_extent> runs;
  if (!walk.ok() || !walk.next(move.elements, base, runs)) runs.clear();
  return runs;
}

tailrace_extent Elements::bounds(const Move& move, uint64_t base) const {
  if (move.in_file.first) return {base + *move.in_file.first * element_, move.elements * element_};
  return {base, bytes()};
}

}  // namespace tailrace::hdf5
