// A simulation to measure output with: n iterations of computing for a while and handing one block over.
//
// The work of one computation is fixed before (calibrated in passes over a small array), not its time: so output that
// disturbs the computation shows as a longer one. Every way to write moves the same bytes to the same storage, past
// the page cache.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

enum class Output {
  none,            // nothing is written
  sync_direct,     // the plainest good synchronous writer: fallocate, O_DIRECT in 8 MiB pieces, rename
  sync_hdf5,       // plain HDF5, contiguous dataset, then fdatasync: what a program does today
  tailrace_alloc,  // alloc/commit: no copy
  tailrace_write   // write: one copy
};
const char* name_of(Output output);

struct Work {
  uint64_t passes = 0;  // of the computation, per iteration
  uint64_t bytes = 0;   // of the block, per iteration
  int iterations = 0;
  std::string dir;  // emptied before and after
};

struct Run {
  double total = 0;          // seconds, from the first computation to the last byte written
  double computing = 0;      // seconds
  double waiting = 0;        // seconds in calls for output
  uint64_t memory_peak = 0;  // bytes of the budget; tailrace only
  // Bytes by which the process's resident memory grew, less the program's own buffer and the budget: what tailrace
  // holds beside its budget. tailrace only.
  int64_t resident_beside = 0;
};

Run run(const Work& work, Output output);

// Passes that compute for about `seconds`.
uint64_t calibrate(double seconds);

// Seconds of a memcpy of `bytes` between two buffers that have been touched before; the median of several.
double warm_memcpy(uint64_t bytes);

}  // namespace bench
