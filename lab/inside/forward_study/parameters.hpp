// Parameters of the forwarding study: the machine, the program, and the schedulers' settings. Plain data.
//
// The defaults are those of the study (docs/forward-study.md says which were measured, which are from manuals, and
// which are assumed). They were chosen before the first run and not adapted to its results.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hpp"

namespace tailrace::impl::study {

inline constexpr uint64_t kKiB = 1024;
inline constexpr uint64_t kMiB = 1024 * kKiB;

struct DiskParameters {
  std::string name = "sata7200";
  // 7 200 rpm (Seagate Constellation ES.3, product manual, 2012: average rotational latency 4.16 ms).
  Nanoseconds half_turn = std::chrono::microseconds(4160);
  // A seek takes settle + (full_stroke − settle)·√(distance / capacity). The square root is that of short seeks in
  // Ruemmler and Wilkes, "An introduction to disk drive modeling", 1994. With these numbers the average over random
  // pairs (8/15 of the way from settle to full stroke) is 8.5 ms, usual for disks of this class.
  Nanoseconds settle = std::chrono::microseconds(600);
  Nanoseconds full_stroke = std::chrono::microseconds(15'400);
  uint64_t capacity = 2'000'000'000'000;  // bytes
  // Bytes a second. The manual gives 83 to 175 MB/s, from the innermost to the outermost zone.
  double rate = 150e6;
  // Per request: controller and driver. The manual of Seagate's Savvio 10K.4 has 0.2 ms for a command that comes
  // alone; half of it is assumed to overlap with the one before.
  Nanoseconds overhead = std::chrono::microseconds(100);
  // A gap that the head reaches by waiting costs the time that the gap takes to pass below it, if that is less.
  bool passes_gaps = true;
};

struct ServerParameters {
  uint32_t count = 4;           // the paper's
  uint64_t stripe = 64 * kKiB;  // PVFS's default strip size
  uint32_t width = 0;           // servers that a file lies on; 0: all
  uint32_t reorder = 1;         // requests of which the disk takes the next one upwards; 1: as they came
  Nanoseconds request{0};       // time a request takes on the server's processor before it queues for the disk
};

struct NetworkParameters {
  // One way between two kernels by TCP over 10 GbE, and the useful part of 10 Gb/s.
  Nanoseconds latency = std::chrono::microseconds(30);
  double bandwidth = 1.17e9;  // bytes a second
  uint64_t header = 256;      // bytes of a message without data
};

struct ForwarderParameters {
  uint32_t count = 4;            // the paper's
  uint32_t depth = 8;            // transfers under way: tailrace's default (storage.queue_depth)
  uint64_t memory = 256 * kMiB;  // tailrace's default budget; also IOFSL's
  uint32_t quantum = 8;          // of hbrr: IOFSL's
  uint32_t batch = 16;           // of hbrr and twins: the paper's
  Nanoseconds message = std::chrono::microseconds(10);  // processor time for a message: assumed
  // The windows of each forwarder begin up to so much later than those of the first one. The paper's servers did not
  // coordinate their clocks at all.
  Nanoseconds skew{0};
};

enum class Pattern : uint8_t {
  strided,     // one file; request i of process p has place i·processes + p
  contiguous,  // one file, in which each process has a range
  files        // a file for each process
};

struct ProgramParameters {
  Pattern pattern = Pattern::strided;
  bool writes = false;
  uint32_t clients = 128;                             // the paper's, like the next two
  uint32_t requests = 1024;                           // of each client
  uint64_t bytes = 32 * kKiB;                         // of each request
  uint32_t under_way = 1;                             // requests that a client has under way; 1: it waits for each
  Nanoseconds start = std::chrono::milliseconds(10);  // clients begin within so much time: assumed
  // Between the end of a request and the client's next one pass up to twice as much; on average this. Assumed.
  Nanoseconds think = std::chrono::microseconds(50);
};

struct Parameters {
  DiskParameters disk;
  ServerParameters servers;
  NetworkParameters network;
  ForwarderParameters forwarders;
  ProgramParameters program;

  uint64_t bytes() const { return program.bytes * program.requests * program.clients; }
};

enum class Kind : uint8_t { none, fifo, hbrr, twins, adaptive };

// One line of the result: how requests are forwarded, if they are.
struct Schedule {
  Kind kind = Kind::none;
  Nanoseconds window{0};  // of twins
};

// Returns the schedule's name for tables: "twins 8 ms".
std::string name_of(const Schedule& schedule);

// Returns a disk by name: "sata7200"; "sas10k", as the paper's servers had; or "flash", which seeks in no time. Empty
// name: there is none such.
DiskParameters disk_of(const std::string& name);

}  // namespace tailrace::impl::study
