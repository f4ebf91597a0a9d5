// Output: the destination of the solver's fields. Three implementations of one interface, so that they can be
// compared.
//
// The program fills memory that the output provides, and returns it, one variable after the other; then it ends the
// iteration. So none of the three needs a copy of its own. output_none.cpp discards the fields, output_hdf5.cpp
// writes them before it returns, output_tailrace.cpp hands them to tailrace. They never pack or convert fields: see
// pack.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tsunami {

enum class Precision { float32, float64 };
enum class SyncMode { none, fdatasync, direct };

struct VariableSpec {
  std::string name;
  std::string unit;               // in the spelling of tailrace's configuration
  std::vector<double> dimension;  // powers of length, mass, time, current, temperature, amount, luminosity
  std::string description;
};

// The facts by which every output describes its files.
struct OutputSpec {
  std::string directory;
  std::string name = "tsunami";  // file names begin with it
  Precision precision = Precision::float32;
  int process = 0, processes = 1;         // this process's number, and the number of processes
  int processes_of_node = 1;              // number of these on this machine
  std::size_t nx = 0, ny = 0;             // of the block that this process writes
  std::size_t rows = 0, first_row = 0;    // of the whole array; row in it where the block begins
  double x0 = 0, y0 = 0, dx = 1, dy = 1;  // of the whole array
  bool degrees = true;                    // else metres
  double interval = 1;                    // seconds between iterations
  std::vector<VariableSpec> variables;

  SyncMode sync = SyncMode::fdatasync;  // hdf5
  std::uint64_t budget = 0;             // bytes; tailrace; equal in all processes, like all of its configuration
  std::string durability = "written";   // tailrace
  std::string backend = "auto";         // tailrace
  std::string place = "thread";         // tailrace
  std::vector<std::string> forward;     // tailrace: addresses of forwarders; empty: this node writes itself
  std::string key;                      // of the forwarders
  std::string file_per = "process";     // tailrace
  std::string compress = "none";        // tailrace
  std::string stored = "full";          // tailrace: the precision in files
  bool trace = false;                   // tailrace: leave statistics and a trace

  std::size_t bytes_per_field() const { return nx * ny * (precision == Precision::float32 ? 4 : 8); }
};

class Output {
 public:
  virtual ~Output() = default;

  // Returns memory for one field, spec.bytes_per_field() long; the caller fills it and returns it by put().
  virtual void* field(std::size_t variable, std::int64_t iteration) = 0;
  virtual void put(std::size_t variable, std::int64_t iteration) = 0;
  virtual void end_iteration(std::int64_t iteration) = 0;
  // Waits until all output has reached its destination. All of these throw Error.
  virtual void close() = 0;

  // Returns one line about the writer, for the report.
  virtual std::string description() const = 0;
  // Returns the files of all processes, in order. Those of tailrace may not be published before close().
  virtual std::vector<std::string> files() const = 0;
  // Counters for the report, by name; empty if there are none.
  using Counters = std::vector<std::pair<std::string, double>>;
  virtual Counters counters() { return {}; }
};

std::unique_ptr<Output> make_none_output(const OutputSpec& spec);
std::unique_ptr<Output> make_hdf5_output(const OutputSpec& spec);
std::unique_ptr<Output> make_tailrace_output(const OutputSpec& spec);

}  // namespace tsunami
