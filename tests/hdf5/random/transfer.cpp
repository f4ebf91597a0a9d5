#include "transfer.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace tailrace::test {
namespace {

[[noreturn]] void differs(const Model& model, size_t element, int found) {
  std::fprintf(stderr, "%s, element %zu: found %d, expected %d\n", describe(model).c_str(), element, found,
               model.numbers[element]);
  _exit(1);
}

}  // namespace

Transfer::Transfer(const Model& model, Dice& dice) : Transfer(model, some_of(model.shape, model.chunk, dice), dice) {}

Transfer::Transfer(const Model& model, Selection selection, Dice& dice)
    : type_(&memory_type_of(model.family, dice.below(100))),
      file_(std::move(selection)),
      memory_(some_memory(file_.elements.size(), dice)) {
  choose_spaces(dice);
  if (dice.chance(10)) {
    properties_ = {H5Pcreate(H5P_DATASET_XFER), H5Pclose};
    if (dice.chance(50)) CHECK(H5Pset_buffer(properties_.get(), 4096, nullptr, nullptr) >= 0);
  }
  numbers_.resize(file_.elements.size());
  const int base = static_cast<int>(dice.below(kNumbers));
  const int step = static_cast<int>(dice.below(kNumbers));
  for (size_t i = 0; i < numbers_.size(); ++i) numbers_[i] = (base + static_cast<int>(i % 1000) * step) % kNumbers;
  bytes_.assign(memory_.extent * type_->size, kScribble);
  for (size_t i = 0; i < numbers_.size(); ++i)
    type_->put(numbers_[i], bytes_.data() + memory_.elements[i] * type_->size);
}

// HDF5 has special values for some of them.
void Transfer::choose_spaces(Dice& dice) {
  file_id_ = file_.space.get();
  memory_id_ = memory_.space.get();
  const bool is_all = std::is_sorted(file_.elements.begin(), file_.elements.end()) &&
                      file_.elements.size() == file_.extent && H5Sget_select_type(file_id_) == H5S_SEL_ALL;
  if (is_all && dice.chance(70)) file_id_ = H5S_ALL;
  const uint64_t how = file_.elements.empty() ? 9 : dice.below(10);
  if (how < 2) {  // as in the file
    memory_.space.reset();
    memory_.elements = file_.elements;
    memory_.extent = file_.extent;
    memory_id_ = H5S_ALL;
  } else if (how == 2) {
    memory_ = {{}, std::vector<size_t>(file_.elements.size()), file_.elements.size()};
    for (size_t i = 0; i < memory_.extent; ++i) memory_.elements[i] = i;
    memory_id_ = H5S_BLOCK;
  }
}

void Transfer::compare(const Model& model) const {
  std::vector<bool> read(memory_.extent);
  for (size_t i = 0; i < file_.elements.size(); ++i) {
    read[memory_.elements[i]] = true;
    const int expected = model.numbers[file_.elements[i]];
    const int found = type_->get(bytes_.data() + memory_.elements[i] * type_->size);
    if (expected != kUnknown && found != expected) differs(model, file_.elements[i], found);
  }
  for (size_t at = 0; at < read.size(); ++at) {
    const std::byte* const from = bytes_.data() + at * type_->size;
    CHECK(read[at] || std::all_of(from, from + type_->size, [](std::byte byte) { return byte == kScribble; }));
  }
}

void compare_whole(hid_t dataset, const Model& model) {
  const MemoryType& type = memory_type_of(model.family, 0);
  std::vector<std::byte> bytes(model.numbers.size() * type.size);
  const Id space{H5Dget_space(dataset), H5Sclose};
  CHECK(H5Sget_simple_extent_npoints(space.get()) == static_cast<hssize_t>(model.numbers.size()));
  CHECK(H5Dread(dataset, type.id, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0);
  for (size_t element = 0; element < model.numbers.size(); ++element) {
    const int found = type.get(bytes.data() + element * type.size);
    if (model.numbers[element] != kUnknown && found != model.numbers[element]) differs(model, element, found);
  }
}

}  // namespace tailrace::test
