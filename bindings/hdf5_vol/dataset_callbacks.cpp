// Datasets: made so that their data have a place at once, and written past HDF5 where that is possible.
#include <vector>

#include "callbacks.hpp"
#include "dataset.hpp"
#include "object.hpp"

namespace tailrace::hdf5 {
namespace {

// Smaller ones are written by HDF5 itself: carrying them would cost more than their writing does.
constexpr uint64_t kSmallest = 32 << 10;

uint64_t bytes_of(const Host& host, hid_t type, hid_t space) {
  const hssize_t elements = host.H5Sget_simple_extent_npoints(space);
  return elements < 0 ? 0 : static_cast<uint64_t>(elements) * host.H5Tget_size(type);
}

// Whether its place in the file can be given at once without anybody noticing: nothing is filled in then that HDF5
// would not fill in, and the program has not asked for another time.
bool can_be_early(const Host& host, hid_t dcpl) {
  H5D_alloc_time_t time{};
  H5D_fill_value_t fill{};
  return host.H5Pget_layout(dcpl) == H5D_CONTIGUOUS && host.H5Pget_external_count(dcpl) == 0 &&
         host.H5Pget_alloc_time(dcpl, &time) >= 0 && time == H5D_ALLOC_TIME_LATE &&
         host.H5Pfill_value_defined(dcpl, &fill) >= 0 && fill != H5D_FILL_VALUE_USER_DEFINED;
}

void* dataset_create(void* pointer, const H5VL_loc_params_t* where, const char* name, hid_t lcpl, hid_t type,
                     hid_t space, hid_t dcpl, hid_t dapl, hid_t dxpl, void**) {
  Object& object = object_at(pointer);
  Host& host = object.host;
  hid_t early = H5I_INVALID_HID;
  if (bytes_of(host, type, space) >= kSmallest && can_be_early(host, dcpl)) {
    early = host.H5Pcopy(dcpl);
    if (early >= 0) host.H5Pset_alloc_time(early, H5D_ALLOC_TIME_EARLY);
  }
  void* const under = host.H5VLdataset_create(object.under, where, host.native, name, lcpl, type, space,
                                              early >= 0 ? early : dcpl, dapl, dxpl, nullptr);
  if (early >= 0) host.H5Pclose(early);
  return wrap(host, under);
}

void* dataset_open(void* pointer, const H5VL_loc_params_t* where, const char* name, hid_t dapl, hid_t dxpl, void**) {
  Object& object = object_at(pointer);
  Host& host = object.host;
  return wrap(host, host.H5VLdataset_open(object.under, where, host.native, name, dapl, dxpl, nullptr));
}

Dataset& dataset_of(Object& object) {
  if (object.dataset == nullptr) object.dataset = Dataset::look_at(object);
  return *object.dataset;
}

herr_t dataset_read(size_t count, void* pointers[], hid_t memory_types[], hid_t memory_spaces[], hid_t file_spaces[],
                    hid_t dxpl, void* data[], void**) {
  for (size_t i = 0; i < count; ++i) {
    Object& object = object_at(pointers[i]);
    const Host& host = object.host;
    Dataset& dataset = dataset_of(object);
    const auto outcome = dataset.read(memory_types[i], memory_spaces[i], file_spaces[i], dxpl, data[i]);
    if (!dataset.tell_failures() || outcome == Dataset::Outcome::failed) return -1;
    if (outcome == Dataset::Outcome::pass &&
        host.H5VLdataset_read(1, &object.under, host.native, &memory_types[i], &memory_spaces[i], &file_spaces[i],
                              dxpl, &data[i], nullptr) < 0) {
      return -1;
    }
  }
  return 0;
}

herr_t dataset_write(size_t count, void* pointers[], hid_t memory_types[], hid_t memory_spaces[], hid_t file_spaces[],
                     hid_t dxpl, const void* data[], void**) {
  for (size_t i = 0; i < count; ++i) {
    Object& object = object_at(pointers[i]);
    const Host& host = object.host;
    Dataset& dataset = dataset_of(object);
    const auto outcome = dataset.write(memory_types[i], memory_spaces[i], file_spaces[i], dxpl, data[i]);
    if (!dataset.tell_failures() || outcome == Dataset::Outcome::failed) return -1;
    if (outcome == Dataset::Outcome::pass &&
        host.H5VLdataset_write(1, &object.under, host.native, &memory_types[i], &memory_spaces[i], &file_spaces[i],
                               dxpl, &data[i], nullptr) < 0) {
      return -1;
    }
  }
  return 0;
}

herr_t dataset_get(void* pointer, H5VL_dataset_get_args_t* arguments, hid_t dxpl, void**) {
  const Object& object = object_at(pointer);
  return object.host.H5VLdataset_get(object.under, object.host.native, arguments, dxpl, nullptr);
}

// What is on its way is waited for, if there is any.
bool settle(const Object& object) {
  if (object.dataset == nullptr || object.dataset->file() == nullptr) return true;
  object.dataset->file()->drain();
  return object.dataset->tell_failures();
}

herr_t dataset_specific(void* pointer, H5VL_dataset_specific_args_t* arguments, hid_t dxpl, void**) {
  const Object& object = object_at(pointer);
  const bool whole = settle(object);
  const herr_t done = object.host.H5VLdataset_specific(object.under, object.host.native, arguments, dxpl, nullptr);
  return whole ? done : -1;
}

herr_t dataset_optional(void* pointer, H5VL_optional_args_t* arguments, hid_t dxpl, void**) {
  const Object& object = object_at(pointer);
  return object.host.H5VLdataset_optional(object.under, object.host.native, arguments, dxpl, nullptr);
}

// The last object of a file that the program has closed closes the file: then all must be there.
herr_t dataset_close(void* pointer, hid_t dxpl, void**) {
  Object& object = object_at(pointer);
  if (object.under == nullptr) {
    unwrap(pointer);
    return 0;
  }
  const Host& host = object.host;
  File* const file = object.dataset != nullptr ? object.dataset->file() : nullptr;
  const bool whole = file == nullptr || file->opens > 0 || settle(object);
  const herr_t closed = host.H5VLdataset_close(object.under, host.native, dxpl, nullptr);
  if (closed < 0) return closed;
  object.under = nullptr;
  object.dataset.reset();
  if (!whole) return -1;
  unwrap(pointer);
  return 0;
}

}  // namespace

const H5VL_dataset_class_t dataset_callbacks = {dataset_create, dataset_open,     dataset_read,     dataset_write,
                                                dataset_get,    dataset_specific, dataset_optional, dataset_close};

}  // namespace tailrace::hdf5
