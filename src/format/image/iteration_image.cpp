#include "format/image/iteration_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "format/image/dataset_stamps.hpp"
#include "format/image/image_driver.hpp"
#include "format/metadata/commit_record.hpp"
#include "format/openpmd/attributes.hpp"
#include "format/openpmd/dimension_scales.hpp"
#include "format/openpmd/handle.hpp"
#include "format/openpmd/records.hpp"
#include "format/plan/fill_value.hpp"
#include "format/plan/holes.hpp"

namespace tailrace::impl {
namespace {

// HDF5 keeps as many bytes of metadata decoded, at up to 20 times their size. With less than a block of a large
// group's links and some nodes of its index, it would read and write these for each new link.
constexpr size_t kCache = size_t{128} << 10;

Handle copy_of(hid_t type) { return {H5Tcopy(type), H5Tclose}; }

hid_t half_type() { return std::endian::native == std::endian::little ? H5T_IEEE_F16LE : H5T_IEEE_F16BE; }

// Makes the type of a boolean as h5py does.
Handle boolean_type() {
  Handle type(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
  const int8_t no = 0;
  const int8_t yes = 1;
  const bool ok =
      type.valid() && H5Tenum_insert(type.id(), "FALSE", &no) >= 0 && H5Tenum_insert(type.id(), "TRUE", &yes) >= 0;
  if (!ok) type.reset();
  return type;
}

// Makes the type of a complex number as h5py does.
Handle complex_type(hid_t part, size_t bytes) {
  Handle type(H5Tcreate(H5T_COMPOUND, 2 * bytes), H5Tclose);
  const bool ok =
      type.valid() && H5Tinsert(type.id(), "r", 0, part) >= 0 && H5Tinsert(type.id(), "i", bytes, part) >= 0;
  if (!ok) type.reset();
  return type;
}

hid_t number_type(ElementType type) {
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
    case ElementType::float16: return half_type();
    case ElementType::boolean:
    case ElementType::complex64:
    case ElementType::complex128: break;
  }
  TAILRACE_ASSERT(false);
}

Handle native_type(ElementType type) {
  if (type == ElementType::boolean) return boolean_type();
  if (type == ElementType::complex64) return complex_type(H5T_NATIVE_FLOAT, sizeof(float));
  if (type == ElementType::complex128) return complex_type(H5T_NATIVE_DOUBLE, sizeof(double));
  return copy_of(number_type(type));
}

// Sets a small cache. Metadata that leave HDF5's cache go to the image, which is also in memory: a larger cache would
// only use more memory.
bool set_cache(hid_t access) {
  H5AC_cache_config_t cache{};
  cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  if (H5Pget_mdc_config(access, &cache) < 0) return false;
  cache.set_initial_size = true;
  cache.initial_size = cache.min_size = cache.max_size = kCache;
  cache.min_clean_fraction = 0;
  cache.incr_mode = H5C_incr__off;
  cache.flash_incr_mode = H5C_flash_incr__off;
  cache.decr_mode = H5C_decr__off;
  return H5Pset_mdc_config(access, &cache) >= 0;
}

// Without blocks of metadata, the root group is not beside the superblock.
Handle access_properties(FileImage* image, bool in_blocks) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  const bool ok = use_image(access.id(), image) && set_cache(access.id()) &&
                  H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0 &&
                  H5Pset_meta_block_size(access.id(), in_blocks ? kMetadataBlock : 0) >= 0;
  if (!ok) access.reset();
  return access;
}

// Keeps the attributes of the root in its header: compact, and quick to read.
Handle creation_properties() {
  Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  const bool ok =
      H5Pset_attr_phase_change(creation.id(), 64, 32) >= 0 && H5Pset_obj_track_times(creation.id(), false) >= 0;
  if (!ok) creation.reset();
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

// Makes HDF5 ask for the space when it creates the dataset, so that the driver knows which dataset asks.
Handle contiguous_properties() {
  Handle creation = dataset_properties();
  const bool ok = creation.valid() && H5Pset_layout(creation.id(), H5D_CONTIGUOUS) >= 0 &&
                  H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY) >= 0;
  if (!ok) creation.reset();
  return creation;
}

// Describes the compressor. This HDF5 has neither, and must not search for plugins. So both are optional filters,
// which they also are in fact, since chunks may skip them.
bool set_compressor(hid_t creation, Compressor compressor, int level) {
  const unsigned value = static_cast<unsigned>(level);
  switch (compressor) {
    case Compressor::none: return true;
    case Compressor::deflate: return H5Pset_filter(creation, H5Z_FILTER_DEFLATE, H5Z_FLAG_OPTIONAL, 1, &value) >= 0;
    case Compressor::zstd: return H5Pset_filter(creation, kZstdFilter, H5Z_FLAG_OPTIONAL, 1, &value) >= 0;
  }
  TAILRACE_ASSERT(false);
}

// HDF5 asks for a chunk's space when the chunk is written, with the chunk's actual size.
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

Handle stored_type(const FilterPlan& plan) {
  return plan.precision == Precision::full ? native_type(plan.type) : copy_of(half_type());
}

// Returns the end of the page that contains the last byte before `end`.
uint64_t pages_of(uint64_t end) { return (end + FileImage::kPage - 1) / FileImage::kPage * FileImage::kPage; }

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Describes one file. The caller holds LibraryLock.
class Description {
 public:
  Description(const Config& config, int64_t iteration, const IterationPlan& plan)
      : config_(config), iteration_(iteration), plan_(plan), stamps_(config, plan, image_) {}

