#include "testing/hdf5_file.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <map>

#include "filter/pipeline.hpp"
#include "format/openpmd/handle.hpp"

namespace tailrace::impl {
namespace {

// Adds the name below "meshes" or "particles" of a dataset.
herr_t collect_dataset(hid_t group, const char* name, const H5O_info2_t* info, void* names) {
  const std::string path = name;
  const bool variable = info->type == H5O_TYPE_DATASET && path.find("/particlePatches/") == std::string::npos &&
                        H5Aexists_by_name(group, name, "CLASS", H5P_DEFAULT) == 0;
  if (variable) static_cast<std::vector<std::string>*>(names)->push_back(path.substr(path.find('/') + 1));
  return 0;
}

// Returns h5py's type of a boolean, or of a complex number of two parts.
Handle type_of_h5py(const std::string& name) {
  if (name == "bool") {
    Handle type(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
    for (const int8_t value : {int8_t{0}, int8_t{1}})
      H5Tenum_insert(type.id(), value == 0 ? "FALSE" : "TRUE", &value);
    return type;
  }
  const bool narrow = name == "complex64";
  const size_t part = narrow ? 4 : 8;
  Handle type(H5Tcreate(H5T_COMPOUND, 2 * part), H5Tclose);
  H5Tinsert(type.id(), "r", 0, narrow ? H5T_IEEE_F32LE : H5T_IEEE_F64LE);
  H5Tinsert(type.id(), "i", part, narrow ? H5T_IEEE_F32LE : H5T_IEEE_F64LE);
  return type;
}

Handle native_type_called(const std::string& name) {
  if (name == "bool" || name.starts_with("complex")) return type_of_h5py(name);
  const std::map<std::string, hid_t> types = {
      {"float16", H5T_IEEE_F16LE},   {"int8", H5T_NATIVE_INT8},      {"int16", H5T_NATIVE_INT16},
      {"int32", H5T_NATIVE_INT32},   {"int64", H5T_NATIVE_INT64},    {"uint8", H5T_NATIVE_UINT8},
      {"uint16", H5T_NATIVE_UINT16}, {"uint32", H5T_NATIVE_UINT32},  {"uint64", H5T_NATIVE_UINT64},
      {"float32", H5T_NATIVE_FLOAT}, {"float64", H5T_NATIVE_DOUBLE}, {"long_double", H5T_NATIVE_LDOUBLE}};
  return {H5Tcopy(types.at(name)), H5Tclose};
}

// Returns a type of this size. Only sizes matter here: elements stay as they are in the file.
ElementType type_of_size(size_t bytes) {
  switch (bytes) {
    case 1: return ElementType::uint8;
    case 2: return ElementType::int16;
    case 4: return ElementType::uint32;
    case 8: return ElementType::uint64;
    default: return ElementType::long_double;
  }
}

// Returns how a dataset of chunks is filtered, in the file's own terms; nothing if it has no chunks.
std::optional<FilterPlan> plan_of_dataset(hid_t dataset) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  if (H5Pget_layout(creation.id()) != H5D_CHUNKED) return std::nullopt;
  const Handle type(H5Dget_type(dataset), H5Tclose);
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const auto rank = static_cast<size_t>(H5Sget_simple_extent_ndims(space.id()));
  std::vector<hsize_t> block(rank);
  std::vector<hsize_t> chunk(rank);
  H5Sget_simple_extent_dims(space.id(), block.data(), nullptr);
  H5Pget_chunk(creation.id(), static_cast<int>(rank), chunk.data());
  FilterPlan plan;
  plan.type = type_of_size(H5Tget_size(type.id()));
  plan.chunking.block.assign(block.begin(), block.end());
  plan.chunking.shape.assign(chunk.begin(), chunk.end());
  for (size_t axis = 0; axis < rank; ++axis) {
    plan.chunking.counts.push_back((block[axis] + chunk[axis] - 1) / chunk[axis]);
  }
  for (unsigned i = 0; i < static_cast<unsigned>(H5Pget_nfilters(creation.id())); ++i) {
    unsigned flags = 0;
    unsigned values[8] = {};
    size_t count = std::size(values);
    const H5Z_filter_t filter = H5Pget_filter2(creation.id(), i, &flags, &count, values, 0, nullptr, nullptr);
    if (filter == H5Z_FILTER_SHUFFLE) {
      plan.shuffle = true;
    } else {
      plan.compressor = filter == H5Z_FILTER_DEFLATE ? Compressor::deflate : Compressor::zstd;
      plan.level = static_cast<int>(values[0]);
    }
  }
  return plan;
}

// Reads chunk by chunk, since the HDF5 here has no compressors.
bool read_chunks(hid_t dataset, const FilterPlan& plan, std::vector<std::byte>& block) {
  ChunkFilter filter({&plan, 1});
  for (uint64_t index = 0; index < plan.chunking.count(); ++index) {
    const std::vector<uint64_t> corner = plan.chunking.corner(index);
    const std::vector<hsize_t> offset(corner.begin(), corner.end());
    hsize_t bytes = 0;
    uint32_t skipped = 0;
    if (H5Dget_chunk_storage_size(dataset, offset.data(), &bytes) < 0 || bytes == 0) return false;
    std::vector<std::byte> stored(bytes);
    if (H5Dread_chunk(dataset, H5P_DEFAULT, offset.data(), &skipped, stored.data()) < 0) return false;
    if (!filter.restore(plan, stored, skipped, index, block).ok()) return false;
  }
  return true;
}

bool is_same_object(hid_t a, hid_t b) {
  H5O_info2_t of_a{};
  H5O_info2_t of_b{};
  int order = 1;
  const bool ok = H5Oget_info3(a, &of_a, H5O_INFO_BASIC) >= 0 && H5Oget_info3(b, &of_b, H5O_INFO_BASIC) >= 0;
  return ok && H5Otoken_cmp(a, &of_a.token, &of_b.token, &order) >= 0 && order == 0;
}

// One entry of REFERENCE_LIST: a dataset, and its axis, whose coordinates the scale has.
struct User {
  hobj_ref_t dataset{};
  uint32_t axis = 0;
};

bool has_user(hid_t scale, hid_t dataset, size_t axis) {
  const Handle list(H5Aopen(scale, "REFERENCE_LIST", H5P_DEFAULT), H5Aclose);
  const Handle type(H5Tcreate(H5T_COMPOUND, sizeof(User)), H5Tclose);
  H5Tinsert(type.id(), "dataset", offsetof(User, dataset), H5T_STD_REF_OBJ);
  H5Tinsert(type.id(), "dimension", offsetof(User, axis), H5T_NATIVE_UINT32);
  if (!list.valid()) return false;
  const Handle space(H5Aget_space(list.id()), H5Sclose);
  std::vector<User> users(static_cast<size_t>(H5Sget_simple_extent_npoints(space.id())));
  if (H5Aread(list.id(), type.id(), users.data()) < 0) return false;
  return std::any_of(users.begin(), users.end(), [&](const User& user) {
    const Handle of(H5Rdereference2(scale, H5P_DEFAULT, H5R_OBJECT, &user.dataset), H5Oclose);
    return user.axis == axis && of.valid() && is_same_object(of.id(), dataset);
  });
}

// Returns the dimension scale of an axis, if there is exactly one.
Handle scale_of(hid_t dataset, size_t axis) {
  const Handle attribute(H5Aopen(dataset, "DIMENSION_LIST", H5P_DEFAULT), H5Aclose);
  if (!attribute.valid()) return {};
  const Handle type(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  std::vector<hvl_t> lists(static_cast<size_t>(H5Sget_simple_extent_npoints(space.id())));
  if (H5Aread(attribute.id(), type.id(), lists.data()) < 0) return {};
  Handle scale;
  if (axis < lists.size() && lists[axis].len == 1) {
    scale = {H5Rdereference2(dataset, H5P_DEFAULT, H5R_OBJECT, lists[axis].p), H5Oclose};
  }
  H5Treclaim(type.id(), space.id(), H5P_DEFAULT, lists.data());
  return scale;
}

}  // namespace

struct Hdf5File::State {
  Handle file;
  // Returns true if it is a file of the format plain, which has one iteration.
  bool is_plain() const { return H5Aexists(file.id(), "openPMD") == 0; }
  Handle dataset(int64_t iteration, const std::string& variable) const {
    Handle found;
    if (is_plain()) return {H5Dopen2(file.id(), variable.c_str(), H5P_DEFAULT), H5Dclose};
    for (const char* group : {"meshes", "particles"}) {
      const std::string path = fmt::format("/data/{}/{}/{}", iteration, group, variable);
      if (!found.valid()) found = {H5Dopen2(file.id(), path.c_str(), H5P_DEFAULT), H5Dclose};
    }
    return found;
  }
};

Hdf5File::Hdf5File(std::unique_ptr<State> state) : state_(std::move(state)) {}

Hdf5File::~Hdf5File() {
  const LibraryLock lock;
  state_.reset();
}

std::unique_ptr<Hdf5File> Hdf5File::open(const std::string& path) {
  const LibraryLock lock;
  auto state = std::make_unique<State>();
  state->file = {H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
  return std::unique_ptr<Hdf5File>(state->file.valid() ? new Hdf5File(std::move(state)) : nullptr);
}

std::unique_ptr<Hdf5File> Hdf5File::open(std::span<const std::byte> bytes) {
  const LibraryLock lock;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access.id(), size_t{1} << 20, false);
  H5Pset_file_image(access.id(), const_cast<std::byte*>(bytes.data()), bytes.size());
  auto state = std::make_unique<State>();
  state->file = {H5Fopen("image", H5F_ACC_RDONLY, access.id()), H5Fclose};
  return std::unique_ptr<Hdf5File>(state->file.valid() ? new Hdf5File(std::move(state)) : nullptr);
}

std::optional<std::vector<std::byte>> Hdf5File::read(int64_t iteration, const std::string& variable) const {
  const LibraryLock lock;
  const Handle dataset = state_->dataset(iteration, variable);
  if (!dataset.valid()) return std::nullopt;
  const Handle type(H5Dget_type(dataset.id()), H5Tclose);
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  std::vector<std::byte> bytes(static_cast<size_t>(H5Sget_simple_extent_npoints(space.id())) *
                               H5Tget_size(type.id()));
  if (const auto plan = plan_of_dataset(dataset.id())) {
    return read_chunks(dataset.id(), *plan, bytes) ? std::optional(bytes) : std::nullopt;
  }
  if (H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) return std::nullopt;
  return bytes;
}

std::vector<uint64_t> Hdf5File::shape(int64_t iteration, const std::string& variable) const {
  const LibraryLock lock;
  const Handle dataset = state_->dataset(iteration, variable);
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  std::vector<hsize_t> shape(static_cast<size_t>(std::max(0, H5Sget_simple_extent_ndims(space.id()))));
  H5Sget_simple_extent_dims(space.id(), shape.data(), nullptr);
  return {shape.begin(), shape.end()};
}

bool Hdf5File::has(int64_t iteration) const {
  const LibraryLock lock;
  const hid_t file = state_->file.id();
  if (state_->is_plain()) return true;
  return H5Lexists(file, "/data", H5P_DEFAULT) > 0 &&
         H5Lexists(file, fmt::format("/data/{}", iteration).c_str(), H5P_DEFAULT) > 0;
}

std::vector<std::string> Hdf5File::variables(int64_t iteration) const {
  const LibraryLock lock;
  std::vector<std::string> names;
  const std::string path = state_->is_plain() ? "/" : fmt::format("/data/{}", iteration);
  const Handle group(H5Gopen2(state_->file.id(), path.c_str(), H5P_DEFAULT), H5Gclose);
  if (group.valid()) H5Ovisit3(group.id(), H5_INDEX_NAME, H5_ITER_INC, collect_dataset, &names, H5O_INFO_BASIC);
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<double> Hdf5File::number(const std::string& object, const std::string& attribute) const {
  const LibraryLock lock;
  const Handle handle(H5Aopen_by_name(state_->file.id(), object.c_str(), attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                      H5Aclose);
  double value = 0;
  if (!handle.valid() || H5Aread(handle.id(), H5T_NATIVE_DOUBLE, &value) < 0) return std::nullopt;
  return value;
}

std::vector<std::string> Hdf5File::texts(const std::string& object, const std::string& attribute) const {
  const LibraryLock lock;
  const Handle handle(H5Aopen_by_name(state_->file.id(), object.c_str(), attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                      H5Aclose);
  if (!handle.valid()) return {};
  const Handle type(H5Aget_type(handle.id()), H5Tclose);
  const Handle space(H5Aget_space(handle.id()), H5Sclose);
  const size_t width = H5Tget_size(type.id());
  const auto count = static_cast<size_t>(H5Sget_simple_extent_npoints(space.id()));
  std::vector<char> table(width * count + 1);
  if (H5Aread(handle.id(), type.id(), table.data()) < 0) return {};
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i) texts.emplace_back(std::string(&table[i * width], width).c_str());
  return texts;
}

std::vector<uint64_t> Hdf5File::numbers(const std::string& object, const std::string& attribute) const {
  const LibraryLock lock;
  const Handle handle(H5Aopen_by_name(state_->file.id(), object.c_str(), attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                      H5Aclose);
  if (!handle.valid()) return {};
  const Handle space(H5Aget_space(handle.id()), H5Sclose);
  std::vector<uint64_t> numbers(static_cast<size_t>(H5Sget_simple_extent_npoints(space.id())));
  if (H5Aread(handle.id(), H5T_NATIVE_UINT64, numbers.data()) < 0) return {};
  return numbers;
}

std::vector<double> Hdf5File::reals(const std::string& object, const std::string& attribute) const {
  const LibraryLock lock;
  const Handle handle(H5Aopen_by_name(state_->file.id(), object.c_str(), attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                      H5Aclose);
  if (!handle.valid()) return {};
  const Handle space(H5Aget_space(handle.id()), H5Sclose);
  std::vector<double> numbers(static_cast<size_t>(H5Sget_simple_extent_npoints(space.id())));
  if (H5Aread(handle.id(), H5T_NATIVE_DOUBLE, numbers.data()) < 0) return {};
  return numbers;
}

std::optional<std::vector<double>> Hdf5File::coordinates(int64_t iteration, const std::string& variable,
                                                         size_t axis) const {
  const LibraryLock lock;
  const Handle dataset = state_->dataset(iteration, variable);
  if (!dataset.valid()) return std::nullopt;
  const Handle scale = scale_of(dataset.id(), axis);
  if (!scale.valid() || !has_user(scale.id(), dataset.id(), axis)) return std::nullopt;
  const Handle space(H5Dget_space(scale.id()), H5Sclose);
  std::vector<double> values(static_cast<size_t>(H5Sget_simple_extent_npoints(space.id())));
  const herr_t read = H5Dread(scale.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  return read < 0 ? std::nullopt : std::optional(values);
}

bool Hdf5File::has_type(int64_t iteration, const std::string& variable, const std::string& type) const {
  const LibraryLock lock;
  const Handle dataset = state_->dataset(iteration, variable);
  const Handle found(H5Dget_type(dataset.id()), H5Tclose);
  return H5Tequal(found.id(), native_type_called(type).id()) > 0;
}

}  // namespace tailrace::impl
