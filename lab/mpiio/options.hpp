// The options of mpiio_bench's command line.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bench::mpiio {

enum class Pattern { contiguous, strided, tile, bt, flash, bricks, extents };

enum class Call {
  write,
  write_all,
  write_at,
  write_at_all,
  iwrite,
  iwrite_all,
  iwrite_at,
  iwrite_at_all,
  write_all_begin,
  write_at_all_begin
};

struct Shape {
  Pattern pattern = Pattern::contiguous;
  uint64_t bytes = uint64_t{64} << 20;  // of an iteration of all ranks; patterns may round it
  uint64_t piece = 512;                 // strided: a piece; tile: an element; extents: an extent
  uint64_t points = 0;                  // bt: edge of the cube; 0: from `bytes`
  uint64_t extents = 1'000'000;         // of each rank
  uint64_t seed = 1;                    // bricks, extents
};

struct Options {
  std::string file;
  Shape shape;
  Call call = Call::write_all;
  int iterations = 4;
  double compute = 0;         // seconds after each write
  bool compute_auto = false;  // as long as a synchronous write takes
  // Seconds of computing while an iteration is read, by the nonblocking form of the call; negative: it is read by the
  // blocking one.
  double compute_reading = -1;
  int tests = 0;  // calls of MPI_Test while a rank computes
  std::string kernel = "busy";
  std::vector<std::pair<std::string, std::string>> hints;
  int opens = 0;  // small files that are opened, written and closed first
  bool sync = false;
  bool read = false;   // read what was written, from the device
  bool asked = false;  // there is something to run: no --help
};

// Throws bench::UsageError.
Options parse_options(int argc, char** argv);

const char* name_of(Pattern pattern);
const char* name_of(Call call);

}  // namespace bench::mpiio
