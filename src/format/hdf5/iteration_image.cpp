#include "format/hdf5/iteration_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "format/hdf5/attributes.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kMostBlockNumbers = 7500;  // 64 KiB of attribute, less its header

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

Handle dataset_properties() {
  Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const bool ok = H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER) >= 0 &&
                  H5Pset_attr_phase_change(creation.id(), 64, 32) >= 0 &&
                  H5Pset_obj_track_times(creation.id(), false) >= 0;
  if (!ok) creation.reset();
  return creation;
}

// Raw data are allocated when the dataset is created, so that their address is known.
Handle contiguous_properties() {
  Handle creation = dataset_properties();
  const bool ok = creation.valid() && H5Pset_layout(creation.id(), H5D_CONTIGUOUS) >= 0 &&
                  H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY) >= 0;
  if (!ok) creation.reset();
  return creation;
}

// Describes the compressor. This HDF5 has neither, and must not look for plugins: so both are optional to it, which
// also is what they are, chunk by chunk.
bool set_compressor(hid_t creation, Compressor compressor, int level) {
  const unsigned value = static_cast<unsigned>(level);
  switch (compressor) {
    case Compressor::none: return true;
    case Compressor::deflate: return H5Pset_filter(creation, H5Z_FILTER_DEFLATE, H5Z_FLAG_OPTIONAL, 1, &value) >= 0;
    case Compressor::zstd: return H5Pset_filter(creation, kZstdFilter, H5Z_FLAG_OPTIONAL, 1, &value) >= 0;
  }
  TAILRACE_ASSERT(false);
}

// Chunks are allocated when they are written, with the size that they then have.
Handle chunked_properties(const FilterPlan& plan) {
  Handle creation = dataset_properties();
  const std::vector<hsize_t> shape(plan.chunking.shape.begin(), plan.chunking.shape.end());
  const bool ok = creation.valid() &&
                  H5Pset_chunk(creation.id(), static_cast<int>(shape.size()), shape.data()) >= 0 &&
                  H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_INCR) >= 0 &&
                  (!plan.shuffle || H5Pset_shuffle(creation.id()) >= 0) &&
                  set_compressor(creation.id(), plan.compressor, plan.level);
  if (!ok) creation.reset();
  return creation;
}

