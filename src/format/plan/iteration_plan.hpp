// IterationPlan: plans the contents of one iteration's file, and the places of its raw data, before HDF5 is involved.
//
// Each block gets its place when it comes: raw data lie one dataset or chunk behind the other, from kRawBegin on. The
// HDF5 library describes the whole plan at once, when the iteration ends (iteration_image.hpp). An open HDF5 file
// would take half a MiB and, while it describes datasets, some 20 KiB for each; a plan takes a few hundred bytes per
// dataset. Pure: no HDF5, no I/O. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/format.hpp"
#include "format/openpmd/patch.hpp"
#include "format/plan/array_places.hpp"
#include "format/plan/stored_as.hpp"
#include "model/config/config.hpp"

namespace tailrace::impl {

// HDF5 allocates metadata in blocks of this size: the first at the start of the file, the others behind the raw data.
inline constexpr uint64_t kMetadataBlock = uint64_t{32} << 10;
inline constexpr uint64_t kRawBegin = kMetadataBlock;

class IterationPlan {
 public:
  static constexpr size_t kMostEvents = 65536;  // 2 MiB of names at most

  // A dataset that has at least one block or chunk.
  struct Dataset {
    uint32_t variable = 0;
    int client = 0;                       // client of the first block
    std::shared_ptr<const Layout> block;  // layout of the first block
    bool in_chunks = false;               // filtered; stored.chunks has an entry for each possible chunk
    bool shared = false;
    StoredDataset stored;
    Loss loss;  // for a dataset in chunks
  };
  using Datasets = std::map<std::string, Dataset>;  // by name
  // An attribute's value, and the client that set it.
  struct Noted {
    AttributeValue value;
    int client = 0;
  };
  using Attributes = std::map<std::string, Noted>;  // by name

  // `config` outlives the plan. `path` is for messages. `begin`: of the space for raw data.
  IterationPlan(const Config& config, std::string path, uint64_t begin = kRawBegin);
  // Makes the plan of a file that several nodes write: the first block brings the layouts from which the places of
  // all datasets follow.
  static IterationPlan of_nodes(const Config& config, std::string path);

  // See Format. Fails with TAILRACE_WRONG_SHAPE if the block's dataset has another shape or place.
  Result<std::vector<Extent>> place(const Block& block);
  Result<std::vector<Extent>> place_chunks(const Block& block, uint64_t first, std::span<const FilteredChunk> chunks,
                                           const Loss& loss);
  // Notes a block of a shared dataset that begins at `begin`.
  void note_block(const Block& block, uint64_t begin);
  // Records the first kMostEvents events, and counts the others.
  void note_event(const std::string& event);
  // `dataset`: the one that it belongs to; empty: it belongs to the iteration.
  Status note_attribute(const std::string& dataset, int client, const Attribute& attribute);
  // See Format.
  Status note_finding(const std::string& by, const std::string& name, const FindingValue& value);
  void note_missing(const std::vector<int>& clients, uint32_t unnamed);

  // Returns how the dataset is stored. Borrows the dataset's layout.
  StoredAs stored_as(const Dataset& dataset) const;
  const Datasets& datasets() const { return datasets_; }
  const std::vector<std::string>& events() const { return events_; }
  uint64_t events_not_listed() const { return events_not_listed_; }
  const std::map<std::string, FindingValue>& findings() const { return findings_; }
  // Return the time and step that clients have given, and the other attributes of the iteration.
  const Attributes& times() const { return times_; }
  const Attributes& attributes() const { return attributes_; }
  // Returns the attributes of each dataset; it need not have a block.
  const std::map<std::string, Attributes>& dataset_attributes() const { return dataset_attributes_; }
  // Returns the patches of each species, by its name in the file.
  const std::map<std::string, ParticlePatches>& patches() const { return patches_; }
  // Return the iteration's time, and the step to the next one.
  double time(int64_t iteration) const;
  double step() const;
  const std::vector<uint64_t>& missing() const { return missing_; }
  uint32_t missing_unnamed() const { return missing_unnamed_; }

  // Returns the end of the space for raw data, from the start of the file.
  uint64_t raw_end() const { return raw_end_; }
  // Returns the end of the last raw data that came. It may be less than raw_end(): the last part of a shared dataset
  // may never come, and a chunk that comes again may be shorter.
  uint64_t reached() const;
  // Returns how many datasets, chunks and blocks of shared datasets it has: what its memory grows with.
  size_t parts() const { return parts_; }
  // Returns true if a dataset is shared.
  bool has_shared() const { return has_shared_; }

 private:
  Result<Dataset*> dataset_of(const Block& block, const StoredAs& as);
  Result<Extent> space_for(const Block& block, const StoredAs& as);
  void note_place(const Block& block, Dataset& to);
  Dataset& add(Datasets::iterator before, const std::string& name, Dataset dataset);
  void note_patch(const Block& block, const StoredAs& as);
  Status check_place(const StoredAs& as, const Dataset& before) const;
  uint64_t allocate(uint64_t bytes);

  const Config& config_;
  const std::string path_;
  bool of_nodes_ = false;
  std::optional<ArrayPlaces> places_;  // of a file that several nodes write, from its first block on
  Datasets datasets_;
  std::vector<std::string> events_;
  uint64_t events_not_listed_ = 0;
  std::map<std::string, FindingValue> findings_;
  std::map<std::string, std::string> found_by_;  // for each of findings_
  std::map<std::string, ParticlePatches> patches_;
  Attributes times_;  // of the iteration: time and step
  Attributes attributes_;
  std::map<std::string, Attributes> dataset_attributes_;
  std::vector<uint64_t> missing_;  // clients
  uint32_t missing_unnamed_ = 0;
  uint64_t raw_end_;
  uint64_t reached_ = 0;  // end of the last block that came, of those that are not in chunks
  size_t parts_ = 0;
  bool has_chunks_ = false;
  bool has_shared_ = false;
};

}  // namespace tailrace::impl
