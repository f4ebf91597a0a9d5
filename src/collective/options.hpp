// Options: the choices that a user has for a collective access.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tailrace::collective {

// An algorithm decides which process writes which part of the file. V. Venkatesan's dissertation describes them.
enum class Algorithm : uint8_t {
  automatic,   // dynamic where pieces of several processes are small and interleaved, else individual
  individual,  // each process writes its own bytes
  two_phase,   // each aggregator writes one contiguous part of the file, its file domain, for all processes
  dynamic,     // dynamic segmentation: processes whose data are neighbours form a group with aggregators of its own
  static_,     // static segmentation: as dynamic, but each process sends the same number of bytes in each cycle
};

// Returns the name that users give it: auto, individual, two_phase, dynamic or static.
constexpr const char* name_of(Algorithm algorithm) {
  constexpr const char* kNames[] = {"auto", "individual", "two_phase", "dynamic", "static"};
  return kNames[static_cast<size_t>(algorithm)];
}

struct Options {
  Algorithm algorithm = Algorithm::automatic;
  uint32_t aggregators = 0;                   // of all processes (cb_nodes); 0: one for each node
  uint32_t aggregators_per_group = 1;         // at least; in the segmentation algorithms
  uint64_t cycle_bytes = uint64_t{16} << 20;  // what an aggregator writes at once (cb_buffer_size)
  uint64_t large_piece = uint64_t{64} << 10;  // `automatic`: larger pieces are not exchanged, bytes
  uint64_t alignment = 1;                     // file domains begin at its multiples (striping_unit), bytes
};

}  // namespace tailrace::collective