hid_t stored_type(const FilterPlan& plan) {
  if (plan.precision == Precision::full) return native_type(plan.type);
  return std::endian::native == std::endian::little ? H5T_IEEE_F16LE : H5T_IEEE_F16BE;
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
    : config_(config), iteration_(iteration), path_(std::move(path)) {}

IterationImage::~IterationImage() {
  const LibraryLock lock;
  contiguous_.clear();
  chunked_.clear();
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
         (provenance.run.empty() || put_text(root, "tailraceRun", provenance.run)) &&
         (!provenance.client || put_int64(root, "tailraceClient", *provenance.client)) &&
         (!provenance.node || put_int64(root, "tailraceNode", *provenance.node)) &&
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

Result<std::vector<Extent>> IterationImage::place(const Variable& variable, const Layout& block, const StoredAs& as) {
  const LibraryLock lock;
  if (variable.filtered()) {  // it has no chunks, but a dataset as its other blocks have
    TAILRACE_REQUIRE(block.empty());
    const Result<Chunked*> found = chunked(variable, as);
    return found.ok() ? Result<std::vector<Extent>>(std::vector<Extent>()) : found.status();
  }
  Result<Contiguous*> found = contiguous(variable, as);
  if (!found.ok()) return found.status();
  Contiguous& to = *found.value();
  std::vector<Extent> extents = extents_of(block, as, to.extent.offset);
  if (!extents.empty()) to.reached = std::max(to.reached, extents.back().end() - to.extent.offset);
  if (as.shared && !block.empty()) {
    std::vector<uint64_t> where = place_of(block);
    if (std::find(to.blocks.begin(), to.blocks.end(), where) == to.blocks.end())
      to.blocks.push_back(std::move(where));
  }
  return extents;
}

// One dataset has one shape, and one place in the whole array.
Status IterationImage::check_place(const StoredAs& as, const Layout& before) {
  const Layout& now = as.layout;
  if (now.type == before.type && now.shape == before.shape && now.global_shape == before.global_shape &&
      now.offset == before.offset) {
    return {};
  }
  const auto text = [](const Layout& of) {
    return fmt::format("shape [{}] of {} at [{}] of [{}]", fmt::join(of.shape, ", "), name_of(of.type),
                       fmt::join(of.offset, ", "), fmt::join(of.global_shape, ", "));
  };
  return Status(TAILRACE_WRONG_SHAPE, fmt::format("{} '{}': found {}, expected {} as the block before",
                                                  as.shared ? "the clients of a node do not agree on"
                                                            : "two blocks of one iteration do not agree on",
                                                  as.name, text(now), text(before)));
}

Result<IterationImage::Contiguous*> IterationImage::contiguous(const Variable& variable, const StoredAs& as) {
  const auto found = contiguous_.find(as.name);
  if (found != contiguous_.end()) {
    if (Status status = check_place(as, found->second.layout); !status.ok()) return status;
    return &found->second;
  }
  Contiguous made;
  made.layout = as.layout;
  made.shared = as.shared;
  made.dataset = create_dataset(variable, as, native_type(as.layout.type), contiguous_properties());
  if (!made.dataset.valid()) return failed("create dataset");
  if (!as.layout.empty()) {
    const haddr_t address = H5Dget_offset(made.dataset.id());
    if (address == HADDR_UNDEF) return failed("create dataset");
    made.extent = {address, as.layout.bytes()};
  }
  if (!as.shared) made.dataset.reset();
  return &contiguous_.emplace(as.name, std::move(made)).first->second;
}

std::map<std::string, StoredDataset> IterationImage::datasets() const {
  std::map<std::string, StoredDataset> datasets;
  for (const auto& [name, of] : contiguous_) datasets[name] = {of.layout.shape, of.extent, {}, of.blocks};
  for (const auto& [name, of] : chunked_) datasets[name] = {of.layout.shape, {}, of.chunks, {}};
  return datasets;
}

// Which parts of the whole array came, for whoever puts the files of several nodes together.
bool IterationImage::describe_blocks() {
  for (const auto& [name, dataset] : contiguous_) {
    if (!dataset.shared) continue;
    std::vector<uint64_t> all;
    for (const std::vector<uint64_t>& block : dataset.blocks) all.insert(all.end(), block.begin(), block.end());
    if (all.size() > kMostBlockNumbers) continue;  // HDF5 has no larger attributes here
    if (!put_uint64s(dataset.dataset.id(), "tailraceBlocks", all)) return false;
  }
  return true;
}

Handle IterationImage::create_dataset(const Variable& variable, const StoredAs& as, hid_t type,
                                      const Handle& creation) {
  const std::vector<hsize_t> dimensions(as.layout.shape.begin(), as.layout.shape.end());
  const Handle space(H5Screate_simple(static_cast<int>(dimensions.size()), dimensions.data(), nullptr), H5Sclose);
  if (!space.valid() || !creation.valid()) return {};
  Handle dataset(H5Dcreate2(meshes_.id(), as.name.c_str(), type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
                 H5Dclose);
  if (dataset.valid() && !describe_mesh(dataset.id(), variable, as.layout)) dataset.reset();
  return dataset;
}

Result<std::vector<Extent>> IterationImage::place_chunks(const Variable& variable, const StoredAs& as, uint64_t first,
                                                         std::span<const FilteredChunk> chunks, const Loss& loss) {
  const LibraryLock lock;
  Result<Chunked*> found = chunked(variable, as);
  if (!found.ok()) return found.status();
  Chunked& to = *found.value();
  TAILRACE_REQUIRE(first + chunks.size() <= to.chunks.size());
  if (first == 0) to.loss = {};  // a block that comes again replaces the one before
  to.loss.add(loss);
  std::vector<Extent> extents;
  for (size_t i = 0; i < chunks.size(); ++i) {
    const Result<PlacedChunk> placed = place_chunk(to, first + i, chunks[i]);
    if (!placed.ok()) return placed.status();
    to.chunks[first + i] = placed.value();
    extents.push_back(placed.value().extent);
  }
  return extents;
}

Result<IterationImage::Chunked*> IterationImage::chunked(const Variable& variable, const StoredAs& as) {
  const auto found = chunked_.find(as.name);
  if (found != chunked_.end()) {
    if (Status status = check_place(as, found->second.layout); !status.ok()) return status;
    return &found->second;
  }
  Chunked chunked;
  chunked.layout = as.layout;
  chunked.plan = plan_of(variable, as.layout);
  chunked.dataset = create_dataset(variable, as, stored_type(chunked.plan), chunked_properties(chunked.plan));
  if (!chunked.dataset.valid()) return failed("create dataset");
  const bool lossy = chunked.plan.precision != Precision::full;
  if (lossy && !(put_text(chunked.dataset.id(), "tailraceLossy", "float16") &&
                 put_text(chunked.dataset.id(), "tailraceOriginalType", name_of(as.layout.type)))) {
    return failed("create dataset");
  }
  chunked.chunks.resize(chunked.plan.chunking.count());
  return &chunked_.emplace(as.name, std::move(chunked)).first->second;
}

// HDF5 is made to write the chunk, by which it allocates its space and puts it into its index; the image driver sees
// where, and leaves the bytes to the engine.
Result<PlacedChunk> IterationImage::place_chunk(const Chunked& chunked, uint64_t index, const FilteredChunk& chunk) {
  TAILRACE_REQUIRE(chunk.bytes > 0);
  TAILRACE_REQUIRE(chunk.bytes <= chunked.plan.stored_chunk_bytes());
  static constexpr std::byte kNotLookedAt{};
  const std::vector<uint64_t> corner = chunked.plan.chunking.corner(index);
  const std::vector<hsize_t> offset(corner.begin(), corner.end());
  image_.noted = {};
  image_.only_note_raw = true;
  const bool ok = H5Dwrite_chunk(chunked.dataset.id(), H5P_DEFAULT, chunk.skipped, offset.data(), chunk.bytes,
                                 &kNotLookedAt) >= 0;
  image_.only_note_raw = false;
  if (!ok) return failed("place chunk");
  TAILRACE_ASSERT(image_.noted.length == chunk.bytes);
  return PlacedChunk{image_.noted, chunk.skipped, chunk.effort};
}

// What rounding has lost is known when all chunks have come, and so is how many of them there was little time for.
bool IterationImage::describe_losses() {
  for (const auto& [name, chunked] : chunked_) {
    uint64_t relaxed_and_skipped[] = {0, 0};
    for (const PlacedChunk& chunk : chunked.chunks) {
      if (chunk.effort == Effort::relaxed) ++relaxed_and_skipped[0];
      if (chunk.effort == Effort::skipped) ++relaxed_and_skipped[1];
    }
    const bool hurried = relaxed_and_skipped[0] + relaxed_and_skipped[1] > 0;
    if (hurried && !put_uint64s(chunked.dataset.id(), "tailraceFilterRelaxed", relaxed_and_skipped)) return false;
    if (chunked.plan.precision == Precision::full) continue;
    const hid_t dataset = chunked.dataset.id();
    const bool ok = put_double(dataset, "tailraceLargestError", chunked.loss.largest_error) &&
                    put_double(dataset, "tailraceLargestRelativeError", chunked.loss.largest_relative_error) &&
                    put_int64(dataset, "tailraceOverflows", static_cast<int64_t>(chunked.loss.overflowed));
    if (!ok) return false;
  }
  return true;
}

Status IterationImage::note_finding(const std::string& name, const FindingValue& value) {
  const LibraryLock lock;
  const char* const key = name.c_str();
  if (H5Aexists(group_.id(), key) > 0 && H5Adelete(group_.id(), key) < 0) return failed("note finding");
  bool ok = false;
  if (const auto* number = std::get_if<double>(&value)) ok = put_double(group_.id(), key, *number);
  if (const auto* text = std::get_if<std::string>(&value)) ok = put_text(group_.id(), key, *text);
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) ok = put_doubles(group_.id(), key, *numbers);
  return ok ? Status() : failed("note finding");
}

Result<FileEnding> IterationImage::finish() {
  const LibraryLock lock;
  if (!events_.empty() && !put_texts(group_.id(), "tailraceSignals", events_)) return failed("finish");
  if (!missing_.empty() && !put_uint64s(group_.id(), "tailraceMissingClients", missing_)) return failed("finish");
  if (missing_unnamed_ > 0 && !put_uint32(group_.id(), "tailraceMissingUnnamed", missing_unnamed_)) {
    return failed("finish");
  }
  if (!describe_losses() || !describe_blocks()) return failed("finish");
  for (auto& [name, dataset] : contiguous_) {
    if (dataset.dataset.valid() && !dataset.dataset.reset()) return failed("finish");
  }
  for (auto& [name, chunked] : chunked_) {
    if (!chunked.dataset.reset()) return failed("finish");
  }
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
  // HDF5 takes a file that ends before its end of allocation for a truncated one. The last part of a dataset that
  // several clients share may not have come.
  uint64_t end = std::max(image_.written_end(), image_.noted_end);
  for (const auto& [name, dataset] : contiguous_) end = std::max(end, dataset.extent.offset + dataset.reached);
  if (end < image_.end_of_allocation) ending.body.push_back({image_.end_of_allocation - 1, {std::byte{0}}});
  return ending;
}

Status IterationImage::failed(const char* operation) const {
  return hdf5_failure(TAILRACE_INTERNAL, operation, path_);
}

}  // namespace tailrace::impl
