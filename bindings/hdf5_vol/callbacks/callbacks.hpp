// Declares the callbacks of the connector, a group for each kind of object, and the connector class that has them
// all.
#pragma once

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

extern const H5VL_wrap_class_t wrap_callbacks;
extern const H5VL_attr_class_t attribute_callbacks;
extern const H5VL_dataset_class_t dataset_callbacks;
extern const H5VL_datatype_class_t datatype_callbacks;
extern const H5VL_file_class_t file_callbacks;
extern const H5VL_group_class_t group_callbacks;
extern const H5VL_link_class_t link_callbacks;
extern const H5VL_object_class_t object_callbacks;
extern const H5VL_introspect_class_t introspect_callbacks;
extern const H5VL_request_class_t request_callbacks;
extern const H5VL_blob_class_t blob_callbacks;
extern const H5VL_token_class_t token_callbacks;

herr_t pass_optional(void* object, H5VL_optional_args_t* arguments, hid_t dxpl, void** request);

const H5VL_class_t& connector_class();

}  // namespace tailrace::hdf5
