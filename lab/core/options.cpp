// The command line, by CLI11. See the header.
#include "lab/core/options.hpp"

#include "lab/pattern/command_line.hpp"

namespace bench::core {
namespace {

constexpr uint64_t kPage = 4096;  // unit of transfers that bypass the page cache
constexpr uint64_t kMostBytes = uint64_t{1} << 31;

const Words<WayKind> kWays = {{"memory", WayKind::memory},
                              {"posix", WayKind::posix},
                              {"hdf5", WayKind::hdf5},
                              {"thread", WayKind::thread},
                              {"core", WayKind::core}};
const Words<WayKind> kPlaces = {{"thread", WayKind::thread}, {"core", WayKind::core}};
const Words<HandOver> kVerbs = {{"write", HandOver::write}, {"alloc", HandOver::alloc}, {"borrow", HandOver::borrow}};
const Words<Compress> kCompress = {
    {"none", Compress::none}, {"zstd", Compress::zstd}, {"float16", Compress::float16}};

void add_dir(CLI::App& command, std::string& dir) {
  command.add_option("--dir", dir, "an empty directory to write into")->required();
}

void add_bytes(CLI::App& command, uint64_t& bytes) {
  command.add_option("--bytes", bytes, "size of a block, a multiple of 4096")->check([](const std::string& text) {
    const uint64_t found = std::strtoull(text.c_str(), nullptr, 10);
    if (found > 0 && found <= kMostBytes && found % kPage == 0) return std::string();
    return "found '" + text + "', expected a multiple of 4096 up to 2147483648";
  });
}

void add_shape(CLI::App& command, int& processes, int& iterations) {
  command.add_option("--processes", processes, "that write")->check(CLI::Range(1, 1024));
  command.add_option("--iterations", iterations, "with output")->check(CLI::Range(1, 999999));
}

CLI::App* add_copy(CLI::App& app, CopyOptions& copy) {
  CLI::App* const command = app.add_subcommand("copy", "write in place core beside a memcpy of the same bytes");
  add_dir(*command, copy.dir);
  add_bytes(*command, copy.bytes);
  command->add_option("--count", copy.count, "rounds")->check(CLI::Range(1, 10000));
  return command;
}

CLI::App* add_calls(CLI::App& app, CallsOptions& calls) {
  CLI::App* const command = app.add_subcommand("calls", "alloc, commit and signal, the server asleep and busy");
  add_dir(*command, calls.dir);
  command->add_option("--count", calls.count, "number of each call")->check(CLI::Range(1, 100000));
  return command;
}

CLI::App* add_run(CLI::App& app, RunOptions& run) {
  CLI::App* const command = app.add_subcommand("run", "processes that compute and write in turn");
  add_dir(*command, run.dir);
  add_bytes(*command, run.bytes);
  add_shape(*command, run.processes, run.iterations);
  add_words(*command, "--way", run.way, kWays, "how it writes");
  add_words(*command, "--verb", run.verb, kVerbs, "places thread and core: how it hands a block over");
  add_words(*command, "--compress", run.compress, kCompress, "compression of its blocks");
  command->add_flag("!--no-adaptive", run.adaptive, "never leave out filters");
  command->add_option("--budget", run.budget, "budget of each client, in blocks")->check(CLI::Range(1, 1024));
  command->add_option("--passes", run.passes, "computed before each output")->check(CLI::Range(0, 1 << 30));
  command->add_flag("--flush", run.flush, "wait until each iteration is written");
  command->add_flag("--leave-cpu", run.leave_cpu, "leave the last cpu to the server");
  command->add_flag("--file-per-node", run.file_per_node, "place core: one file for all processes");
  return command;
}

CLI::App* add_opening(CLI::App& app, OpeningOptions& opening) {
  CLI::App* const command = app.add_subcommand("open", "open, and the first hand-overs after it");
  add_dir(*command, opening.dir);
  add_bytes(*command, opening.bytes);
  add_words(*command, "--way", opening.way, kPlaces, "the place");
  command->add_flag("--beside", opening.beside, "another client is open, so that the server is there");
  command->add_option("--budget", opening.budget, "budget of the client, in bytes")
      ->check(CLI::Range(kPage, kMostBytes));
  command->add_option("--iterations", opening.iterations, "with output")->check(CLI::Range(2, 10000));
  command->add_option("--compute", opening.compute, "seconds before each output")->check(CLI::Range(0.0, 60.0));
  return command;
}

CLI::App* add_verify(CLI::App& app, VerifyOptions& verify) {
  CLI::App* const command = app.add_subcommand("verify", "compares a run's files, of one process each, bit by bit");
  add_dir(*command, verify.dir);
  add_bytes(*command, verify.bytes);
  add_shape(*command, verify.processes, verify.iterations);
  return command;
}

void check(const RunOptions& run) {
  if ((run.way == WayKind::posix || run.way == WayKind::memory) && run.compress != Compress::none) {
    throw UsageError("--way " + std::string(name_of(run.way)) + ": found --compress " +
                     std::string(name_of(run.compress)) + ", expected none: it writes bytes as they are");
  }
  if (run.way == WayKind::hdf5 && run.compress == Compress::float16) {
    throw UsageError("--way hdf5: found --compress float16, expected none or zstd");
  }
  if (run.verb != HandOver::write && run.way != WayKind::thread && run.way != WayKind::core) {
    throw UsageError("--verb " + std::string(name_of(run.verb)) + ": found --way " + std::string(name_of(run.way)) +
                     ", expected thread or core");
  }
  if (run.file_per_node && run.way != WayKind::core) {
    throw UsageError("--file-per-node: found --way " + std::string(name_of(run.way)) + ", expected core");
  }
}

}  // namespace

Options parse_options(int argc, char** argv) {
  CLI::App app{"What place core costs a program. Prints one JSON document.", "core_bench"};
  app.require_subcommand(1);
  CopyOptions copy;
  CallsOptions calls;
  RunOptions run;
  OpeningOptions opening;
  VerifyOptions verify;
  const CLI::App* const copy_command = add_copy(app, copy);
  const CLI::App* const calls_command = add_calls(app, calls);
  const CLI::App* const run_command = add_run(app, run);
  const CLI::App* const opening_command = add_opening(app, opening);
  const CLI::App* const verify_command = add_verify(app, verify);
  if (!parse(app, argc, argv)) return {};
  Options options;
  if (*copy_command) options.copy = copy;
  if (*calls_command) options.calls = calls;
  if (*opening_command) options.opening = opening;
  if (*verify_command) options.verify = verify;
  if (*run_command) {
    check(run);
    options.run = run;
  }
  return options;
}

const char* name_of(WayKind way) { return word_for(kWays, way); }
const char* name_of(HandOver verb) { return word_for(kVerbs, verb); }
const char* name_of(Compress compress) { return word_for(kCompress, compress); }

}  // namespace bench::core
