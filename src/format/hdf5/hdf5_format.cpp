#include "format/hdf5/hdf5_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "format/file_name.hpp"
#include "format/hdf5/inspect_file.hpp"
#include "format/hdf5/iteration_image.hpp"
#include "format/openpmd/handle.hpp"

namespace tailrace::impl {

namespace {

// An iteration has one file.
Result<Placement> in_the_file(Result<std::vector<Extent>> extents) {
  if (!extents.ok()) return extents.status();
  return Placement{0, std::move(extents).value()};
}

// Writes the superblock after everything else, and renames the file after the superblock.
PublicationPlan plan_to_publish(FileEnding ending) {
  using Kind = PublicationStep::Kind;
  PublicationPlan plan;
  plan.steps.push_back({Kind::write, 0, false, std::move(ending.body)});
  plan.steps.push_back({Kind::write, 0, true, {}});
  plan.steps.back().pieces.push_back(std::move(ending.head));
  plan.steps.push_back({Kind::publish, 0, true, {}});
  return plan;
}

}  // namespace

Hdf5Format::Hdf5Format(const Config& config, FileSystem& files, Options options)
    : config_(config), files_(files), options_(std::move(options)), template_(config) {
  rehearse();
}

Hdf5Format::~Hdf5Format() = default;

Status Hdf5Format::check_usable() { return LibraryLock::check_usable(); }

std::string Hdf5Format::path_on(size_t device, int64_t iteration) const {
  return config_.storage.paths[device] + "/" + file_name_of(config_, options_.client, iteration);
}

StoredAs Hdf5Format::stored(const Block& block) const {
  TAILRACE_REQUIRE(block.layout != nullptr);
  return stored_as(variable_of(block), *block.layout, config_.storage.file_per, block.source);
}

// Makes an image that is discarded: HDF5's initialisation on first use, some milliseconds, belongs to opening, not to
// the first iteration. If it fails, the first iteration fails too, and reports it.
void Hdf5Format::rehearse() {
  IterationPlan plan(config_, config_.name);
  if (!config_.variables.empty()) {
    const Variable& variable = config_.variables[0];
    const Block block{0, 0, options_.client, std::make_shared<const Layout>(config_.layout_of(variable))};
    const bool in_chunks = is_in_chunks(variable, *block.layout);
    if (in_chunks) {
      const FilteredChunk chunk{plan_of(variable, *block.layout).stored_chunk_bytes(), 0};
      (void)plan.place_chunks(block, 0, {&chunk, 1}, {});
    } else {
      (void)plan.place(block);
    }
  }
  (void)make_image(config_, {}, 0, plan, config_.name);
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
  for (uint32_t device = 0; devices > 1 && device < devices; ++device) {
    const std::string path = path_on(device, iteration);
    if (exists(path) || exists(path + ".part")) return device;
  }
  return next_device_++ % devices;
}

Hdf5Format::Record& Hdf5Format::begin(int64_t iteration) {
  const auto found = records_.find(iteration);
  if (found != records_.end() && !found->second.finished) return found->second;
  Record record;
  FileNames names;
  names.device = device_for(iteration);
  names.directory = config_.storage.paths[names.device];
  names.final_path = path_on(names.device, iteration);
  names.temporary = names.final_path + ".part";
  record.date = options_.date();
  record.plan = std::make_shared<IterationPlan>(config_, names.temporary);
  record.files.push_back(std::move(names));
  return records_[iteration] = std::move(record);
}

Result<Placement> Hdf5Format::place(const Block& block) {
  return in_the_file(begin(block.iteration).plan->place(block));
}

Result<Placement> Hdf5Format::place_chunks(const Block& block, uint64_t first, std::span<const FilteredChunk> chunks,
                                           const Loss& loss) {
  return in_the_file(begin(block.iteration).plan->place_chunks(block, first, chunks, loss));
}

Status Hdf5Format::note_event(int64_t iteration, const std::string& event) {
  begin(iteration).plan->note_event(event);
  return {};
}

Status Hdf5Format::note_attribute(const AttributeNote& note) {
  IterationPlan& plan = *begin(note.iteration).plan;
  return plan.note_attribute(note.block ? stored(*note.block).name : "", note.client, note.attribute);
}

Status Hdf5Format::note_finding(int64_t iteration, const std::string& name, const FindingValue& value) {
  TAILRACE_REQUIRE(begun(iteration));
  return records_[iteration].plan->note_finding(name, value);
}

bool Hdf5Format::published(int64_t iteration) const {
  bool found = false;
  for (size_t device = 0; device < config_.storage.paths.size(); ++device) {
    const std::string path = path_on(device, iteration);
    const Result<NameFacts> part = files_.stat(path + ".part");
    const Result<NameFacts> whole = files_.stat(path);
    if (part.ok() && !(whole.ok() && part.value().is_same_file(whole.value()))) return false;
    found = found || (whole.ok() && whole.value().own);
  }
  return found;
}

bool Hdf5Format::begun(int64_t iteration) const {
  const auto found = records_.find(iteration);
  return found != records_.end() && !found->second.finished;
}

void Hdf5Format::note_missing(int64_t iteration, const std::vector<int>& clients, uint32_t unnamed) {
  TAILRACE_REQUIRE(begun(iteration));
  records_[iteration].plan->note_missing(clients, unnamed);
}

Result<PublicationPlan> Hdf5Format::finish(int64_t iteration) {
  const auto found = records_.find(iteration);
  TAILRACE_REQUIRE(found != records_.end());
  Record& record = found->second;
  TAILRACE_REQUIRE(!record.finished);
  Provenance provenance{
      series_of(config_, options_.client) + "_%06T", options_.machine, record.date, options_.run, {}, {}};
  if (config_.storage.file_per == FilePer::process) provenance.client = options_.client;
  if (config_.storage.file_per == FilePer::node) provenance.node = config_.place.node;
  Result<FileEnding> ending = template_.complete(provenance, iteration, record.plan, record.files[0].temporary);
  record.finished = true;
  remember(iteration, record);
  if (!ending.ok()) return ending.status();
  return plan_to_publish(std::move(ending).value());
}

// Remembers a finished iteration, and forgets earlier ones beyond the limits.
void Hdf5Format::remember(int64_t iteration, Record& record) {
  for (const auto& [name, dataset] : record.plan->datasets()) {
    record.parts += 1 + dataset.stored.chunks.size() + dataset.stored.blocks.size();
  }
  finished_.push_back(iteration);
  parts_ += record.parts;
  while (finished_.size() > kRemembered || parts_ > kPartsRemembered) {
    const auto oldest = records_.find(finished_.front());
    finished_.pop_front();
    if (oldest == records_.end()) continue;
    parts_ -= oldest->second.parts;
    records_.erase(oldest);
  }
}

void Hdf5Format::discard(int64_t iteration) {
  const auto found = records_.find(iteration);
  if (found == records_.end()) return;
  parts_ -= found->second.parts;
  records_.erase(found);
}

Result<Located> Hdf5Format::locate(const Block& block) {
  TAILRACE_REQUIRE(!is_in_chunks(variable_of(block), *block.layout));
  const auto dataset = remembered(block);
  if (!dataset.ok()) return dataset.status();
  if (!dataset.value()) return look_up(block);
  const uint64_t begin = dataset.value()->extent.offset;
  return Located{files(block.iteration)[0].final_path, 0, extents_of(*block.layout, stored(block), begin)};
}

Result<LocatedChunks> Hdf5Format::locate_chunks(const Block& block) {
  TAILRACE_REQUIRE(is_in_chunks(variable_of(block), *block.layout));
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
                                                variable_of(block).name, block.iteration));
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
  const FilterPlan plan = plan_of(variable_of(block), *block.layout);
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
