// A contiguous dataset that has no place in its file yet. HDF5 gives it one with its first write; by itself it would
// also fill the whole dataset then, on the program's own thread.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

struct Object;

class Unplaced {
 public:
  // `dcpl`: the dataset's creation properties; `type`: its type. None if HDF5 has to make the first write itself,
  // since it fills the dataset with something else than a number.
  static std::optional<Unplaced> look_at(const Host& host, hid_t dcpl, hid_t type);

  // Returns whether element() has to fill what the first write leaves out.
  bool fills() const { return fills_; }
  const std::vector<std::byte>& element() const { return element_; }

  // Has HDF5 give the dataset that `object` is its place; fills nothing of it but the first element. `type` as above,
  // `rank` of its extent. False, with the reason on the error stack, if HDF5 could not.
  bool place(const Object& object, hid_t type, int rank) const;

 private:
  bool fills_ = false;
  std::vector<std::byte> element_;  // the fill value, or 0
};

}  // namespace tailrace::hdf5