  bool describe(const Provenance& provenance, const std::string& path);
  // Takes the image out, once the file has been described.
  IterationImage take_image();

 private:
  bool begin(const std::string& path);
  bool describe_plain();
  bool describe_openpmd(const Provenance& provenance);
  bool describe_root(const Provenance& provenance);
  bool describe_origin(hid_t root, const Provenance& provenance);
  bool describe_iteration(const std::string& run);
  bool describe_findings();
  void begin_scales();
  bool describe_dataset(const NamedDataset& named);
  bool describe_by_hdf5(const IterationPlan::Dataset& dataset, const StoredAs& as, uint64_t& address);
  Handle create_contiguous(const StoredAs& as, const IterationPlan::Dataset& dataset);
  Handle create_chunked(const StoredAs& as, const IterationPlan::Dataset& dataset);
  Handle create(const Variable& variable, const StoredAs& as, const Handle& type, const Handle& creation);
  hid_t group_for(const Variable& variable, const StoredAs& as);
  bool describe_group(hid_t group, const std::string& path, const Variable& variable, const StoredAs& as);
  bool describe_variable(hid_t dataset, const Variable& variable, const StoredAs& as);
  static bool describe_attributes(hid_t object, const std::vector<Attribute>& configured,
                                  const IterationPlan::Attributes& set);
  bool describe_blocks(hid_t id, const IterationPlan::Dataset& dataset);
  bool write_chunks(hid_t id, const FilterPlan& filter, const IterationPlan::Dataset& dataset);
  bool describe_losses(hid_t id, const FilterPlan& filter, const IterationPlan::Dataset& dataset);

