// FaultPlan: how the simulated disk misbehaves in one run; plain data, drawn from the seed. It also keeps the faults
// that occurred: every reported failure must have one of them as its cause.
#pragma once

#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "testing/simulation/split_dice.hpp"

namespace tailrace::impl::simulation {

enum class DiskCall : uint8_t { open, allocate, rename, remove, read, write, sync };
const char* name_of(DiskCall call);

// Fails calls of one kind: of those on paths that contain `path_contains`, `first` pass, then `times` fail.
struct HardFault {
  static constexpr uint64_t kForever = std::numeric_limits<uint64_t>::max();

  DiskCall call = DiskCall::write;
  std::string path_contains;
  uint64_t first = 0;
  uint64_t times = 1;
  int error = EIO;
  bool torn = false;  // a failing write leaves some of its sectors
};

struct FaultPlan {
  // Chances for each transfer. Everything that is retried succeeds in the end.
  uint32_t short_percent = 0;
  uint32_t eintr_percent = 0;
  uint32_t eagain_percent = 0;
  uint32_t nothing_percent = 0;        // 0 bytes written
  uint32_t refuse_direct_percent = 0;  // EINVAL for a direct transfer, as some file systems do after open
  // The engine's patience: transfers in a row without progress. If it is small, the engine may give up.
  uint32_t patience = 1000;
  bool impatient() const { return patience < 1000; }
  std::vector<HardFault> hard;
  uint64_t capacity = std::numeric_limits<uint64_t>::max();  // of the whole disk, in bytes
};

// A hard fault that occurred.
struct Cause {
  DiskCall call;
  std::string path;
  int error;

  // Returns true for a fault of a directory, or of the list of dropped iterations.
  bool is_of_all_iterations() const {
    return path.find(".h5") == std::string::npos && path.find(".raw") == std::string::npos;
  }
};

// The parts to leave out of a run, to reduce a failing one.
struct Without {
  bool transient = false;      // short transfers, EINTR, EAGAIN, refused O_DIRECT
  bool hard = false;           // EIO, ENOSPC, a full disk
  bool deaths = false;         // of clients: kill -9 and power cuts
  bool server_deaths = false;  // of a node's servers
  bool company = false;        // other clients than the first
  bool restarts = false;       // what comes after the first death
  bool delays = false;         // the disk takes no time
  bool node_files = false;     // files that a node's clients share
  bool raw_files = false;
  bool strangers = false;   // clients that never come, or belong to another run
  bool iterations = false;  // limits on unfinished iterations, and on descriptors
  bool arrays = false;      // other types, ranks and grids of arrays, and vectors
  bool filters = false;     // variables whose chunks the server filters
};

// Draws faults for files of `clients` clients that write iterations up to `iterations`.
FaultPlan draw_faults(SplitDice dice, uint32_t clients, uint32_t iterations, const Without& without);

}  // namespace tailrace::impl::simulation
