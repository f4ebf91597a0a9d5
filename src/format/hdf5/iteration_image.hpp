// The image of an iteration's HDF5 file: its metadata, as the HDF5 library lays them out around the planned raw data.
//
// openPMD 1.1, file-based: /data/<iteration>/meshes/<variable>, one dataset a variable (docs/formats/output.md).
// Plain datasets are contiguous, filtered ones have chunks. Raw data do not pass through HDF5: it asks the image
// driver for their space, which answers with the place that the plan has given them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "format/format.hpp"
#include "format/hdf5/iteration_plan.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

// The description of origin that every file has beside its data.
struct Provenance {
  std::string series;         // openPMD's iterationFormat: the file name with %06T
  std::string machine;        // host name
  std::string date;           // "2026-11-21 21:00:00 +0000"
  std::string run;            // of the run that writes it, a UUID; empty: none is recorded
  std::optional<int> client;  // of a file a process
  std::optional<int> node;    // of a file a node
};

// The bytes that complete a file. `head` is written last, after everything else: without it no reader takes the file
// for HDF5.
struct FileEnding {
  std::vector<MetadataPiece> body;
  MetadataPiece head;
};

// Makes the metadata of the file that `plan` describes. Takes LibraryLock. `path` is for messages. Fails with
// TAILRACE_INTERNAL if HDF5 refuses something.
Result<FileEnding> make_image(const Config& config, const Provenance& provenance, int64_t iteration,
                              const IterationPlan& plan, const std::string& path);

}  // namespace tailrace::impl