  const Config& config_;
  const int64_t iteration_;
  const IterationPlan& plan_;
  FileImage image_;  // outlives the handles
  DatasetStamps stamps_;
  IterationImage made_;
  Handle file_;
  Handle group_;                          // /data/<iteration>; in a plain file the root
  std::map<std::string, Handle> groups_;  // below it, by path
  std::optional<DimensionScales> scales_;
};

bool Description::describe(const Provenance& provenance, const std::string& path) {
  const bool plain = config_.format.kind == FormatKind::plain;
  if (!begin(path) || !(plain ? describe_plain() : describe_openpmd(provenance))) return false;
  begin_scales();
  made_.datasets.reserve(plan_.datasets().size());
  for (const NamedDataset& dataset : plan_.datasets()) {
    if (!describe_dataset(dataset)) return false;
  }
  for (const auto& [species, patches] : plan_.patches()) {
    const auto group = groups_.find("particles/" + species);
    if (group == groups_.end()) continue;
    // A species of one client has the records of the species that the configuration names.
    const std::string configured =
        config_.variables[plan_.datasets().lower_bound(species + "/")->second.variable].name;
    if (!put_patches(group->second.id(), config_, configured.substr(0, configured.find('/')), patches)) return false;
  }
  if (scales_ && !scales_->finish()) return false;
  const bool closed = std::all_of(groups_.begin(), groups_.end(), [](auto& group) { return group.second.reset(); });
  if (!closed || !group_.reset() || !file_.reset()) return false;
  stamps_.stamp();
  return true;
}

// A plain file has the variables' datasets alone; what else is known of the iteration are attributes of its root.
bool Description::describe_plain() {
  group_ = Handle(H5Gopen2(file_.id(), "/", H5P_DEFAULT), H5Gclose);
  return group_.valid() && describe_iteration("") && describe_findings();
}

bool Description::describe_openpmd(const Provenance& provenance) {
  if (!describe_root(provenance)) return false;
  const Handle data = create_group(file_.id(), "data");
  if (!data.valid()) return false;
  group_ = create_group(data.id(), std::to_string(iteration_));
  // The root of a file of several iterations has the run that wrote to it last.
  const std::string run = config_.storage.has_file_each() ? "" : provenance.run;
  if (!group_.valid() || !describe_iteration(run) || !describe_findings()) return false;
  const bool noted = note_address(file_.id(), made_.root) && note_address(data.id(), made_.data) &&
                     note_address(group_.id(), made_.iteration);
  if (!noted) return false;
  groups_["meshes"] = create_group(group_.id(), "meshes");
  return groups_["meshes"].valid();
}

// HDF5 puts the superblock and the root group into the first block of metadata. The raw data follow, and then all
// other metadata. In a file of several iterations, only the superblock is before the raw data.
bool Description::begin(const std::string& path) {
  const bool alone = config_.storage.has_file_each();
  if (!alone) image_.space_begin = pages_of(plan_.raw_end());
  const Handle access = access_properties(&image_, alone);
  const Handle creation = creation_properties();
  if (!access.valid() || !creation.valid()) return false;
  file_ = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose);
  if (!file_.valid()) return false;
  TAILRACE_ASSERT(!alone || image_.end_of_allocation <= kRawBegin);
  if (alone && plan_.raw_end() > kRawBegin) image_.end_of_allocation = plan_.raw_end();
  return true;
}

bool Description::describe_root(const Provenance& provenance) {
  const hid_t root = file_.id();
  const bool alone = config_.storage.has_file_each();
  return put_text(root, "openPMD", "1.1.0") && put_uint32(root, "openPMDextension", 0) &&
         put_text(root, "basePath", "/data/%T/") && put_text(root, "meshesPath", "meshes/") &&
         (!config_.has_particles() || put_text(root, "particlesPath", "particles/")) &&
         put_text(root, "iterationEncoding", alone ? "fileBased" : "groupBased") &&
         put_text(root, "iterationFormat", alone ? provenance.series : "/data/%T/") &&
         put_text(root, "date", provenance.date) && describe_origin(root, provenance) &&
         (provenance.run.empty() || put_text(root, "tailraceRun", provenance.run)) &&
         (!provenance.client || put_int64(root, "tailraceClient", *provenance.client)) &&
         (!provenance.node || put_int64(root, "tailraceNode", *provenance.node)) &&
         put_text(root, "tailraceDurability", name_of(config_.storage.durability)) &&
         put_text(root, "tailraceConfiguration", config_.source);
}

// Writes the attributes of the configuration, and those of openPMD that it does not give.
bool Description::describe_origin(hid_t root, const Provenance& provenance) {
  const std::string version = TAILRACE_VERSION_STRING;
  std::vector<Attribute> attributes = config_.attributes;
  const auto gives = [this](std::string_view name) {
    return std::any_of(config_.attributes.begin(), config_.attributes.end(),
                       [name](const Attribute& one) { return one.first == name; });
  };
  if (!gives("machine")) attributes.emplace_back("machine", provenance.machine);
  if (gives("software")) {
    if (!gives("softwareDependencies")) attributes.emplace_back("softwareDependencies", "tailrace " + version);
  } else {
    attributes.emplace_back("software", std::string("tailrace"));
    if (!gives("softwareVersion")) attributes.emplace_back("softwareVersion", version);
  }
  return describe_attributes(root, attributes, {});
}

bool Description::describe_iteration(const std::string& run) {
  const hid_t group = group_.id();
  return put_double(group, kTimeAttribute, plan_.time(iteration_)) &&
         put_double(group, kStepAttribute, plan_.step()) &&
         put_double(group, "timeUnitSI", config_.time.unit.factor) &&
         (run.empty() || put_text(group, "tailraceRun", run)) &&
         (plan_.events().empty() || put_texts(group, "tailraceSignals", plan_.events())) &&
         (plan_.events_not_listed() == 0 ||
          put_int64(group, "tailraceSignalsNotListed", static_cast<int64_t>(plan_.events_not_listed()))) &&
         (plan_.missing().empty() || put_uint64s(group, "tailraceMissingClients", plan_.missing())) &&
         (plan_.missing_unnamed() == 0 || put_uint32(group, "tailraceMissingUnnamed", plan_.missing_unnamed())) &&
         describe_attributes(group, config_.iteration_attributes, plan_.attributes());
}

