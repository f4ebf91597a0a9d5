#include "hdf5_vol/host/transfer_list.hpp"

#include <cstdint>

namespace tailrace::hdf5 {
namespace {

// The entries in which HDF5 reports a transfer. HDF5 has no functions to set them, but each is a 32-bit number with a
// name. Not every version has all of them, and only parallel HDF5 has the last four.
enum Said { selection_mode, selection_cause, collective_mode, chunk_mode, own_cause, common_cause };
constexpr const char* kNames[] = {
    "actual_selection_io_mode", "no_selection_io_cause",     "actual_io_mode",
    "actual_chunk_opt_mode",    "local_no_collective_cause", "global_no_collective_cause"};

void say(const Host& host, hid_t transfer, Said what, uint32_t value) {
  if (host.H5Pexist(transfer, kNames[what]) > 0) host.H5Pset(transfer, kNames[what], &value);
}

// Returns why HDF5 does not use a driver's own selection I/O; 0 if it does, as in files of several processes for data
// that all move `together`.
uint32_t cause_of(H5D_selection_io_mode_t asked, Carried what, bool parallel, bool together) {
  if (asked == H5D_SELECTION_IO_MODE_OFF) return H5D_SEL_IO_DISABLE_BY_API;
  if (what == Carried::chunks) return H5D_SEL_IO_DATASET_FILTER;
  if (together) return 0;
  // The driver of other files has no selection I/O, which HDF5 finds out when there is something to move.
  if (asked == H5D_SELECTION_IO_MODE_DEFAULT && !parallel) return H5D_SEL_IO_DEFAULT_OFF;
  return what == Carried::nothing ? 0 : H5D_SEL_IO_NO_VECTOR_OR_SELECTION_IO_CB;
}

}  // namespace

bool is_usual_transfer(const Host& host, hid_t transfer) {
  if (transfer == host.transfer || host.H5Pequal(transfer, host.transfer) > 0) return true;
  const hid_t asks = host.H5Pcopy(transfer);
  if (asks < 0) return false;
  for (const char* const name : kNames) {
    if (host.H5Pexist(asks, name) > 0) host.H5Pcopy_prop(asks, host.transfer, name);
  }
  const bool usual = host.H5Pequal(asks, host.transfer) > 0;
  host.close_list(asks);
  return usual;
}

void describe_transfer(const Host& host, hid_t transfer, Carried what, bool parallel) {
  if (transfer == host.transfer || host.get_selection_io == nullptr) return;
  H5D_selection_io_mode_t asked = H5D_SELECTION_IO_MODE_DEFAULT;
  if (host.get_selection_io(transfer, &asked) < 0) return;
  const bool together = parallel && is_collective(host, transfer);
  const uint32_t cause = cause_of(asked, what, parallel, together);
  const uint32_t mode = what != Carried::data ? 0 : cause == 0 ? H5D_SELECTION_IO : H5D_SCALAR_IO;
  say(host, transfer, selection_mode, mode);
  say(host, transfer, selection_cause, cause);
  say(host, transfer, collective_mode, together ? H5D_MPIO_CONTIGUOUS_COLLECTIVE : H5D_MPIO_NO_COLLECTIVE);
  say(host, transfer, chunk_mode, together && cause == 0 ? H5D_MPIO_LINK_CHUNK : H5D_MPIO_NO_CHUNK_OPTIMIZATION);
  const uint32_t alone = parallel && !together ? H5D_MPIO_SET_INDEPENDENT : 0;
  say(host, transfer, own_cause, alone);
  say(host, transfer, common_cause, alone);
}

bool is_collective(const Host& host, hid_t transfer) {
  H5FD_mpio_xfer_t mode = H5FD_MPIO_INDEPENDENT;
  return host.is_parallel() && host.get_mpio_transfer(transfer, &mode) >= 0 && mode == H5FD_MPIO_COLLECTIVE;
}

}  // namespace tailrace::hdf5
