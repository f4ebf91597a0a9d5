#include "format/hdf5/iteration_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "format/hdf5/attributes.hpp"

namespace tailrace::impl {
namespace {

constexpr hsize_t kAlignment = 4096;  // of raw data in the file: the page, for transfers past the cache
constexpr hsize_t kMetadataBlock = hsize_t{32} << 10;  // metadata are kept together in blocks of this size
constexpr uint64_t kSuperblock = 48;                   // bytes of a version 2 superblock, at offset 0

hid_t native_type(ElementType type) {
  switch (type) {
    case ElementType::int8: return H5T_NATIVE_INT8;
    case ElementType::int16: return H5T_NATIVE_INT16;
    case ElementType::int32: return H5T_NATIVE_INT32;
    case ElementType::int64: return H5T_NATIVE_INT64;
    case ElementType::uint8: return H5T_NATIVE_UINT8;
    case ElementType::uint16: return H5T_NATIVE_UINT16;
    case ElementType::uint32: return H5T_NATIVE_UINT32;
    case ElementType::uint64: return H5T_NATIVE_UINT64;
    case ElementType::float32: return H5T_NATIVE_FLOAT;
    case ElementType::float64: return H5T_NATIVE_DOUBLE;
    case ElementType::long_double: return H5T_NATIVE_LDOUBLE;
  }
  TAILRACE_ASSERT(false);
}

Handle create_group(hid_t parent, const std::string& name) {
  return {H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose};
}

Handle access_properties(FileImage* image) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  const bool ok = use_image(access.id(), image) &&
                  H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0 &&
                  H5Pset_alignment(access.id(), kAlignment, kAlignment) >= 0 &&
                  H5Pset_meta_block_size(access.id(), kMetadataBlock) >= 0;
  if (!ok) access.reset();
  return access;
}

Handle creation_properties() {
  Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  // Attributes of the root stay in its header: compact, and quick to read.
  if (H5Pset_attr_phase_change(creation.id(), 64, 32) < 0) creation.reset();
  return creation;
}

// Raw data are allocated when the dataset is created, so that their address is known, and never filled.
Handle dataset_properties() {
  Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const bool ok = H5Pset_layout(creation.id(), H5D_CONTIGUOUS) >= 0 &&
                  H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY) >= 0 &&
                  H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER) >= 0 &&
                  H5Pset_attr_phase_change(creation.id(), 64, 32) >= 0 &&
                  H5Pset_obj_track_times(creation.id(), false) >= 0;
  if (!ok) creation.reset();
  return creation;
}

}  // namespace

Result<std::unique_ptr<IterationImage>> IterationImage::create(const Config& config, const Provenance& provenance,
                                                               int64_t iteration, const std::string& path) {
  const LibraryLock lock;
  std::unique_ptr<IterationImage> image(new IterationImage(config, iteration, path));
  if (Status status = image->begin(provenance); !status.ok()) return status;
  return image;
}

IterationImage::IterationImage(const Config& config, int64_t iteration, std::string path)
    : config_(config), iteration_(iteration), path_(std::move(path)), extents_(config.variables.size()) {}

IterationImage::~IterationImage() {
  const LibraryLock lock;
  meshes_.reset();
  group_.reset();
  file_.reset();
}

Status IterationImage::begin(const Provenance& provenance) {
  const Handle access = access_properties(&image_);
  const Handle creation = creation_properties();
  if (!access.valid() || !creation.valid()) return failed("create");
  file_ = Handle(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose);
  if (!file_.valid() || !describe_root(provenance)) return failed("create");
  const Handle data = create_group(file_.id(), "data");
  if (!data.valid()) return failed("create");
  group_ = create_group(data.id(), std::to_string(iteration_));
  if (!group_.valid() || !describe_iteration()) return failed("create");
  meshes_ = create_group(group_.id(), "meshes");
  if (!meshes_.valid()) return failed("create");
  return {};
}

bool IterationImage::describe_root(const Provenance& provenance) {
  const hid_t root = file_.id();
  return put_text(root, "openPMD", "1.1.0") && put_uint32(root, "openPMDextension", 0) &&
         put_text(root, "basePath", "/data/%T/") && put_text(root, "meshesPath", "meshes/") &&
         put_text(root, "iterationEncoding", "fileBased") && put_text(root, "iterationFormat", provenance.series) &&
         put_text(root, "software", "tailrace") && put_text(root, "softwareVersion", TAILRACE_VERSION_STRING) &&
         put_text(root, "date", provenance.date) && put_text(root, "machine", provenance.machine) &&
         put_int64(root, "tailraceClient", provenance.client) &&
         put_text(root, "tailraceDurability", name_of(config_.storage.durability)) &&
         put_text(root, "tailraceConfiguration", config_.source);
}

