// One H5Dwrite or H5Dread: a selection, memory, its type, and its contents.
#pragma once

#include <vector>

#include "model.hpp"

namespace tailrace::test {

class Transfer {
 public:
  // Transfers some elements of the model's dataset, with numbers to write.
  Transfer(const Model& model, Dice& dice);
  // Transfers these.
  Transfer(const Model& model, Selection selection, Dice& dice);

  hid_t type() const { return type_->id; }
  hid_t memory_space() const { return memory_id_; }
  hid_t file_space() const { return file_id_; }
  hid_t properties() const { return properties_ ? properties_.get() : H5P_DEFAULT; }
  void* data() { return bytes_.data(); }
  const void* data() const { return bytes_.data(); }

  // Notes the write in the model.
  void write_to(Model& model) const { model.write(file_.elements, numbers_); }
  // After a write: overwrites the memory, which is the program's again. Before a read: marks the memory, to find
  // changes outside the selection.
  void scribble() { bytes_.assign(bytes_.size(), kScribble); }
  // After a read: checks that the memory has the model's values, and is otherwise unchanged.
  void compare(const Model& model) const;

 private:
  static constexpr std::byte kScribble{0x5a};

  void choose_spaces(Dice& dice);

  const MemoryType* type_;
  Selection file_;
  Selection memory_;
  hid_t file_id_ = H5S_ALL;
  hid_t memory_id_ = H5S_ALL;
  Id properties_;
  std::vector<int> numbers_;
  std::vector<std::byte> bytes_;
};

// Reads the whole dataset at once, and compares.
void compare_whole(hid_t dataset, const Model& model);

}  // namespace tailrace::test
