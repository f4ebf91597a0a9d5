#include "hdf5_vol/host/inquiry.hpp"

namespace tailrace::hdf5 {

H5O_info2_t identity_of(const Host& host, void* under, H5I_type_t type) {
  return identity_of(host, under, H5VL_loc_params_t{type, H5VL_OBJECT_BY_SELF, {}});
}

H5O_info2_t identity_of(const Host& host, void* under, const H5VL_loc_params_t& where) {
  H5O_info2_t info{};
  H5VL_object_get_args_t arguments{};
  arguments.op_type = H5VL_OBJECT_GET_INFO;
  arguments.args.get_info.fields = H5O_INFO_BASIC;
  arguments.args.get_info.oinfo = &info;
  if (host.H5VLobject_get(under, &where, host.native, &arguments, host.transfer, nullptr) < 0) {
    return {};
  }
  return info;
}

hid_t get(const Host& host, void* under, H5VL_dataset_get_t what) {
  H5VL_dataset_get_args_t arguments{};
  arguments.op_type = what;
  arguments.args.get_type.type_id = H5I_INVALID_HID;  // the members of the union share their place
  if (host.H5VLdataset_get(under, host.native, &arguments, host.transfer, nullptr) < 0) return H5I_INVALID_HID;
  return arguments.args.get_type.type_id;
}

// In a file with a user block, HDF5 adds the block's length even to an undefined address, which becomes the length
// less one. So this asks for the status first.
haddr_t place_of(const Host& host, void* under) {
  H5D_space_status_t status = H5D_SPACE_STATUS_NOT_ALLOCATED;
  H5VL_dataset_get_args_t asked{};
  asked.op_type = H5VL_DATASET_GET_SPACE_STATUS;
  asked.args.get_space_status.status = &status;
  const bool known = host.H5VLdataset_get(under, host.native, &asked, host.transfer, nullptr) >= 0;
  if (!known || status == H5D_SPACE_STATUS_NOT_ALLOCATED) return HADDR_UNDEF;
  haddr_t address = HADDR_UNDEF;
  H5VL_native_dataset_optional_args_t below{};
  below.get_offset.offset = &address;
  H5VL_optional_args_t arguments{H5VL_NATIVE_DATASET_GET_OFFSET, &below};
  const herr_t got = host.H5VLdataset_optional(under, host.native, &arguments, host.transfer, nullptr);
  return got < 0 ? HADDR_UNDEF : address;
}

}  // namespace tailrace::hdf5
