#include "format/hdf5/hdf5_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "format/file_name.hpp"
#include "format/hdf5/inspect_file.hpp"
#include "format/hdf5/joint_file.hpp"
#include "format/hdf5/xdmf_files.hpp"
#include "format/image/iteration_image.hpp"
#include "format/openpmd/handle.hpp"

namespace tailrace::impl {

namespace {

// An iteration has one file.
Result<Placement> in_the_file(Result<std::vector<Extent>> extents) {
  if (!extents.ok()) return extents.status();
  return Placement{0, std::move(extents).value()};
}

// Writes the superblock after everything else, and renames the file after the superblock. In a file that has its
// name, the superblock shows the iteration.
PublicationPlan plan_to_publish(FileEnding ending, bool has_name) {
  using Kind = PublicationStep::Kind;
  PublicationPlan plan;
  plan.steps.push_back({Kind::write, 0, false, std::move(ending.body)});
  plan.steps.push_back({Kind::write, 0, true, {}, has_name});
  plan.steps.back().pieces.push_back(std::move(ending.head));
  plan.steps.push_back({has_name ? Kind::close : Kind::publish, 0, true, {}});
  return plan;
}

// Returns the part of this node beside a joint file.
FileNames part_beside(const Config& config, FileNames names) {
  names.final_path = part_path(names.temporary, static_cast<uint32_t>(config.place.node));
  names.temporary = names.final_path + ".tmp";
  names.joint = false;
  return names;
}

// Returns the names of the XDMF file of a joint file. Each node that completes the file writes one, until one of them
// gets its name.
FileNames xdmf_of_joint(const Config& config, const FileNames& names) {
  FileNames xdmf = XdmfFiles::beside(names);
  const std::string final_path = xdmf.final_path;
  xdmf = part_beside(config, std::move(xdmf));
  xdmf.final_path = final_path;
  return xdmf;
}

// The node closes the file when all its bytes are there, and after that publishes its part.
PublicationPlan finish_joint(const Config& config, int64_t iteration, const IterationPlan& of_node) {
  using Kind = PublicationStep::Kind;
  PublicationPlan plan;
  plan.steps.push_back({Kind::write, 0, true, {}});  // for `durable`, a sync
  plan.steps.push_back({Kind::close, 0, true, {}});
  plan.steps.push_back({Kind::write, 1, false, {{0, to_bytes(part_of(config, iteration, of_node))}}});
  plan.steps.push_back({Kind::publish, 1, true, {}});
  return plan;
}

// Returns the datasets of a whole, with the variables of this node's configuration.
std::vector<XdmfDataset> datasets_of(const Config& config, const JointFile& whole) {
  std::vector<XdmfDataset> datasets = XdmfFiles::datasets_of(whole.plan());
  for (XdmfDataset& dataset : datasets) {
    dataset.variable = whole.variable_of(dataset.name);
    Layout layout = config.layout_of(config.variables[dataset.variable]);
    layout.shape = layout.global_shape = dataset.shape;
    layout.offset.assign(dataset.shape.size(), 0);
    dataset.block = std::make_shared<const Layout>(std::move(layout));
  }
  return datasets;
}

bool exists(const FileSystem& files, const std::string& path) { return files.stat(path).ok(); }

}  // namespace

Hdf5Format::Hdf5Format(const Config& config, FileSystem& files, Options options)
    : config_(config), files_(files), options_(std::move(options)), template_(config), xdmf_(config, config.format) {}

Hdf5Format::~Hdf5Format() = default;

Status Hdf5Format::check_usable() { return LibraryLock::check_usable(); }

std::string Hdf5Format::path_on(size_t device, int64_t iteration) const {
  return config_.storage.paths[device] + "/" + file_name_of(config_, options_.client, iteration);
}

StoredAs Hdf5Format::stored(const Block& block) const {
  TAILRACE_REQUIRE(block.layout != nullptr);
  return stored_as(config_.variables[block.variable], *block.layout, config_.storage.file_per, block.source);
}

// Makes an image that is discarded. If it fails, the first iteration fails too, and reports it.
void Hdf5Format::rehearse(const Config& config, int client) try {
  IterationPlan plan(config, config.name);
  if (!config.variables.empty()) {
    const Variable& variable = config.variables[0];
    const Block block{0, 0, client, std::make_shared<const Layout>(config.layout_of(variable))};
    const bool in_chunks = is_in_chunks(variable, *block.layout);
    if (in_chunks) {
      const FilteredChunk chunk{plan_of(variable, *block.layout).stored_chunk_bytes(), 0};
      (void)plan.place_chunks(block, 0, {&chunk, 1}, {});
    } else {
      (void)plan.place(block);
    }
  }
  (void)make_image(config, {}, 0, plan, config.name);
} catch (const std::bad_alloc&) {
}

const std::vector<FileNames>& Hdf5Format::files(int64_t iteration) const {
  const auto found = records_.find(iteration);
  TAILRACE_REQUIRE(found != records_.end());
  return found->second.files;
}

// Returns the device on which an earlier run has put the iteration's file, so that the new file replaces it; else the
// next device in turn.
uint32_t Hdf5Format::device_for(int64_t iteration) {
  const auto devices = static_cast<uint32_t>(config_.storage.paths.size());
  if (config_.nodes_share_files()) return static_cast<uint32_t>(static_cast<uint64_t>(iteration) % devices);
  for (uint32_t device = 0; devices > 1 && device < devices; ++device) {
    const std::string path = path_on(device, iteration);
    if (exists(files_, path) || exists(files_, path + ".part")) return device;
  }
  return next_device_++ % devices;
}

FileNames Hdf5Format::names_of(int64_t iteration) {
  FileNames names;
  names.device = device_for(iteration);
  names.directory = config_.storage.paths[names.device];
  names.final_path = path_on(names.device, iteration);
  names.temporary = names.final_path + ".part";
  names.joint = config_.nodes_share_files();
  return names;
}

Hdf5Format::Record& Hdf5Format::begin(int64_t iteration) {
  if (const auto found = records_.find(iteration); found != records_.end()) {
    if (found->second.stage == Stage::begun) return found->second;
    discard(iteration);
  }
  FileNames names = names_of(iteration);
  Record record;
  if (names.joint) {
    record.plan = std::make_shared<IterationPlan>(IterationPlan::of_nodes(config_, names.temporary));
    record.files = {names, part_beside(config_, names)};
    (void)xdmf_.begins(iteration);  // the first one is known, whichever node completes it
  } else if (config_.storage.has_file_each()) {
    record.plan = std::make_shared<IterationPlan>(config_, names.temporary);
    record.files.push_back(std::move(names));
    if (xdmf_.begins(iteration)) record.files.push_back(XdmfFiles::beside(record.files[0]));
  } else {
    record = begin_in_series(std::move(names), iteration);
  }
  record.date = options_.date();
  return records_[iteration] = std::move(record);
}

// The other nodes need the part of this one, whatever it has.
bool Hdf5Format::begin_empty(int64_t iteration) {
  if (!config_.nodes_share_files()) return false;
  begin(iteration);
  return true;
}

// Begins the iteration behind those that the file has.
Hdf5Format::Record Hdf5Format::begin_in_series(FileNames names, int64_t iteration) {
  Record record;
  uint64_t begin = kRawBegin;
  const Result<SeriesFile*> series = series_file(names.final_path);
  if (series.ok()) {
    if (series.value()->is_published()) names.temporary = names.final_path;
    begin = series.value()->next();
    if (series.value()->contains(iteration)) {
      record.refused = Status(
          TAILRACE_EXISTS, fmt::format("iteration {} is in '{}' already: it cannot be replaced in a file of several "
                                       "iterations (storage.iterations_per_file)",
                                       iteration, names.final_path));
    }
  } else {
    record.refused = series.status();
  }
  record.plan = std::make_shared<IterationPlan>(config_, names.temporary, begin);
  record.files.push_back(std::move(names));
  return record;
}

// Returns the file as it is now. Opening another one forgets those of which all iterations have left.
Result<SeriesFile*> Hdf5Format::series_file(const std::string& path) {
  const auto found = series_files_.find(path);
  if (found != series_files_.end()) return &found->second;
  Result<SeriesFile> opened = SeriesFile::open(files_, path);
  if (!opened.ok()) return opened.status();
  const auto in_use = [this](const std::string& file) {
    return std::any_of(records_.begin(), records_.end(), [&](const auto& record) {
      return record.second.stage != Stage::left && record.second.files[0].final_path == file;
    });
  };
  std::erase_if(series_files_, [&](const auto& file) { return !in_use(file.first); });
  return &series_files_.emplace(path, std::move(opened).value()).first->second;
}

Result<Placement> Hdf5Format::place(const Block& block) {
  const Record& record = begin(block.iteration);
  return record.refused.ok() ? in_the_file(record.plan->place(block)) : record.refused;
}

Result<Placement> Hdf5Format::place_chunks(const Block& block, uint64_t first, std::span<const FilteredChunk> chunks,
                                           const Loss& loss) {
  const Record& record = begin(block.iteration);
  return record.refused.ok() ? in_the_file(record.plan->place_chunks(block, first, chunks, loss)) : record.refused;
}

Status Hdf5Format::note_event(int64_t iteration, const std::string& event) {
  begin(iteration).plan->note_event(event);
  return {};
}

Status Hdf5Format::note_attribute(const AttributeNote& note) {
  IterationPlan& plan = *begin(note.iteration).plan;
  return plan.note_attribute(note.block ? stored(*note.block).name : "", note.client, note.attribute);
}

Status Hdf5Format::note_finding(int64_t iteration, const std::string& by, const std::string& name,
                                const FindingValue& value) {
  TAILRACE_REQUIRE(begun(iteration));
  return records_[iteration].plan->note_finding(by, name, value);
}

std::optional<FileNames> Hdf5Format::published(int64_t iteration) const {
  std::optional<FileNames> found;
  for (size_t device = 0; device < config_.storage.paths.size(); ++device) {
    const std::string path = path_on(device, iteration);
    const Result<NameFacts> part = files_.stat(path + ".part");
    const Result<NameFacts> whole = files_.stat(path);
    const bool is_whole = whole.ok() && whole.value().own;
    bool is_there = is_whole;
    // This node publishes its part. An empty one says that none comes from an earlier run.
    const auto own = config_.nodes_share_files()
                         ? files_.stat(part_path(path + ".part", static_cast<uint32_t>(config_.place.node)))
                         : Result<NameFacts>(Status(TAILRACE_NOT_FOUND, "several nodes do not share it"));
    if (own.ok() && own.value().size > 0) {
      return FileNames{path, path, config_.storage.paths[device], static_cast<uint32_t>(device)};
    }
    if (!config_.storage.has_file_each()) {  // other iterations may have made the file, and its .part
      const Result<SeriesFile> series =
          is_whole ? SeriesFile::open(files_, path) : Result<SeriesFile>(whole.status());
      is_there = series.ok() && series.value().contains(iteration);
    } else if (part.ok() && !(whole.ok() && part.value().is_same_file(whole.value()))) {
      return std::nullopt;
    }
    if (is_there) found = FileNames{path, path, config_.storage.paths[device], static_cast<uint32_t>(device)};
  }
  return found;
}

bool Hdf5Format::begun(int64_t iteration) const {
  const auto found = records_.find(iteration);
  return found != records_.end() && found->second.stage == Stage::begun;
}

void Hdf5Format::note_missing(int64_t iteration, const std::vector<int>& clients, uint32_t unnamed) {
  TAILRACE_REQUIRE(begun(iteration));
  records_[iteration].plan->note_missing(clients, unnamed);
}

Result<PublicationPlan> Hdf5Format::finish(int64_t iteration) {
  const auto found = records_.find(iteration);
  TAILRACE_REQUIRE(found != records_.end());
  Record& record = found->second;
  TAILRACE_REQUIRE(record.stage == Stage::begun);
  Provenance provenance{
      series_of(config_, options_.client) + "_%06T", options_.machine, record.date, options_.run, {}, {}};
  if (config_.storage.file_per == FilePer::process) provenance.client = options_.client;
  if (config_.storage.file_per == FilePer::node) provenance.node = config_.place.node;
  record.stage = Stage::finished;
  if (!config_.storage.has_file_each()) return finish_in_series(iteration, record, provenance);
  const std::string& path = record.files[0].final_path;
  if (config_.nodes_share_files()) {
    xdmf_.note(path, *record.plan);
    return finish_joint(config_, iteration, *record.plan);
  }
  Result<FileEnding> ending = template_.complete(provenance, iteration, record.plan, record.files[0].temporary);
  if (!ending.ok()) return ending.status();
  ending.value().fill_holes(config_, *record.plan);
  PublicationPlan plan = plan_to_publish(std::move(ending).value(), false);
  if (record.files.size() == 1) {
    xdmf_.note(path, *record.plan);
  } else {
    xdmf_.add(plan, iteration, record.plan->time(iteration), path, XdmfFiles::datasets_of(*record.plan));
  }
  return plan;
}

Result<std::optional<JointPublication>> Hdf5Format::complete(int64_t iteration) {
  if (!config_.nodes_share_files()) return std::optional<JointPublication>();
  const FileNames names = names_of(iteration);
  const auto parts = read_parts(files_, names.temporary);
  if (!parts.ok()) return parts.status();
  if (!parts.value()) return std::optional<JointPublication>();
  const JointFile whole(*parts.value(), names.temporary);
  if (whole.empty()) {
    Status removed = files_.remove(names.temporary);
    if (removed.ok()) removed = remove_parts(files_, names.temporary, parts.value()->front().nodes);
    if (!removed.ok() && removed.fault().system_errno != ENOENT) return removed;
    return std::optional<JointPublication>();
  }
  Result<FileEnding> ending = whole.ending();
  if (!ending.ok()) return ending.status();
  JointPublication completion{{names}, plan_to_publish(std::move(ending).value(), false)};
  if (xdmf_.begins(iteration)) {
    completion.files.push_back(xdmf_of_joint(config_, names));
    xdmf_.add(completion.plan, iteration, whole.plan().time(iteration), names.final_path,
              datasets_of(config_, whole));
  }
  return std::optional(std::move(completion));
}

bool Hdf5Format::is_complete(int64_t iteration) {
  const FileNames names = names_of(iteration);
  if (!names.joint || exists(files_, names.temporary) || !exists(files_, names.final_path)) return false;
  (void)remove_parts(files_, names.temporary, static_cast<uint32_t>(config_.place.nodes));
  const std::string xdmf = xdmf_of_joint(config_, names).temporary;
  if (exists(files_, xdmf)) (void)files_.remove(xdmf);  // another node was faster
  return true;
}

// HDF5 describes each iteration afresh: its addresses depend on where it is.
Result<PublicationPlan> Hdf5Format::finish_in_series(int64_t iteration, const Record& record,
                                                     const Provenance& provenance) {
  if (!record.refused.ok()) return record.refused;
  const FileNames& names = record.files[0];
  const Result<SeriesFile*> series = series_file(names.final_path);
  if (!series.ok()) return series.status();
  Result<IterationImage> image = make_image(config_, provenance, iteration, *record.plan, names.temporary);
  if (!image.ok()) return image.status();
  Result<FileEnding> ending = series.value()->add(iteration, std::move(image).value());
  if (!ending.ok()) return ending.status();
  ending.value().fill_holes(config_, *record.plan);
  return plan_to_publish(std::move(ending).value(), names.is_published());
}

// If the plan failed, a file of several iterations is looked at again: it has the iteration, or has it not.
void Hdf5Format::ended(int64_t iteration, bool published) {
  const auto found = records_.find(iteration);
  if (found != records_.end() && found->second.stage == Stage::finished) remember(iteration, found->second);
  if (config_.storage.has_file_each()) return;
  for (size_t device = 0; device < config_.storage.paths.size(); ++device) {
    const auto series = series_files_.find(path_on(device, iteration));
    if (series == series_files_.end()) continue;
    if (!published) {
      series_files_.erase(series);
    } else if (series->second.contains(iteration)) {
      series->second.note_published();
    }
  }
}

// Remembers an iteration that has left, and forgets the earliest ones beyond the limits: perhaps this one, too.
void Hdf5Format::remember(int64_t iteration, Record& record) {
  record.stage = Stage::left;
  record.parts = record.plan->parts();
  left_.push_back(iteration);
  parts_ += record.parts;
  while (left_.size() > kRemembered || parts_ > kPartsRemembered) discard(left_.front());
}

void Hdf5Format::discard(int64_t iteration) {
  const auto found = records_.find(iteration);
  if (found == records_.end()) return;
  if (found->second.stage == Stage::left) {
    parts_ -= found->second.parts;
    left_.erase(std::find(left_.begin(), left_.end(), iteration));
  }
  records_.erase(found);
}

Result<Located> Hdf5Format::locate(const Block& block) {
  TAILRACE_REQUIRE(!is_in_chunks(config_.variables[block.variable], *block.layout));
  const auto dataset = remembered(block);
  if (!dataset.ok()) return dataset.status();
  if (!dataset.value()) return look_up(block);
  const uint64_t begin = dataset.value()->extent.offset;
  const FileNames& names = files(block.iteration)[0];
  const bool unfinished = names.joint && !exists(files_, names.final_path);  // other nodes are still to come
  return Located{unfinished ? names.temporary : names.final_path, 0, extents_of(*block.layout, stored(block), begin)};
}

Result<LocatedChunks> Hdf5Format::locate_chunks(const Block& block) {
  TAILRACE_REQUIRE(is_in_chunks(config_.variables[block.variable], *block.layout));
  const auto dataset = remembered(block);
  if (!dataset.ok()) return dataset.status();
  if (!dataset.value()) return look_up_chunks(block);
  return LocatedChunks{files(block.iteration)[0].final_path, 0, dataset.value()->chunks};
}

Result<std::optional<StoredDataset>> Hdf5Format::remembered(const Block& block) const {
  const auto found = records_.find(block.iteration);
  if (found == records_.end()) return std::optional<StoredDataset>();
  const Record& record = found->second;
  if (const auto lost = record.lost.find({block.variable, block.source}); lost != record.lost.end()) {
    return lost->second;
  }
  const StoredAs as = stored(block);
  const auto dataset = record.plan->datasets().find(as.name);
  if (dataset == record.plan->datasets().end()) return not_written(block);
  const StoredDataset& there = dataset->second.stored;
  if (there.shape != as.shape()) {
    return another_shape(as.name, record.files[0].final_path, there.shape, as.shape());
  }
  // Other clients may have begun the dataset.
  const bool anywhere = !as.shared || block.layout->empty();
  if (!anywhere && !std::binary_search(there.blocks.begin(), there.blocks.end(), place_of(*block.layout))) {
    return not_written(block);
  }
  return std::optional<StoredDataset>(there);
}

Status Hdf5Format::not_written(const Block& block) const {
  return Status(TAILRACE_NOT_FOUND, fmt::format("read: no block of '{}' was written in iteration {}",
                                                config_.variables[block.variable].name, block.iteration));
}

// Looks for the block in files of iterations that are not remembered, on all devices.
Result<Located> Hdf5Format::look_up(const Block& block) const {
  const StoredAs as = stored(block);
  Status last;
  for (size_t device = 0; device < config_.storage.paths.size(); ++device) {
    const std::string path = path_on(device, block.iteration);
    const Result<Extent> extent = find_dataset(files_, path, block.iteration, as);
    if (extent.ok() && as.shared && !block.layout->empty()) {
      const Result<bool> there = has_block(files_, path, block.iteration, as);
      if (!there.ok()) return there.status();
      if (!there.value()) return not_written(block);
    }
    if (extent.ok()) return Located{path, 0, extents_of(*block.layout, as, extent.value().offset)};
    if (last.ok() || last.code() == TAILRACE_NOT_FOUND) last = extent.status();
  }
  return last;
}

Result<LocatedChunks> Hdf5Format::look_up_chunks(const Block& block) const {
  const StoredAs as = stored(block);
  const FilterPlan plan = plan_of(config_.variables[block.variable], *block.layout);
  Status last;
  for (size_t device = 0; device < config_.storage.paths.size(); ++device) {
    const std::string path = path_on(device, block.iteration);
    Result<std::vector<PlacedChunk>> chunks = find_chunks(files_, path, block.iteration, as, plan);
    if (chunks.ok()) return LocatedChunks{path, 0, std::move(chunks).value()};
    if (last.ok() || last.code() == TAILRACE_NOT_FOUND) last = chunks.status();
  }
  return last;
}

void Hdf5Format::forget(const Block& block, const Status& why) {
  const auto found = records_.find(block.iteration);
  if (found != records_.end()) found->second.lost[{block.variable, block.source}] = why;
}

}  // namespace tailrace::impl
