// CHECK for conditions that must hold, and identifiers of HDF5 that are closed at their end.
#pragma once

#include <hdf5.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

// Ends the process, whose parent knows the seed.
#define CHECK(condition)                                                             \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      H5Eprint2(H5E_DEFAULT, stderr);                                                \
      _exit(1);                                                                      \
    }                                                                                \
  } while (false)

namespace tailrace::test {

class Id {
 public:
  Id() = default;
  Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) { CHECK(id >= 0); }
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Id& operator=(Id&& other) noexcept {
    reset();
    id_ = std::exchange(other.id_, H5I_INVALID_HID);
    close_ = other.close_;
    return *this;
  }
  ~Id() { reset(); }

  void reset() {
    if (*this) CHECK(close_(std::exchange(id_, H5I_INVALID_HID)) >= 0);
  }
  // Releases the identifier: the caller closes it, or leaves it to HDF5.
  hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }
  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  herr_t (*close_)(hid_t) = nullptr;
};

}  // namespace tailrace::test
