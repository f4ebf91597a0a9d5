// The options of core_bench's command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bench::core {

struct CopyOptions {
  std::string dir;
  uint64_t bytes = uint64_t{64} << 20;
  int count = 20;
};

struct CallsOptions {
  std::string dir;
  int count = 400;  // of each call, in each state of the server
};

enum class WayKind { memory, posix, hdf5, thread, core };
enum class HandOver { write, alloc, borrow };  // the verb of tailrace by which a block is handed over
enum class Compress { none, zstd, float16 };   // zstd with shuffle; float16: rounded first

struct RunOptions {
  std::string dir;
  WayKind way = WayKind::core;
  HandOver verb = HandOver::write;
  Compress compress = Compress::none;
  bool adaptive = true;
  int processes = 1;
  int iterations = 16;
  uint64_t bytes = uint64_t{16} << 20;  // of each process and iteration
  int budget = 4;                       // in blocks
  uint64_t passes = 1;                  // of the kernel `busy`, in each iteration
  bool flush = false;                   // after each iteration, included in its time
  bool leave_cpu = false;               // leave the last cpu to the server
  bool file_per_node = false;
};

struct OpeningOptions {
  std::string dir;
  WayKind way = WayKind::core;
  bool beside = false;  // run another client, so that the server exists already
  uint64_t bytes = uint64_t{64} << 20;
  uint64_t budget = uint64_t{256} << 20;  // bytes
  int iterations = 8;
  double compute = 0.2;  // seconds before each hand-over
};

struct VerifyOptions {
  std::string dir;
  int processes = 1;
  int iterations = 16;
  uint64_t bytes = uint64_t{16} << 20;
};

// One of them is set, or none after --help.
struct Options {
  std::optional<CopyOptions> copy;
  std::optional<CallsOptions> calls;
  std::optional<RunOptions> run;
  std::optional<OpeningOptions> opening;
  std::optional<VerifyOptions> verify;
};

// Throws bench::UsageError.
Options parse_options(int argc, char** argv);

const char* name_of(WayKind way);
const char* name_of(HandOver verb);
const char* name_of(Compress compress);

}  // namespace bench::core