bool Description::describe_findings() {
  for (const auto& [name, value] : plan_.findings()) {
    const hid_t group = group_.id();
    const char* const key = name.c_str();
    bool ok = false;
    if (const auto* number = std::get_if<double>(&value)) ok = put_double(group, key, *number);
    if (const auto* text = std::get_if<std::string>(&value)) ok = put_text(group, key, *text);
    if (const auto* numbers = std::get_if<std::vector<double>>(&value)) ok = put_doubles(group, key, *numbers);
    if (!ok) return false;
  }
  return true;
}

void Description::begin_scales() {
  if (!config_.format.dimension_scales) return;
  std::set<std::string> names;
  for (const auto& [name, dataset] : plan_.datasets()) names.insert(name.substr(0, name.find('/')));
  // A variable may have no block in this iteration: what reads it must not find a scale.
  for (const Variable& variable : config_.variables) names.insert(variable.name.substr(0, variable.name.find('/')));
  scales_.emplace(groups_["meshes"].id(), std::move(names));
}

// A dataset in chunks, and one with dimension scales, refers to what belongs to it alone.
bool Description::describe_dataset(const NamedDataset& named) {
  const IterationPlan::Dataset& dataset = named.second;
  const StoredAs as = plan_.stored_as(dataset);
  uint64_t& address = made_.datasets.emplace_back();
  const bool is_own = dataset.in_chunks || scales_;
  const DatasetStamps::Kind* const kind = is_own ? nullptr : stamps_.find(group_.id(), named);
  if (kind != nullptr) {
    const hid_t parent = group_for(config_.variables[dataset.variable], as);
    return parent >= 0 && stamps_.make(*kind, parent, last_part(as.name).c_str(), named, address);
  }
  if (!describe_by_hdf5(dataset, as, address)) return false;
  if (!is_own) stamps_.note(named, address);
  return true;
}

bool Description::describe_by_hdf5(const IterationPlan::Dataset& dataset, const StoredAs& as, uint64_t& address) {
  const Variable& variable = config_.variables[dataset.variable];
  Handle made = dataset.in_chunks ? create_chunked(as, dataset) : create_contiguous(as, dataset);
  if (!made.valid() || !describe_variable(made.id(), variable, as)) return false;
  if (dataset.shared && !describe_blocks(made.id(), dataset)) return false;
  const bool scaled = scales_ && !variable.record.of_particles;
  if (scaled && !scales_->attach(made.id(), variable, *as.block, as.shape(), as.offset())) return false;
  if (dataset.in_chunks) {
    const FilterPlan filter = plan_of(variable, *as.block);
    if (!write_chunks(made.id(), filter, dataset) || !describe_losses(made.id(), filter, dataset)) return false;
  }
  return note_address(made.id(), address) && made.reset();
}

// Tells HDF5 the value of what was not written. HDF5 itself writes it nowhere; see format/plan/holes.hpp.
bool set_fill_value(hid_t creation, ElementType type, const std::optional<Number>& value) {
  if (!value) return true;
  const Handle of = native_type(type);
  return of.valid() && H5Pset_fill_value(creation, of.id(), element_of(type, *value).data()) >= 0;
}

