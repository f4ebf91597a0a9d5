#include "format/hdf5/hdf5_format.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "format/hdf5/inspect_file.hpp"
#include "format/hdf5/iteration_image.hpp"

namespace tailrace::impl {

Hdf5Format::Hdf5Format(const Config& config, Options options) : config_(config), options_(std::move(options)) {
  rehearse();
}

Hdf5Format::~Hdf5Format() = default;

std::string Hdf5Format::path_on(size_t device, int64_t iteration) const {
  return fmt::format("{}/{}_c{}_{:06}.h5", config_.storage.paths[device], config_.name, options_.client, iteration);
}

// Makes a file that nobody will see: what HDF5 sets up when it is first used, some milliseconds, belongs to opening,
// not to the first block. If it fails, so will the first block, which can tell.
void Hdf5Format::rehearse() {
  auto image = IterationImage::create(config_, {}, 0, config_.name);
  if (!image.ok()) return;
  if (!config_.variables.empty() && !image.value()->place(0).ok()) return;
  (void)image.value()->finish();
}

const FileNames& Hdf5Format::names(int64_t iteration) const {
  const auto found = records_.find(iteration);
  TAILRACE_REQUIRE(found != records_.end());
  return found->second.names;
}

// Where an earlier run has put the iteration's file, so that the new one replaces it; else the next in turn.
uint32_t Hdf5Format::device_for(int64_t iteration) {
  const auto devices = static_cast<uint32_t>(config_.storage.paths.size());
  for (uint32_t device = 0; devices > 1 && device < devices; ++device) {
    const std::string path = path_on(device, iteration);
    if (::access(path.c_str(), F_OK) == 0 || ::access((path + ".part").c_str(), F_OK) == 0) return device;
  }
  return next_device_++ % devices;
}

Result<Hdf5Format::Record*> Hdf5Format::begin(int64_t iteration) {
  const auto found = records_.find(iteration);
  if (found != records_.end() && found->second.image) return &found->second;
  Record record;
  record.names.device = device_for(iteration);
  record.names.directory = config_.storage.paths[record.names.device];
  record.names.final_path = path_on(record.names.device, iteration);
  record.names.temporary = record.names.final_path + ".part";
  const Provenance provenance{fmt::format("{}_c{}_%06T", config_.name, options_.client), options_.machine,
                              options_.date(), options_.client};
  auto image = IterationImage::create(config_, provenance, iteration, record.names.temporary);
  if (!image.ok()) return image.status();
  record.image = std::move(image).value();
  return &(records_[iteration] = std::move(record));
}

Result<Extent> Hdf5Format::place(const Block& block) {
  Result<Record*> record = begin(block.iteration);
  if (!record.ok()) return record.status();
  return record.value()->image->place(block.variable);
}

Status Hdf5Format::note_event(int64_t iteration, const std::string& event) {
  Result<Record*> record = begin(iteration);
  if (!record.ok()) return record.status();
  record.value()->image->note_event(event);
  return {};
}

Result<FileEnding> Hdf5Format::finish(int64_t iteration) {
  const auto found = records_.find(iteration);
  TAILRACE_REQUIRE(found != records_.end());
  Record& record = found->second;
  TAILRACE_REQUIRE(record.image != nullptr);
  Result<FileEnding> ending = record.image->finish();
  record.extents = record.image->extents();
  record.image.reset();
  finished_.push_back(iteration);
  if (finished_.size() > kRemembered) {
    records_.erase(finished_.front());
    finished_.pop_front();
  }
  return ending;
}

void Hdf5Format::discard(int64_t iteration) { records_.erase(iteration); }

Result<Located> Hdf5Format::locate(const Block& block) {
  const auto found = records_.find(block.iteration);
  if (found == records_.end()) return look_up(block);
  const Record& record = found->second;
  if (const auto lost = record.lost.find(block.variable); lost != record.lost.end()) return lost->second;
  const Extent extent = (record.image ? record.image->extents() : record.extents)[block.variable];
  if (extent.length == 0) {
    return Status(TAILRACE_NOT_FOUND, fmt::format("read: no block of '{}' was written in iteration {}",
                                                  config_.variables[block.variable].name, block.iteration));
  }
  return Located{record.names.final_path, extent};
}

// In the files of iterations that are not remembered, on whichever device they are.
Result<Located> Hdf5Format::look_up(const Block& block) const {
  const Variable& variable = config_.variables[block.variable];
  Status last;
  for (size_t device = 0; device < config_.storage.paths.size(); ++device) {
    const std::string path = path_on(device, block.iteration);
    const Result<Extent> extent =
        find_dataset(path, block.iteration, variable.name, config_.layout_of(variable).bytes());
    if (extent.ok()) return Located{path, extent.value()};
    if (last.ok() || last.code() == TAILRACE_NOT_FOUND) last = extent.status();
  }
  return last;
}

void Hdf5Format::forget(const Block& block, const Status& why) {
  const auto found = records_.find(block.iteration);
  if (found != records_.end()) found->second.lost[block.variable] = why;
}

}  // namespace tailrace::impl
