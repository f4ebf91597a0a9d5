// AttributeOfPython: the value of an attribute as Python gives it, as that of C.
#pragma once

#include <nanobind/nanobind.h>
#include <tailrace/tailrace.h>

#include <string>
#include <vector>

namespace tailrace_python {

class AttributeOfPython {
 public:
  // `value`: a text, a number, or a sequence or one-dimensional array of either. Raises TypeError for anything else.
  AttributeOfPython(const std::string& name, nanobind::handle value);

  tailrace_type type() const { return type_; }
  size_t count() const { return count_; }
  const void* data() const { return texts_.empty() ? data_ : static_cast<const void*>(pointers_.data()); }

 private:
  void take_array(const std::string& name, nanobind::handle value);

  tailrace_type type_ = TAILRACE_TEXT;
  size_t count_ = 0;
  const void* data_ = nullptr;      // of numbers
  std::vector<std::byte> numbers_;  // a copy, as the array may end
  std::vector<std::string> texts_;
  std::vector<const char*> pointers_;  // to texts_
};

}  // namespace tailrace_python
