// array: the bytes of a Python array, and NumPy arrays over bytes. Nothing here copies.
//
// It takes arrays by the buffer protocol, which NumPy arrays of every declared type support (long double too, which
// DLPack does not know). tailrace_expect reports what is wrong with an array where it can.
#pragma once

#include <nanobind/nanobind.h>
#include <tailrace/tailrace.h>

#include <cstdint>
#include <string>

namespace tailrace_python {

// The elements of an array, held for the life of this object. Making, moving and destroying it needs the GIL.
class Buffer {
 public:
  enum class Use { read, write };

  // Raises TypeError if `array` is not an array (a list, a NumPy scalar).
  Buffer(nanobind::handle array, Use use);
  ~Buffer() { release(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return view_.buf; }
  uint64_t bytes() const { return static_cast<uint64_t>(view_.len); }
  // Returns true if the elements lie side by side, last dimension fastest.
  bool contiguous() const;

  // Raises tailrace.Error unless this is a C-contiguous array of the type and shape of `variable`.
  void expect(tailrace_client* client, const char* operation, const std::string& variable) const;

  // Releases the array; data() is then invalid.
  void release();

 private:
  Py_buffer view_{};
  std::string dtype_;  // for messages
};

// Returns the array itself, or what tailrace/_arrays.py makes of it if it is none of NumPy's plain arrays: masked, or
// in the memory of a device. Needs the GIL.
nanobind::object in_host_memory(nanobind::handle array, nanobind::handle fill_value);

// Returns the type's name in NumPy: "float32".
const char* dtype_of(tailrace_type type);

// Returns a new, uninitialised array of the declared type and shape.
nanobind::object empty_array(const tailrace_variable_info& info);

// Returns a writable array over `data`, which keeps `owner` alive.
nanobind::object array_over(void* data, const tailrace_variable_info& info, nanobind::handle owner);

}  // namespace tailrace_python
