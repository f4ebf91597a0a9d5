// array: the bytes of a Python array, and NumPy arrays over bytes. No copy is ever made here.
//
// An array is taken by the buffer protocol, which NumPy arrays of every declared type speak (long double too, which
// DLPack does not know). What is wrong with an array is said by tailrace_expect wherever it can say it.
#pragma once

#include <nanobind/nanobind.h>
#include <tailrace/tailrace.h>

#include <cstdint>
#include <string>

namespace tailrace_python {

// The elements of an array, held for as long as this object lives. Needs the GIL to make, move and destroy.
class Buffer {
 public:
  enum class Use { read, write };

  // Raises TypeError for what is not an array (lists, NumPy scalars).
  Buffer(nanobind::handle array, Use use);
  ~Buffer() { release(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return view_.buf; }
  uint64_t bytes() const { return static_cast<uint64_t>(view_.len); }
  // Returns true if the elements lie one after the other, last dimension fastest.
  bool contiguous() const;

  // Raises tailrace.Error unless this is a C-contiguous array of the type and shape that `variable` has.
  void expect(tailrace_client* client, const char* operation, const std::string& variable) const;

  // Lets go of the array; data() is gone.
  void release();

 private:
  Py_buffer view_{};
  std::string dtype_;  // for messages
};

// "float32", as NumPy spells it.
const char* dtype_of(tailrace_type type);

// A new array of the declared type and shape, not filled.
nanobind::object empty_array(const tailrace_variable_info& info);

// A writable array over `data`, which keeps `owner` alive.
nanobind::object array_over(void* data, const tailrace_variable_info& info, nanobind::handle owner);

}  // namespace tailrace_python