Handle Description::create(const Variable& variable, const StoredAs& as, const Handle& type, const Handle& creation) {
  if (!creation.valid() || !set_fill_value(creation.id(), as.block->type, variable.fill_value)) return {};
  const std::vector<hsize_t> dimensions(as.shape().begin(), as.shape().end());
  const Handle space(H5Screate_simple(static_cast<int>(dimensions.size()), dimensions.data(), nullptr), H5Sclose);
  const hid_t parent = group_for(variable, as);
  if (!space.valid() || !type.valid() || parent < 0) return {};
  return {
      H5Dcreate2(parent, last_part(as.name).c_str(), type.id(), space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
      H5Dclose};
}

Handle Description::create_contiguous(const StoredAs& as, const IterationPlan::Dataset& dataset) {
  image_.next_raw = dataset.stored.extent;
  Handle made = create(config_.variables[dataset.variable], as, native_type(as.block->type), contiguous_properties());
  image_.next_raw = {};
  if (made.valid() && dataset.stored.extent.length > 0) {
    TAILRACE_ASSERT(H5Dget_offset(made.id()) == dataset.stored.extent.offset);
  }
  return made;
}

Handle Description::create_chunked(const StoredAs& as, const IterationPlan::Dataset& dataset) {
  const FilterPlan filter = plan_of(config_.variables[dataset.variable], *as.block);
  Handle made = create(config_.variables[dataset.variable], as, stored_type(filter), chunked_properties(filter));
  const bool lossy = filter.precision != Precision::full;
  if (made.valid() && lossy &&
      !(put_text(made.id(), "tailraceLossy", "float16") &&
        put_text(made.id(), "tailraceOriginalType", name_of(as.block->type)))) {
    made.reset();
  }
  return made;
}

// Returns the group of the dataset, with all that is to be said of it: the meshes, a vector, a species, or a vector
// of particles.
hid_t Description::group_for(const Variable& variable, const StoredAs& as) {
  const std::string path = *as.root == '\0' ? as.name : std::string(as.root) + "/" + as.name;
  const std::string parent = path.substr(0, path.find('/') == std::string::npos ? 0 : path.rfind('/'));
  hid_t group = group_.id();
  for (size_t end = 0; end < parent.size() && group >= 0;) {
    end = std::min(parent.find('/', end + 1), parent.size());
    const std::string known = parent.substr(0, end);
    const auto [found, is_new] = groups_.try_emplace(known);
    if (is_new) {
      found->second = create_group(group, known.substr(known.rfind('/') + 1));
      const bool ok = found->second.valid() && describe_group(found->second.id(), known, variable, as);
      if (!ok) found->second.reset();
    }
    group = found->second.id();
  }
  return group;
}

bool Description::describe_group(hid_t group, const std::string& path, const Variable& variable, const StoredAs& as) {
  const auto depth = std::count(path.begin(), path.end(), '/');
  const bool species = variable.record.of_particles && depth == 1;
  const bool vector = variable.record.vector && depth == (variable.record.of_particles ? 2 : 1);
  if (vector) return describe_record(group, variable, *as.block, as.offset());
  if (!species) return true;
  const std::string name = variable.name.substr(0, variable.name.find('/'));
  const std::vector<ConstantRecord> constants = constants_of(config_, name);
  return std::all_of(constants.begin(), constants.end(),
                     [&](const ConstantRecord& one) { return put_constant(group, one, as.shape()[0]); });
}

bool Description::describe_variable(hid_t dataset, const Variable& variable, const StoredAs& as) {
  static const IterationPlan::Attributes kNone;
  const auto set = plan_.dataset_attributes().find(as.name);
  const bool is_set = set != plan_.dataset_attributes().end();
  const bool plain = *as.root == '\0';
  const bool record = plain || variable.record.vector || describe_record(dataset, variable, *as.block, as.offset());
  return record && (plain || describe_component(dataset, variable, *as.block, as.offset())) &&
         describe_attributes(dataset, variable.attributes, is_set ? set->second : kNone);
}

// Writes the configuration's attributes, and those that the program has set, which replace them.
bool Description::describe_attributes(hid_t object, const std::vector<Attribute>& configured,
                                      const IterationPlan::Attributes& set) {
  for (const auto& [name, value] : configured) {
    if (!set.contains(name) && !put_value(object, name.c_str(), value)) return false;
  }
  return std::all_of(set.begin(), set.end(),
                     [&](const auto& one) { return put_value(object, one.first.c_str(), one.second.value); });
}

// Records which parts of the whole array came, for programs that combine the files of several nodes.
bool Description::describe_blocks(hid_t id, const IterationPlan::Dataset& dataset) {
  std::vector<uint64_t> all;
  for (const std::vector<uint64_t>& block : dataset.stored.blocks) all.insert(all.end(), block.begin(), block.end());
  return put_uint64s(id, "tailraceBlocks", all);
}

// Makes HDF5 write each chunk, so that it adds the chunk to its index. The image driver assigns the place and ignores
// the bytes.
bool Description::write_chunks(hid_t id, const FilterPlan& filter, const IterationPlan::Dataset& dataset) {
  static constexpr std::byte kNotLookedAt{};
  for (uint64_t index = 0; index < dataset.stored.chunks.size(); ++index) {
    const PlacedChunk& chunk = dataset.stored.chunks[index];
    if (chunk.extent.length == 0) continue;  // the chunk never came
    TAILRACE_REQUIRE(chunk.extent.length <= filter.stored_chunk_bytes());
    const std::vector<uint64_t> corner = filter.chunking.corner(index);
    const std::vector<hsize_t> offset(corner.begin(), corner.end());
    image_.next_raw = chunk.extent;
    const bool ok =
        H5Dwrite_chunk(id, H5P_DEFAULT, chunk.skipped, offset.data(), chunk.extent.length, &kNotLookedAt) >= 0;
    TAILRACE_ASSERT(!ok || image_.next_raw.length == 0);
    image_.next_raw = {};
    if (!ok) return false;
  }
  return true;
}

// Records the losses of rounding, and the number of chunks filtered with less effort. Both are known when all chunks
// have come.
bool Description::describe_losses(hid_t id, const FilterPlan& filter, const IterationPlan::Dataset& dataset) {
  uint64_t relaxed_and_skipped[] = {0, 0};
  for (const PlacedChunk& chunk : dataset.stored.chunks) {
    if (chunk.effort == Effort::relaxed) ++relaxed_and_skipped[0];
    if (chunk.effort == Effort::skipped) ++relaxed_and_skipped[1];
  }
  const bool hurried = relaxed_and_skipped[0] + relaxed_and_skipped[1] > 0;
  if (hurried && !put_uint64s(id, "tailraceFilterRelaxed", relaxed_and_skipped)) return false;
  if (filter.precision == Precision::full) return true;
  return put_double(id, "tailraceLargestError", dataset.loss.largest_error) &&
         put_double(id, "tailraceLargestRelativeError", dataset.loss.largest_relative_error) &&
         put_int64(id, "tailraceOverflows", static_cast<int64_t>(dataset.loss.overflowed));
}

// The superblock goes last; any bytes after it in the same run go with the rest.
IterationImage Description::take_image() {
  made_.written_end = image_.written_end();
  made_.file_end = image_.end_of_allocation;
  made_.metadata_at_page = !image_.is_tight() && made_.file_end > pages_of(plan_.raw_end());
  made_.pieces = image_.take_pieces();
  TAILRACE_ASSERT(!made_.pieces.empty() && made_.pieces[0].offset == 0);
  const std::span<const std::byte> first = made_.pieces[0].bytes.all();
  TAILRACE_ASSERT(first.size() >= kSuperblockBytes);
  const std::span<const std::byte> head = first.first(kSuperblockBytes);
  const std::span<const std::byte> rest = first.subspan(kSuperblockBytes);
  made_.superblock = {0, std::vector<std::byte>(head.begin(), head.end())};
  made_.pieces[0] = {kSuperblockBytes, std::vector<std::byte>(rest.begin(), rest.end())};
  if (rest.empty()) made_.pieces.erase(made_.pieces.begin());
  return std::move(made_);
}

}  // namespace

