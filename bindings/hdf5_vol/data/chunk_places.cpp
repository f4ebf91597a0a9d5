#include "hdf5_vol/data/chunk_places.hpp"

namespace tailrace::hdf5 {
namespace {

struct Told {
  std::map<std::vector<hsize_t>, haddr_t>& places;
  size_t rank;
};

int take(const hsize_t* at, unsigned, haddr_t place, hsize_t, void* pointer) {
  const Told& told = *static_cast<Told*>(pointer);
  told.places[{at, at + told.rank}] = place;
  return 0;
}

}  // namespace

bool ChunkPlaces::can_be_told(const Host& host, hid_t space) {
  hsize_t extent[H5S_MAX_RANK];
  hsize_t most[H5S_MAX_RANK];
  const int rank = host.H5Sget_simple_extent_dims(space, extent, most);
  for (int axis = 1; axis < rank; ++axis) {
    if (extent[axis] != most[axis]) return false;
  }
  return rank > 0;
}

void ChunkPlaces::ask(const Host& host, void* under, size_t rank) {
  places_.clear();
  H5VL_dataset_get_args_t asked{};
  asked.op_type = H5VL_DATASET_GET_SPACE;
  if (host.H5VLdataset_get(under, host.native, &asked, host.transfer, nullptr) < 0) return;
  const bool can_be = can_be_told(host, asked.args.get_space.space_id);
  host.H5Sclose(asked.args.get_space.space_id);
  if (!can_be) return;
  Told told{places_, rank};
  H5VL_native_dataset_optional_args_t below{};
  below.chunk_iter.op = take;
  below.chunk_iter.op_data = &told;
  H5VL_optional_args_t arguments{H5VL_NATIVE_DATASET_CHUNK_ITER, &below};
  if (host.H5VLdataset_optional(under, host.native, &arguments, host.transfer, nullptr) < 0) places_.clear();
}

haddr_t ChunkPlaces::find(const Host& host, void* under, uint64_t resized, const std::vector<hsize_t>& at) {
  if (!known_ || resized != resized_) {
    ask(host, under, at.size());
    known_ = true;
    resized_ = resized;
  }
  const auto found = places_.find(at);
  return found != places_.end() ? found->second : HADDR_UNDEF;
}

}  // namespace tailrace::hdf5
