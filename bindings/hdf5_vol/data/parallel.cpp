#include "hdf5_vol/data/parallel.hpp"

#include "hdf5_vol/data/dataset.hpp"
#include "hdf5_vol/data/object.hpp"
#include "hdf5_vol/files/files.hpp"

namespace tailrace::hdf5 {

void drain_before_mpi(const Host& host) {
  if (File::any_parallel()) drain_all(host);
}

AloneTransfer::AloneTransfer(const Host& host, hid_t like) : host_(host), transfer_(host.H5Pcopy(like)) {
  host_.set_mpio_transfer(transfer_, H5FD_MPIO_INDEPENDENT);
  state_.emplace(host_);
}

AloneTransfer::~AloneTransfer() {
  state_.reset();
  if (transfer_ >= 0) host_.close_list(transfer_);
}

void drain_everywhere(const Object& object, H5I_type_t type) {
  drain_all(object.host);
  const std::shared_ptr<File> file = File::any_parallel() ? Dataset::file_around(object, type) : nullptr;
  if (file == nullptr || !file->is_parallel()) return;
  // The only call of HDF5 that is sure to make each process wait for all.
  const AloneTransfer alone(object.host, object.host.transfer);
  H5VL_file_specific_args_t flush{};
  flush.op_type = H5VL_FILE_FLUSH;
  flush.args.flush.obj_type = type;
  flush.args.flush.scope = H5F_SCOPE_LOCAL;
  object.host.H5VLfile_specific(object.under, object.host.native, &flush, object.host.transfer, nullptr);
}

}  // namespace tailrace::hdf5
