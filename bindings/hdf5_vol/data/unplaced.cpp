#include "hdf5_vol/data/unplaced.hpp"

#include <algorithm>

#include "hdf5_vol/data/object.hpp"

namespace tailrace::hdf5 {

std::optional<Unplaced> Unplaced::look_at(const Host& host, hid_t dcpl, hid_t type) {
  H5D_fill_value_t value{};
  H5D_fill_time_t time{};
  if (host.H5Pfill_value_defined(dcpl, &value) < 0 || host.H5Pget_fill_time(dcpl, &time) < 0) return std::nullopt;
  Unplaced unplaced;
  unplaced.element_.resize(host.H5Tget_size(type));
  const bool is_set = value == H5D_FILL_VALUE_USER_DEFINED;
  unplaced.fills_ = time == H5D_FILL_TIME_ALLOC || (time == H5D_FILL_TIME_IFSET && is_set);
  if (!unplaced.fills_ || !is_set) return unplaced;
  if (!host.is_number(type)) return std::nullopt;
  if (host.H5Pget_fill_value(dcpl, type, unplaced.element_.data()) < 0) return std::nullopt;
  return unplaced;
}

// HDF5 does not fill a dataset that is written as a whole, and takes a write for such if it has as many elements as
// the space that it is selected in. That space has one here; of a space in the file HDF5 promises to use only the
// selection. (A version that looked at the dataset instead would fill it, too: slowly, and nothing else.) In a state
// of its own, so that nothing of this transfer stays for the call that HDF5 is in the middle of.
bool Unplaced::place(const Object& object, hid_t type, int rank) const {
  const Host& host = object.host;
  hsize_t one[H5S_MAX_RANK];
  std::fill(one, one + H5S_MAX_RANK, hsize_t{1});
  hid_t space = host.H5Screate_simple(rank, one, nullptr);
  if (space < 0) return false;
  hid_t stack = H5I_INVALID_HID;
  bool written = false;
  {
    const LibraryState state(host);
    void* under = object.under;
    const void* element = element_.data();
    written =
        host.H5VLdataset_write(1, &under, host.native, &type, &space, &space, host.transfer, &element, nullptr) >= 0;
    if (!written) stack = host.H5Eget_current_stack();  // what follows would clear it
  }
  host.H5Sclose(space);
  if (stack >= 0) host.H5Eset_current_stack(stack);
  return written;
}

}  // namespace tailrace::hdf5
