// The command line, by CLI11. See the header.
#include "lab/mpiio/options.hpp"

#include <algorithm>
#include <charconv>

#include "lab/pattern/command_line.hpp"
#include "lab/pattern/compute/compute_worker.hpp"

namespace bench::mpiio {
namespace {

const Words<Pattern> kPatterns = {{"contiguous", Pattern::contiguous},
                                  {"strided", Pattern::strided},
                                  {"tile", Pattern::tile},
                                  {"bt", Pattern::bt},
                                  {"flash", Pattern::flash},
                                  {"bricks", Pattern::bricks},
                                  {"extents", Pattern::extents}};

const Words<Call> kCalls = {{"write", Call::write},
                            {"write_all", Call::write_all},
                            {"write_at", Call::write_at},
                            {"write_at_all", Call::write_at_all},
                            {"iwrite", Call::iwrite},
                            {"iwrite_all", Call::iwrite_all},
                            {"iwrite_at", Call::iwrite_at},
                            {"iwrite_at_all", Call::iwrite_at_all},
                            {"write_all_begin", Call::write_all_begin},
                            {"write_at_all_begin", Call::write_at_all_begin}};

// The edges of BT's grids in the NAS Parallel Benchmarks.
const Words<uint64_t> kClasses = {{"S", 12}, {"W", 24}, {"A", 64}, {"B", 102}, {"C", 162}, {"D", 408}};

void set_compute(Options& options, const std::string& text) {
  options.compute_auto = text == "auto";
  if (options.compute_auto) return;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), options.compute);
  if (error != std::errc{} || end != text.data() + text.size() || !(options.compute >= 0)) {
    throw UsageError("--compute: found '" + text + "', expected seconds, or auto");
  }
}

void add_hint(Options& options, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UsageError("--hint: found '" + text + "', expected KEY=VALUE");
  }
  options.hints.emplace_back(text.substr(0, equals), text.substr(equals + 1));
}

void require_sane(const Options& options) {
  const Shape& shape = options.shape;
  if (shape.piece == 0 || shape.piece % 4 != 0) throw UsageError("--piece: expected a whole number of 4-byte words");
  const std::vector<std::string>& kernels = kernel_names();
  if (std::find(kernels.begin(), kernels.end(), options.kernel) == kernels.end()) {
    throw UsageError("--kernel: found '" + options.kernel + "', expected " + listed(kernels));
  }
}

void add_shape(CLI::App& app, Shape& shape) {
  add_words(app, "--pattern", shape.pattern, kPatterns, "what is written");
  app.add_option("--bytes", shape.bytes, "bytes of an iteration of all ranks; rounded by some patterns")
      ->check(CLI::PositiveNumber);
  app.add_option("--piece", shape.piece, "bytes of a piece (strided), an element (tile), or an extent (extents)");
  app.add_option("--points", shape.points, "bt: edge of the cube, instead of --bytes");
  add_words(app, "--class", shape.points, kClasses, "bt: the edge of that class of the NAS Parallel Benchmarks");
  app.add_option("--extents", shape.extents, "extents of each rank")->check(CLI::PositiveNumber);
  app.add_option("--seed", shape.seed, "of bricks and extents");
}

}  // namespace

Options parse_options(int argc, char** argv) {
  CLI::App app{"Writes one pattern by MPI-IO in one way, and may read it. Its first rank prints one JSON document.",
               "mpiio_bench"};
  Options options;
  app.add_option("--file", options.file, "the file to write")->required();
  add_shape(app, options.shape);
  add_words(app, "--call", options.call, kCalls, "the call that writes");
  app.add_option("--iterations", options.iterations, "each writes its own part of the file")
      ->check(CLI::PositiveNumber);
  app.add_option_function<std::string>(
      "--compute", [&options](const std::string& text) { set_compute(options, text); },
      "seconds of computing after each write, or auto: as long as a synchronous write takes");
  app.add_option("--compute-reading", options.compute_reading,
                 "read by the nonblocking call, and compute for these seconds meanwhile")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--tests", options.tests, "calls of MPI_Test while a rank computes")->check(CLI::NonNegativeNumber);
  app.add_option("--kernel", options.kernel, "the computation");
  app.add_option_function<std::vector<std::string>>(
      "--hint",
      [&options](const std::vector<std::string>& texts) {
        for (const std::string& text : texts) add_hint(options, text);
      },
      "KEY=VALUE for MPI_File_open; repeat it for several");
  app.add_option("--opens", options.opens, "first opens, writes and closes this many files of 1 KiB on each rank")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--sync", options.sync, "the data are on the device before the time ends");
  app.add_flag("--read", options.read, "then read everything from the device by read_all, and compare it");
  if (!parse(app, argc, argv)) return options;
  require_sane(options);
  options.asked = true;
  return options;
}

const char* name_of(Pattern pattern) { return word_for(kPatterns, pattern); }
const char* name_of(Call call) { return word_for(kCalls, call); }

}  // namespace bench::mpiio
