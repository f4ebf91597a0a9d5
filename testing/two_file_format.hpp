// TwoFileFormat: a format as small as possible and unlike HDF5. An iteration has two files: the bytes of its blocks,
// side by side as they come, and a text index, published last, with a line for each block:
//
//   <variable> <source> <offset> <length>
//
// It filters nothing, and reads nothing of an earlier run.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "format/format.hpp"
#include "model/config/config.hpp"

namespace tailrace::impl {

class TwoFileFormat final : public Format {
 public:
  static constexpr uint32_t kData = 0;
  static constexpr uint32_t kIndex = 1;

  // `config` must outlive the format.
  explicit TwoFileFormat(const Config& config) : config_(config) {}

  static std::string path(const Config& config, int64_t iteration, uint32_t file) {
    return fmt::format("{}/{}_{:06}.{}", config.storage.paths[0], config.name, iteration,
                       file == kData ? "data" : "index");
  }

  std::optional<FileNames> published(int64_t) const override { return std::nullopt; }
  bool begun(int64_t iteration) const override {
    return records_.contains(iteration) && !records_.at(iteration).ended;
  }
  const std::vector<FileNames>& files(int64_t iteration) const override { return records_.at(iteration).files; }

  Result<Placement> place(const Block& block) override {
    Record& record = begin(block.iteration);
    const Key key{block.variable, block.source};
    const uint64_t length = block.layout->bytes();
    if (!record.blocks.contains(key)) {
      record.blocks[key] = {record.end, length};
      record.end += length;
    }
    return Placement{kData, length == 0 ? std::vector<Extent>{} : std::vector<Extent>{record.blocks[key]}};
  }
  Result<Placement> place_chunks(const Block&, uint64_t, std::span<const FilteredChunk>, const Loss&) override {
    return Status(TAILRACE_UNSUPPORTED, "this format has no filters");
  }
  Status note_event(int64_t iteration, const std::string& event) override {
    begin(iteration).notes += "event " + event + "\n";
    return {};
  }
  Status note_attribute(const AttributeNote& note) override {
    begin(note.iteration).notes += "attribute " + note.attribute.first + " " + text_of(note.attribute.second) + "\n";
    return {};
  }
  Status note_finding(int64_t, const std::string&, const std::string&, const FindingValue&) override { return {}; }
  void note_missing(int64_t iteration, const std::vector<int>&, uint32_t) override {
    begin(iteration).notes += "incomplete\n";
  }

  Result<PublicationPlan> finish(int64_t iteration) override {
    using Kind = PublicationStep::Kind;
    Record& record = records_.at(iteration);
    std::string text = record.notes;
    for (const auto& [key, extent] : record.blocks) {
      text +=
          fmt::format("{} {} {} {}\n", config_.variables[key.first].name, key.second, extent.offset, extent.length);
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    PublicationPlan plan;
    plan.steps.push_back({Kind::publish, kData, true, {}});
    plan.steps.push_back({Kind::write, kIndex, false, {{0, std::vector<std::byte>(bytes, bytes + text.size())}}});
    plan.steps.push_back({Kind::publish, kIndex, true, {}});
    record.ended = true;
    return plan;
  }
  void ended(int64_t, bool) override {}
  void discard(int64_t iteration) override { records_.erase(iteration); }

  Result<Located> locate(const Block& block) override {
    const auto record = records_.find(block.iteration);
    const Status none(TAILRACE_NOT_FOUND, "read: there is no such block");
    if (record == records_.end()) return none;
    const auto found = record->second.blocks.find({block.variable, block.source});
    if (found == record->second.blocks.end()) return none;
    return Located{record->second.files[kData].final_path, kData, {found->second}};
  }
  Result<LocatedChunks> locate_chunks(const Block&) override {
    return Status(TAILRACE_UNSUPPORTED, "this format has no filters");
  }
  void forget(const Block& block, const Status&) override {
    records_[block.iteration].blocks.erase({block.variable, block.source});
  }

 private:
  using Key = std::pair<uint32_t, int>;
  struct Record {
    std::vector<FileNames> files;
    std::map<Key, Extent> blocks;
    uint64_t end = 0;
    std::string notes;
    bool ended = false;
  };

  Record& begin(int64_t iteration) {
    Record& record = records_[iteration];
    for (uint32_t file = 0; record.files.size() < 2; ++file) {
      const std::string final_path = path(config_, iteration, file);
      record.files.push_back({final_path + ".part", final_path, config_.storage.paths[0], 0});
    }
    return record;
  }

  const Config& config_;
  std::map<int64_t, Record> records_;
};

}  // namespace tailrace::impl
