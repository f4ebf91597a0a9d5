// Options: the contents of the command line, checked.
//
// Only options.cpp uses CLI11. It reads no files; run.cpp opens the files that the options name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "output.hpp"
#include "raster.hpp"
#include "solver.hpp"
#include "source.hpp"

namespace tsunami {

enum class OutputKind { none, hdf5, tailrace };

struct GaugeOption {
  double x, y;
  std::string name;
};

struct Options {
  std::string topo;
  std::size_t refine = 1;
  std::optional<Region> region;
  double sea_level = 0;
  std::optional<Fault> fault;
  std::optional<Gaussian> gaussian;
  SolverOptions solver;

  long steps = 0;         // 0: until end_time
  double end_time = 0;    // s; 0: until steps
  long output_every = 0;  // steps; 0: a 16th of the run
  OutputKind output = OutputKind::tailrace;
  std::string directory = "out";
  Precision precision = Precision::float32;
  SyncMode sync = SyncMode::fdatasync;
  std::uint64_t budget_mib = 0;  // 0: twice the fields of one output
  std::string durability = "written";
  std::string backend = "auto";
  std::string place = "thread";
  std::vector<std::string> forward;  // addresses of forwarders
  std::string key;                   // their key file
  std::string file_per = "process";
  std::string compress = "none";
  std::string stored = "full";

  int processes = 1;
  double wait_limit = 600;  // s; for one wait for the other processes

  std::vector<GaugeOption> gauges;
  std::string json;
  bool trace = false;  // tailrace: leave statistics and a trace
  bool progress = false;
  bool quiet = false;
};

// Either the options, or the exit code with which the program should end now (after --help, or after an error that
// was reported on stderr).
struct ParsedOptions {
  std::optional<Options> options;
  int exit_code = 0;
};
ParsedOptions parse_options(int argc, char** argv);

const char* name_of(OutputKind kind);

}  // namespace tsunami
