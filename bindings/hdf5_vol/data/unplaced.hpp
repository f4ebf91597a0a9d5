// Unplaced: a contiguous dataset that has no place in its file yet. HDF5 allocates it with its first write, and would
// then also fill the whole dataset, on the program's own thread.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

struct Object;

class Unplaced {
 public:
  // `dcpl` has the creation properties of the dataset, and `type` is its type. Returns none if HDF5 has to make the
  // first write itself, since the fill value is not a number.
  static std::optional<Unplaced> look_at(const Host& host, hid_t dcpl, hid_t type);

  // Returns true if the caller has to write element() wherever the first write leaves a gap.
  bool fills() const { return fills_; }
  const std::vector<std::byte>& element() const { return element_; }

  // Makes HDF5 allocate the dataset `object`, and fill only its first element. `type` is as above, and `rank` the
  // rank of its extent. Returns false, with the reason on the error stack, if HDF5 fails.
  bool place(const Object& object, hid_t type, int rank) const;

 private:
  bool fills_ = false;
  std::vector<std::byte> element_;  // the fill value, or zeros
};

}  // namespace tailrace::hdf5
