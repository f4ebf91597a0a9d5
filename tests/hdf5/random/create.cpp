// Datasets of many kinds: contiguous, in chunks with and without filters, with fill values and without.
#include <algorithm>

#include "program.hpp"

namespace tailrace::test {
namespace {

Shape some_shape(Dice& dice) {
  const uint64_t rank = dice.between(1, 3);
  const uint64_t longest = rank == 1 ? 30000 : rank == 2 ? 170 : 32;
  Shape shape(rank);
  for (hsize_t& length : shape) length = dice.between(1, dice.chance(20) ? 5 : longest);
  return shape;
}

void choose_filters(hid_t properties, Dice& dice) {
  if (dice.chance(50)) CHECK(H5Pset_shuffle(properties) >= 0);
  if (dice.chance(60)) CHECK(H5Pset_deflate(properties, static_cast<unsigned>(dice.below(7))) >= 0);
  if (dice.chance(40)) CHECK(H5Pset_fletcher32(properties) >= 0);
}

// Chunks, most of them with filters; such a dataset may grow. (Not where partial chunks are not filtered: HDF5 1.14.5
// looks then for chunks before there is an index.)
Shape choose_chunks(hid_t properties, Model& model, Dice& dice) {
  Shape most = model.shape;
  for (const hsize_t length : model.shape) model.chunk.push_back(dice.between(1 + length / 4, length));
  CHECK(H5Pset_chunk(properties, static_cast<int>(model.chunk.size()), model.chunk.data()) >= 0);
  if (dice.chance(80)) choose_filters(properties, dice);
  if (dice.chance(10)) {
    CHECK(H5Pset_chunk_opts(properties, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) >= 0);
    return most;
  }
  for (hsize_t& length : most) {
    if (dice.chance(60)) length = dice.chance(70) ? H5S_UNLIMITED : 2 * length;
  }
  return most;
}

// Chooses the contents of unwritten elements: the fill value, or nothing that is known, from the first write on or at
// once.
void choose_fill(hid_t properties, Model& model, Dice& dice) {
  model.fills = !model.chunk.empty();
  if (dice.chance(40)) {
    const MemoryType& type = memory_type_of(model.family, dice.below(100));
    std::vector<std::byte> value(type.size);
    model.fill = static_cast<int>(dice.below(kNumbers));
    type.put(model.fill, value.data());
    CHECK(H5Pset_fill_value(properties, type.id, value.data()) >= 0);
    model.fills = true;
  }
  // With the default, 1.14.5 does not fill a chunk whose first write is partial, and keeps what was there before.
  if (dice.chance(15)) CHECK(H5Pset_fill_time(properties, H5D_FILL_TIME_ALLOC) >= 0);
  if (dice.chance(10)) CHECK(H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY) >= 0);
  CHECK(H5Pget_fill_time(properties, &model.fill_time) >= 0);
  CHECK(H5Pget_alloc_time(properties, &model.alloc_time) >= 0);
  model.clear();
}

}  // namespace

Id create_dataset(hid_t file, Model& model, Dice& dice) {
  const FileType& type = file_types()[dice.below(file_types().size())];
  const Id properties{H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
  const Id links{H5Pcreate(H5P_LINK_CREATE), H5Pclose};
  CHECK(H5Pset_create_intermediate_group(links.get(), 1) >= 0);
  model.family = type.family;
  model.shape = some_shape(dice);
  const Shape most = dice.chance(45) ? choose_chunks(properties.get(), model, dice) : Shape();
  choose_fill(properties.get(), model, dice);
  const Id space = space_of(model.shape, most);
  if (model.name.empty())
    return {H5Dcreate_anon(file, type.id, space.get(), properties.get(), H5P_DEFAULT), H5Dclose};
  return {H5Dcreate2(file, model.name.c_str(), type.id, space.get(), links.get(), properties.get(), H5P_DEFAULT),
          H5Dclose};
}

Id create_like(hid_t file, hid_t other, Model& model) {
  const Id type{H5Dget_type(other), H5Tclose};
  const Id space{H5Dget_space(other), H5Sclose};
  const Id properties{H5Dget_create_plist(other), H5Pclose};
  model.clear();
  return {H5Dcreate2(file, model.name.c_str(), type.get(), space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
          H5Dclose};
}

void compare_properties(hid_t dataset, const Model& model) {
  const Id properties{H5Dget_create_plist(dataset), H5Pclose};
  H5D_fill_time_t fill_time{};
  H5D_alloc_time_t alloc_time{};
  CHECK(H5Pget_fill_time(properties.get(), &fill_time) >= 0 && fill_time == model.fill_time);
  CHECK(H5Pget_alloc_time(properties.get(), &alloc_time) >= 0 && alloc_time == model.alloc_time);
  if (!model.takes_space()) CHECK(H5Dget_storage_size(dataset) == 0);
}

}  // namespace tailrace::test
