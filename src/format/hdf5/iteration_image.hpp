// IterationImage: the HDF5 file of one iteration while it is being written: its metadata in memory, its raw data not.
//
// openPMD 1.1, file-based: /data/<iteration>/meshes/<variable>, one dataset a variable, created when its first block
// comes, never filled, aligned to pages (docs/formats/output.md). Plain ones are contiguous and allocated when they
// are created, filtered ones have chunks that are allocated one by one, when their sizes are known.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/format.hpp"
#include "format/hdf5/handle.hpp"
#include "format/hdf5/image_driver.hpp"
#include "format/hdf5/stored_as.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

// What is written into every file, beside the data.
struct Provenance {
  std::string series;         // openPMD's iterationFormat: the file name with %06T
  std::string machine;        // host name
  std::string date;           // "2026-11-21 21:00:00 +0000"
  std::string run;            // of the run that writes it, a UUID; empty: none is recorded
  std::optional<int> client;  // of a file a process
  std::optional<int> node;    // of a file a node
};

class IterationImage {
 public:
  static Result<std::unique_ptr<IterationImage>> create(const Config& config, const Provenance& provenance,
                                                        int64_t iteration, const std::string& path);
  ~IterationImage();

  // See Format: where a block of the variable goes, which is stored as said and has `block`'s layout. Fails with
  // TAILRACE_WRONG_SHAPE if there is a dataset of that name, with another shape or place.
  Result<std::vector<Extent>> place(const Variable& variable, const Layout& block, const StoredAs& as);
  Result<std::vector<Extent>> place_chunks(const Variable& variable, const StoredAs& as, uint64_t first,
                                           std::span<const FilteredChunk> chunks, const Loss& loss);
  void note_event(const std::string& event) { events_.push_back(event); }
  Status note_finding(const std::string& name, const FindingValue& value);
  void note_missing(const std::vector<int>& clients, uint32_t unnamed) {
    missing_.assign(clients.begin(), clients.end());
    missing_unnamed_ = unnamed;
  }
  Result<FileEnding> finish();

  // By name: those of which a block or a chunk came.
  std::map<std::string, StoredDataset> datasets() const;

 private:
  // A dataset that blocks are written into as they are.
  struct Contiguous {
    Layout layout;
    Extent extent;
    bool shared = false;
    uint64_t reached = 0;                       // bytes from its start to the end of the last block that came
    std::vector<std::vector<uint64_t>> blocks;  // of several clients: the place of each that came
    Handle dataset;                             // open if it is shared
  };

  // A filtered variable of which a chunk has come.
  struct Chunked {
    Layout layout;
    FilterPlan plan;
    Handle dataset;
    std::vector<PlacedChunk> chunks;
    Loss loss;
  };

  IterationImage(const Config& config, int64_t iteration, std::string path);
  Status begin(const Provenance& provenance);
  bool describe_root(const Provenance& provenance);
  bool describe_iteration();
  bool describe_mesh(hid_t dataset, const Variable& variable, const Layout& layout);
  Handle create_dataset(const Variable& variable, const StoredAs& as, hid_t type, const Handle& creation);
  Result<Contiguous*> contiguous(const Variable& variable, const StoredAs& as);
  Result<Chunked*> chunked(const Variable& variable, const StoredAs& as);
  bool describe_blocks();
  Result<PlacedChunk> place_chunk(const Chunked& chunked, uint64_t index, const FilteredChunk& chunk);
  bool describe_losses();
  static Status check_place(const StoredAs& as, const Layout& before);
  Status failed(const char* operation) const;

  const Config& config_;
  const int64_t iteration_;
  const std::string path_;
  FileImage image_;
  Handle file_;
  Handle group_;                                  // /data/<iteration>
  Handle meshes_;                                 // /data/<iteration>/meshes
  std::map<std::string, Contiguous> contiguous_;  // by name
  std::map<std::string, Chunked> chunked_;
  std::vector<std::string> events_;
  std::vector<uint64_t> missing_;  // clients
  uint32_t missing_unnamed_ = 0;   // clients beside them
};

}  // namespace tailrace::impl