bool IterationImage::describe_iteration() {
  const hid_t group = group_.id();
  return put_double(group, "time", static_cast<double>(iteration_) * config_.time.dt) &&
         put_double(group, "dt", config_.time.dt) && put_double(group, "timeUnitSI", config_.time.unit.factor);
}

bool IterationImage::describe_mesh(hid_t dataset, const Variable& variable, const Layout& layout) {
  const size_t rank = layout.shape.size();
  std::vector<double> corner(rank);
  for (size_t axis = 0; axis < rank; ++axis) {
    corner[axis] = layout.origin[axis] + static_cast<double>(layout.offset[axis]) * layout.spacing[axis];
  }
  const std::vector<double> position(rank, 0.0);
  bool ok = put_text(dataset, "geometry", "cartesian") && put_text(dataset, "dataOrder", "C") &&
            put_texts(dataset, "axisLabels", layout.axes) && put_doubles(dataset, "gridSpacing", layout.spacing) &&
            put_doubles(dataset, "gridGlobalOffset", corner) &&
            put_double(dataset, "gridUnitSI", layout.grid_unit.factor) && put_double(dataset, "timeOffset", 0.0) &&
            put_doubles(dataset, "unitDimension", variable.unit.dimension) &&
            put_double(dataset, "unitSI", variable.unit.factor) && put_doubles(dataset, "position", position) &&
            put_text(dataset, "unit", variable.unit.symbol) &&
            put_uint64s(dataset, "tailraceGlobalShape", layout.global_shape) &&
            put_uint64s(dataset, "tailraceOffset", layout.offset);
  if (ok && !variable.description.empty()) ok = put_text(dataset, "description", variable.description);
  return ok;
}

Result<Extent> IterationImage::place(uint32_t index) {
  TAILRACE_REQUIRE(index < extents_.size());
  if (extents_[index].length > 0) return extents_[index];
  const LibraryLock lock;
  const Variable& variable = config_.variables[index];
  const Layout& layout = config_.layout_of(variable);
  const std::vector<hsize_t> dimensions(layout.shape.begin(), layout.shape.end());
  const Handle space(H5Screate_simple(static_cast<int>(dimensions.size()), dimensions.data(), nullptr), H5Sclose);
  const Handle creation = dataset_properties();
  if (!space.valid() || !creation.valid()) return failed("create dataset");
  const Handle dataset(H5Dcreate2(meshes_.id(), variable.name.c_str(), native_type(layout.type), space.id(),
                                  H5P_DEFAULT, creation.id(), H5P_DEFAULT),
                       H5Dclose);
  if (!dataset.valid() || !describe_mesh(dataset.id(), variable, layout)) return failed("create dataset");
  const haddr_t address = H5Dget_offset(dataset.id());
  if (address == HADDR_UNDEF) return failed("create dataset");
  extents_[index] = {address, layout.bytes()};
  return extents_[index];
}

Result<FileEnding> IterationImage::finish() {
  const LibraryLock lock;
  if (!events_.empty() && !put_texts(group_.id(), "tailraceSignals", events_)) return failed("finish");
  meshes_.reset();
  group_.reset();
  if (!file_.reset()) return failed("finish");
  FileEnding ending;
  ending.body = image_.pieces();
  if (ending.body.empty() || ending.body[0].offset != 0 || ending.body[0].bytes.size() < kSuperblock) {
    return Status(TAILRACE_INTERNAL, fmt::format("finish '{}': HDF5 wrote no superblock at the start", path_));
  }
  // The superblock goes last; what follows it in the same run goes with the rest.
  std::vector<std::byte>& first = ending.body[0].bytes;
  ending.head.bytes.assign(first.begin(), first.begin() + kSuperblock);
  first.erase(first.begin(), first.begin() + kSuperblock);
  ending.body[0].offset = kSuperblock;
  if (first.empty()) ending.body.erase(ending.body.begin());
  // HDF5 takes a file that ends before its end of allocation for a truncated one.
  uint64_t end = image_.written_end();
  for (const Extent& extent : extents_) end = std::max(end, extent.end());
  if (end < image_.end_of_allocation) ending.body.push_back({image_.end_of_allocation - 1, {std::byte{0}}});
  return ending;
}

Status IterationImage::failed(const char* operation) const {
  return hdf5_failure(TAILRACE_INTERNAL, operation, path_);
}

}  // namespace tailrace::impl
