// The command line of `pattern`, as plain data.
//
// parse_options() builds it with CLI11 and rejects options that are unknown or do not go together; nothing else reads
// argv.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/pattern/compute/compute_worker.hpp"

namespace bench {

enum class Writer { none, sync, sync_hdf5, bare, posix_aio, tailrace };
enum class Verb { alloc, write, borrow };
enum class Buffers { pool, malloc, unaligned };
enum class Place { thread, core };
enum class Measure { regression, saturation, saturation_busy, saturation_write, write_copy, req, copy };

// The data to write: where, how much, and with which writer.
struct WriteOptions {
  Writer writer = Writer::none;
  Verb verb = Verb::alloc;
  Buffers buffers = Buffers::pool;
  Place place = Place::thread;    // for tailrace
  std::string pin = "auto";       // "auto", "none" or a list of cpus
  std::string throttle = "none";  // as the configuration has it
  std::string forward;            // address of a forwarder; "": none
  std::string key;                // the forwarder's key file
  bool direct = true;
  int iterations = 8;
  uint64_t bytes = uint64_t{8} << 20;  // in each iteration, all variables together
  int variables = 1;
  int arrays = 2;  // for borrow: of each variable, used in turn
  int queue_depth = 8;
  int budget = 3;  // in outputs of one iteration
  std::vector<std::string> directories = {"out/bench"};
  bool keep = false;

  uint64_t block_bytes() const { return bytes / static_cast<uint64_t>(variables); }
};

struct RunOptions {
  ComputeChoice compute;
  uint64_t passes = 1000;  // in each iteration
  WriteOptions write;
  std::string trace;  // "": none
};

struct CalibrateOptions {
  ComputeChoice compute;
  double seconds = 0.1;
};

struct MeasureOptions {
  Measure what = Measure::regression;
  int count = 16;
  ComputeChoice compute;  // for saturation_busy
  WriteOptions write;
};

// One of them is set, or none after --help.
struct Options {
  std::optional<RunOptions> run;
  std::optional<CalibrateOptions> calibrate;
  std::optional<MeasureOptions> measure;
};

// Throws UsageError.
Options parse_options(int argc, char** argv);

const char* name_of(Writer writer);
const char* name_of(Verb verb);
const char* name_of(Buffers buffers);
const char* name_of(Place place);
const char* name_of(Measure what);

}  // namespace bench
