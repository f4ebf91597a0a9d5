// IterationImage: the metadata of an iteration's HDF5 file, as the HDF5 library lays them out around the planned raw
// data.
//
// openPMD 1.1, file-based: /data/<iteration>/meshes/<variable>, one dataset per variable (docs/formats/output.md).
// Plain datasets are contiguous, filtered ones have chunks. Raw data do not pass through HDF5: it asks the image
// driver for their space, and the driver returns the place that the plan has assigned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "format/format.hpp"
#include "format/plan/iteration_plan.hpp"
#include "model/config/config.hpp"

namespace tailrace::impl {

// The origin of a file, recorded beside its data.
struct Provenance {
  std::string series;         // openPMD's iterationFormat: the file name with %06T
  std::string machine;        // host name
  std::string date;           // "2026-11-21 21:00:00 +0000"
  std::string run;            // UUID of the run that writes it; empty: not recorded
  std::optional<int> client;  // for a file per process
  std::optional<int> node;    // for a file per node

  bool operator==(const Provenance&) const = default;
};

// The bytes that complete a file. `head` is written last: without it no reader takes the file for HDF5.
struct FileEnding {
  std::vector<MetadataPiece> body;
  MetadataPiece head;

  // Fills what was not written (format/plan/holes.hpp).
  void fill_holes(const Config& config, const IterationPlan& plan);
};

struct IterationImage {
  std::vector<MetadataPiece> pieces;  // in order; without the superblock
  MetadataPiece superblock;
  uint64_t written_end = 0;  // end of the bytes in them
  uint64_t file_end = 0;     // HDF5's end of allocation: the size that the file must have
  // True if the metadata begin at the page after the raw data, which may then end elsewhere in their last page.
  bool metadata_at_page = false;
  // Addresses of the object headers.
  uint64_t root = 0;
  uint64_t data = 0;               // of /data
  uint64_t iteration = 0;          // of /data/<iteration>
  std::vector<uint64_t> datasets;  // in the order of the plan

  // Returns the bytes that complete a file whose raw data end at `raw_reached`.
  FileEnding ending(uint64_t raw_reached) const;
  // Returns true if the image, made for raw data whose space ends at `raw_end`, would be the same for an end at
  // `other`.
  bool same_end(uint64_t raw_end, uint64_t other) const;
};

// Makes the metadata of the file described by `plan`. Takes LibraryLock. `path` is for messages. Fails with
// TAILRACE_INTERNAL if HDF5 fails.
Result<IterationImage> make_image(const Config& config, const Provenance& provenance, int64_t iteration,
                                  const IterationPlan& plan, const std::string& path);

}  // namespace tailrace::impl