// HDF5 considers a file truncated if it ends before its end of allocation: the last part of a shared dataset may
// never come.
FileEnding IterationImage::ending(uint64_t raw_reached) const {
  FileEnding ending{pieces, superblock};
  const uint64_t end = std::max(written_end, raw_reached);
  if (end < file_end) ending.body.push_back({file_end - 1, std::vector<std::byte>{std::byte{0}}});
  return ending;
}

void FileEnding::fill_holes(const Config& config, const IterationPlan& plan) {
  std::vector<MetadataPiece> pieces = filled_holes(config, plan);
  // The byte that makes the file long enough may be in a hole at its end.
  const bool reaches = !pieces.empty() && !body.empty() && pieces.back().end() >= body.back().end();
  if (reaches && body.back().bytes.size() == 1) body.pop_back();
  body.insert(body.begin(), std::make_move_iterator(pieces.begin()), std::make_move_iterator(pieces.end()));
}

bool IterationImage::same_end(uint64_t raw_end, uint64_t other) const {
  return raw_end == other || (metadata_at_page && pages_of(raw_end) == pages_of(other));
}

Result<IterationImage> make_image(const Config& config, const Provenance& provenance, int64_t iteration,
                                  const IterationPlan& plan, const std::string& path) {
  const LibraryLock lock;
  Description description(config, iteration, plan);
  if (!description.describe(provenance, path)) return hdf5_failure(TAILRACE_INTERNAL, "finish", path);
  return description.take_image();
}

}  // namespace tailrace::impl
