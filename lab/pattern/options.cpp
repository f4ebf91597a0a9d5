// The command line, by CLI11. See the header.
#include "lab/pattern/options.hpp"

#include <tailrace/tailrace.h>

#include "lab/pattern/command_line.hpp"
#include "lab/pattern/memory.hpp"

namespace bench {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 40;
constexpr uint64_t kSmallRequest = 4096;  // size of `measure req` by default

const Words<Writer> kWriters = {{"none", Writer::none},           {"sync", Writer::sync},
                                {"sync-hdf5", Writer::sync_hdf5}, {"bare", Writer::bare},
                                {"posix-aio", Writer::posix_aio}, {"tailrace", Writer::tailrace}};
const Words<Verb> kVerbs = {{"alloc", Verb::alloc}, {"write", Verb::write}, {"borrow", Verb::borrow}};
const Words<Buffers> kBuffers = {
    {"pool", Buffers::pool}, {"malloc", Buffers::malloc}, {"unaligned", Buffers::unaligned}};
const Words<Place> kPlaces = {{"thread", Place::thread}, {"core", Place::core}};
const Words<Measure> kMeasures = {{"regression", Measure::regression},
                                  {"saturation", Measure::saturation},
                                  {"saturation-busy", Measure::saturation_busy},
                                  {"saturation-write", Measure::saturation_write},
                                  {"write-copy", Measure::write_copy},
                                  {"req", Measure::req},
                                  {"copy", Measure::copy}};
const Words<Memory> kMemories = {{"heap", Memory::heap}, {"static", Memory::data_segment}};
const Words<bool> kSwitch = {{"on", true}, {"off", false}};

void add_compute(CLI::App& app, ComputeChoice& compute) {
  const std::string expected = listed(kernel_names());
  app.add_option_function<std::string>(
         "--compute",
         [&compute, expected](const std::string& found) {
           for (const std::string& name : kernel_names()) {
             if (name == found) compute.kernel = found;
           }
           if (compute.kernel != found) {
             throw UsageError("--compute: found '" + found + "', expected " + expected);
           }
         },
         "the kernel that computes")
      ->option_text(expected + " = " + compute.kernel);
  app.add_option("--threads", compute.threads, "threads that compute")
      ->check(CLI::Range(1, 1024))
      ->option_text("N = 1");
  add_words(app, "--memory", compute.memory, kMemories, "where the kernel's arrays lie");
}

void add_storage(CLI::App& app, WriteOptions& write) {
  app.add_option("--bytes", write.bytes, "bytes of one iteration, all variables together")
      ->check(CLI::Range(uint64_t{1}, kMostBytes))
      ->option_text("N = " + std::to_string(write.bytes));
  app.add_option("--dir", write.directories, "directory on the storage in question; repeat it for several devices")
      ->allow_extra_args(false)
      ->option_text("DIR = " + write.directories.front());
  app.add_flag("--keep", write.keep, "leave the files where they are");
  add_words(app, "--direct", write.direct, kSwitch, "bypass the page cache (sync, bare, tailrace)");
  app.add_option("--queue-depth", write.queue_depth, "tailrace: transfers under way at once")
      ->check(CLI::Range(1, 256))
      ->option_text("N = 8");
  add_words(app, "--place", write.place, kPlaces, "tailrace: the place of its writer");
  app.add_option("--pin", write.pin, "tailrace: where its writer runs; cpus as 0,2,3")
      ->check([](const std::string& text) {
        const bool list = !text.empty() && text.find_first_not_of("0123456789,") == std::string::npos &&
                          text.front() != ',' && text.back() != ',' && text.find(",,") == std::string::npos;
        return text == "auto" || text == "none" || list
                   ? std::string()
                   : "found '" + text + "', expected auto, none or cpu numbers such as 0,2";
      })
      ->option_text("auto|none|LIST = auto");
}

void add_write(CLI::App& app, WriteOptions& write) {
  add_words(app, "--write", write.writer, kWriters, "who writes");
  add_words(app, "--verb", write.verb, kVerbs, "tailrace: how blocks are handed over");
  add_words(app, "--buffers", write.buffers, kBuffers, "tailrace: the memory of the blocks");
  app.add_option("--arrays", write.arrays, "tailrace borrow: arrays of a variable, used in turn")
      ->check(CLI::Range(1, 64))
      ->option_text("N = 2");
  app.add_option("--iterations", write.iterations, "computations with output")
      ->check(CLI::Range(1, 999999))
      ->option_text("N = 8");
  app.add_option("--variables", write.variables, "computed and handed over one at a time")
      ->check(CLI::Range(1, 1024))
      ->option_text("N = 1");
  app.add_option("--budget", write.budget, "memory for output under way, in outputs of one iteration")
      ->check(CLI::Range(1, 1024))
      ->option_text("BLOCKS = 3");
  app.add_option("--throttle", write.throttle, "tailrace: how fast it writes while the program computes")
      ->check([](const std::string& text) {
        const bool plain = !text.empty() && text.find_first_of(",:{}[]#\n\"'") == std::string::npos;
        return plain ? std::string() : "found '" + text + "', expected none, auto or a rate such as 800MiB/s";
      })
      ->option_text("none|auto|RATE = none");
  auto* const forward =
      app.add_option("--forward", write.forward, "tailrace: a forwarder that writes")->option_text("HOST:PORT");
  app.add_option("--key", write.key, "the forwarder's key file")->needs(forward)->option_text("FILE");
  forward->needs("--key");
  add_storage(app, write);
}

void check(const WriteOptions& write) {
  const std::string bytes = "--bytes: found " + std::to_string(write.bytes);
  if (write.bytes % static_cast<uint64_t>(write.variables) != 0) {
    throw UsageError(bytes + ", expected a multiple of the " + std::to_string(write.variables) +
                     " variables (--variables)");
  }
  if (write.block_bytes() < kLeastBlock) {
    throw UsageError(bytes + ", expected at least " + std::to_string(kLeastBlock) + " for each variable");
  }
  if (write.writer != Writer::tailrace) return;
  if (write.buffers == Buffers::malloc && write.verb != Verb::borrow) {
    throw UsageError("--buffers malloc: found --verb " + std::string(name_of(write.verb)) +
                     ", expected --verb borrow");
  }
  if (write.buffers == Buffers::unaligned && write.verb == Verb::alloc) {
    throw UsageError(
        "--buffers unaligned: found --verb alloc, whose memory is always aligned, expected --verb write "
        "or --verb borrow");
  }
}

// Adds the subcommand; if it is chosen, what it parses goes to `options`.
CLI::App* add_run(CLI::App& app, RunOptions& run) {
  CLI::App* const command = app.add_subcommand("run", "computes and writes in turn, and prints all times");
  add_compute(*command, run.compute);
  command->add_option("--passes", run.passes, "work of one iteration, in the kernel's passes (see calibrate)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->option_text("N = 1000");
  add_write(*command, run.write);
  command->add_option("--trace", run.trace, "write the program's events there, as a Chrome trace")
      ->option_text("FILE");
  return command;
}

CLI::App* add_calibrate(CLI::App& app, CalibrateOptions& calibrate) {
  CLI::App* const command = app.add_subcommand("calibrate", "how many passes take a given time");
  add_compute(*command, calibrate.compute);
  command->add_option("--seconds", calibrate.seconds, "the time that the passes should take")
      ->check(CLI::Range(1e-6, 1e6))
      ->option_text("S = 0.1");
  return command;
}

CLI::App* add_measure(CLI::App& app, MeasureOptions& measure) {
  CLI::App* const command = app.add_subcommand("measure", "measures the models' inputs, as cumulated seconds");
  measure.write.writer = Writer::sync;
  add_words(*command, "what", measure.what, kMeasures, "the quantity")->required();
  command->add_option("--count", measure.count, "samples")->check(CLI::Range(1, 100000))->option_text("N = 16");
  add_compute(*command, measure.compute);
  add_storage(*command, measure.write);
  return command;
}

}  // namespace

Options parse_options(int argc, char** argv) {
  CLI::App app{"The test-bed: a simulated program that computes and writes in turn. Prints one JSON document.",
               "pattern"};
  app.set_version_flag("--version", "pattern " TAILRACE_VERSION_STRING, "Print the version, and end");
  app.require_subcommand(1);
  RunOptions run;
  CalibrateOptions calibrate;
  MeasureOptions measure;
  const CLI::App* const run_command = add_run(app, run);
  const CLI::App* const calibrate_command = add_calibrate(app, calibrate);
  const CLI::App* const measure_command = add_measure(app, measure);
  if (!parse(app, argc, argv)) return {};
  Options options;
  if (*run_command) {
    check(run.write);
    options.run = run;
  } else if (*calibrate_command) {
    options.calibrate = calibrate;
  } else {
    if (measure.what == Measure::req && measure_command->count("--bytes") == 0) measure.write.bytes = kSmallRequest;
    check(measure.write);
    options.measure = measure;
  }
  return options;
}

const char* name_of(Writer writer) { return word_for(kWriters, writer); }
const char* name_of(Verb verb) { return word_for(kVerbs, verb); }
const char* name_of(Buffers buffers) { return word_for(kBuffers, buffers); }
const char* name_of(Place place) { return word_for(kPlaces, place); }
const char* name_of(Measure what) { return word_for(kMeasures, what); }

}  // namespace bench
