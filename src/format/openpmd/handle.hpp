// Handle: owns one HDF5 identifier. hdf5_failure: turns HDF5's error stack into a Status.
//
// The HDF5 in libtailrace is its own copy, one per process, with global state and no internal locks. All code that
// calls it holds LibraryLock, the only mutex of the format, so clients in several threads are safe. The lock is never
// held during transfers of blocks.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "base/status.hpp"

namespace tailrace::impl {

// Holds HDF5's lock, and sets the library up at first use: silent, and without an exit handler.
class LibraryLock {
 public:
  LibraryLock();
  ~LibraryLock();

  // Fails with TAILRACE_UNSUPPORTED in a child of a process that was forked while one of its threads held the lock:
  // that thread's changes are incomplete, and the lock is never released. Call it before the first lock.
  static Status check_usable();

 private:
  std::unique_lock<std::mutex> lock_;
};

constexpr H5Z_filter_t kZstdFilter = 32015;  // registered with The HDF Group

class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
      close_ = other.close_;
    }
    return *this;
  }
  ~Handle() { reset(); }

  bool valid() const { return id_ >= 0; }
  hid_t id() const { return id_; }
  // Closes the identifier now; returns false if HDF5 reports an error.
  bool reset() {
    if (!valid()) return true;
    return close_(std::exchange(id_, H5I_INVALID_HID)) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

// Stores the address of an open object's header. Returns false if HDF5 failed.
bool note_address(hid_t object, uint64_t& address);

// Returns the contents of HDF5's error stack after a call that failed, as a Status of `code` about `file`.
Status hdf5_failure(tailrace_status code, const std::string& operation, const std::string& file);

}  // namespace tailrace::impl
