#include "hdf5_vol/data/prefetch_dataset.hpp"

#include <array>

#include "hdf5_vol/data/object.hpp"
#include "hdf5_vol/host/inquiry.hpp"

namespace tailrace::hdf5 {
namespace {

// Bytes that its data have in the file; 0 if that cannot be had.
hsize_t bytes_of(const Object& object) {
  hsize_t bytes = 0;
  H5VL_dataset_get_args_t arguments{};
  arguments.op_type = H5VL_DATASET_GET_STORAGE_SIZE;
  arguments.args.get_storage_size.storage_size = &bytes;
  const herr_t got =
      object.host.H5VLdataset_get(object.under, object.host.native, &arguments, object.host.transfer, nullptr);
  return got < 0 ? 0 : bytes;
}

}  // namespace

std::unique_ptr<PrefetchDataset> PrefetchDataset::look_at(const Object& object) {
  std::unique_ptr<PrefetchDataset> dataset(new PrefetchDataset(object.host));
  // Where processes may look for metadata together, none does by itself.
  if (!object.host.opens_together && dataset->find_place(object)) {
    dataset->file_ = prefetch_file_of(object.host, identity_of(object.host, object.under, H5I_DATASET).fileno);
  }
  return dataset;
}

bool PrefetchDataset::find_place(const Object& object) {
  const haddr_t address = place_of(object.host, object.under);
  const hid_t space =
      address != HADDR_UNDEF ? get(object.host, object.under, H5VL_DATASET_GET_SPACE) : H5I_INVALID_HID;
  if (space < 0) return false;
  const hssize_t elements = host_.H5Sget_simple_extent_npoints(space);
  const int rank = host_.H5Sget_simple_extent_dims(space, nullptr, nullptr);
  place_ = {address, bytes_of(object)};
  if (elements > 0 && rank > 0) {
    element_ = place_.length / static_cast<uint64_t>(elements);
    dimensions_.resize(static_cast<size_t>(rank));
    host_.H5Sget_simple_extent_dims(space, dimensions_.data(), nullptr);
  }
  host_.H5Sclose(space);
  return element_ > 0;
}

std::optional<tailrace_extent> PrefetchDataset::range_of(hid_t file_space) const {
  if (file_space == H5S_ALL) return place_;
  if (file_space <= H5S_PLIST) return {};
  const hssize_t selected = host_.H5Sget_select_npoints(file_space);
  if (selected <= 0) return {};
  if (host_.H5Sget_simple_extent_dims(file_space, nullptr, nullptr) != static_cast<int>(dimensions_.size()))
    return {};
  std::array<hsize_t, H5S_MAX_RANK> from;
  std::array<hsize_t, H5S_MAX_RANK> to;
  if (host_.H5Sget_select_bounds(file_space, from.data(), to.data()) < 0) return {};
  uint64_t first = 0;
  uint64_t last = 0;
  for (size_t i = 0; i < dimensions_.size(); ++i) {
    first = first * dimensions_[i] + from[i];
    last = last * dimensions_[i] + to[i];
  }
  const uint64_t across = last + 1 - first;
  if (static_cast<uint64_t>(selected) < across / 2) return {};
  return {{place_.offset + first * element_, across * element_}};
}

void PrefetchDataset::has_read(hid_t file_space) {
  if (file_ == nullptr) return;
  if (const auto range = range_of(file_space)) file_->has_read(place_, *range);
}

}  // namespace tailrace::hdf5
