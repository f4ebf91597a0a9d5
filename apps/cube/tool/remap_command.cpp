#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "cube/archive/counted.hpp"
#include "cube/archive/error.hpp"
#include "cube/remap/remap.hpp"
#include "cube/tool/commands.hpp"
#include "cube/tool/progress_bar.hpp"

namespace tailrace::cube {
namespace {

struct RemapArguments {
  std::string input;
  std::string output;
  std::string specification;
  std::string scratch;
  std::string writer = "tailrace";
  std::string order = "native";
  bool identity = false;
  bool synchronous = false;
  bool quiet = false;
  bool json = false;
  RemapOptions options;
};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw Error(path + ": cannot be read");
  return text.str();
}

std::vector<Metric> specification(const RemapArguments& arguments, const Input& input) {
  if (arguments.identity) return input.profile.metrics;
  if (arguments.specification.empty()) return own_specification(input);
  return read_metrics(read_file(arguments.specification), arguments.specification);
}

std::string specification_name(const RemapArguments& arguments) {
  if (arguments.identity) return arguments.input;
  return arguments.specification.empty() ? arguments.input + ": remapping.spec" : arguments.specification;
}

void print_figures(const RemapFigures& figures, const RemapArguments& arguments) {
  const double mebibytes = static_cast<double>(figures.bytes) / (1 << 20);
  if (arguments.json) {
    std::printf(
        "{\"metrics\": %llu, \"rows\": %llu, \"bytes\": %llu, \"file_bytes\": %llu, \"threads\": %u, "
        "\"seconds\": %.6f, \"seconds_computing\": %.6f, \"seconds_handing\": %.6f}\n",
        static_cast<unsigned long long>(figures.metrics), static_cast<unsigned long long>(figures.rows),
        static_cast<unsigned long long>(figures.bytes), static_cast<unsigned long long>(figures.file_bytes),
        figures.threads, figures.seconds, figures.seconds_computing, figures.seconds_handing);
  } else if (!arguments.quiet) {
    std::printf(
        "%s: %s with values, %s, %.1f MiB in %.2f s; %s computed for %.2f s and waited "
        "%.2f s\n",
        arguments.output.c_str(), counted(figures.metrics, "metric").c_str(), counted(figures.rows, "row").c_str(),
        mebibytes, figures.seconds, counted(figures.threads, "thread").c_str(), figures.seconds_computing,
        figures.seconds_handing);
  }
}

void run_remap(RemapArguments& arguments) {
  std::error_code ignored;
  if (std::filesystem::equivalent(arguments.input, arguments.output, ignored)) {
    throw Error(arguments.output + ": expected another file than the input");
  }
  if (arguments.synchronous) arguments.writer = "sync";
  arguments.options.writer = *writer_of(arguments.writer);
  if (arguments.order != "native") {
    arguments.options.order = arguments.order == "big" ? ByteOrder::big : ByteOrder::little;
  }
  arguments.options.keep_derived = arguments.identity;
  const Input input(arguments.input, arguments.scratch);
  warn_of(input);
  const MetricSet set(input, specification(arguments, input), specification_name(arguments), warn);
  RemapFigures figures;
  {
    ProgressBar bar("remapping");
    figures =
        remap(set, arguments.output, arguments.options, [&](uint64_t done, uint64_t all) { bar.show(done, all); });
  }
  print_figures(figures, arguments);
}

}  // namespace

void add_remap(CLI::App& program) {
  const auto arguments = std::make_shared<RemapArguments>();
  CLI::App* const command = program.add_subcommand(
      "remap", "Write a profile with the metrics of a specification, computed while others are written");
  command->add_option("IN", arguments->input, "The profile to read")->required();
  command->add_option("OUT", arguments->output, "The profile to write; it gets its name when complete")->required();
  CLI::Option* const specification = command->add_option(
      "-r,--spec", arguments->specification, "Specification of the metrics (default: that of the profile)");
  command->add_flag("--identity", arguments->identity, "Write every metric as it is")->excludes(specification);
  command
      ->add_option("--threads", arguments->options.threads,
                   "Threads that compute (default: one less than there are cpus)")
      ->type_name("N");
  command->add_option("--budget", arguments->options.budget, "Memory for rows on their way (default: 64MiB)")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE");
  command->add_flag("--compress", arguments->options.compress, "Compress the rows (zlib)");
  command->add_option("--byte-order", arguments->order, "Of the output: native, little or big")
      ->check(CLI::IsMember({"native", "little", "big"}));
  command->add_flag("--durable", arguments->options.durable, "Wait until the device has the file");
  command->add_flag("--sync", arguments->synchronous, "Write without tailrace, in the threads that compute");
  command
      ->add_option("--writer", arguments->writer,
                   "Who writes, for comparisons: tailrace, sync, naive, pinned, "
                   "aligned (POSIX AIO), none")
      ->check(CLI::IsMember({"tailrace", "sync", "naive", "pinned", "aligned", "none"}));
  command->add_option("--writer-cpu", arguments->options.writer_cpu, "Cpu that the writer has for itself")
      ->type_name("CPU");
  command->add_option("--scratch", arguments->scratch,
                      "Folder where a compressed archive is unpacked (default: the "
                      "folder for temporary files)");
  command->add_flag("-q,--quiet", arguments->quiet, "Print nothing but errors");
  command->add_flag("--json", arguments->json, "Print the figures as JSON");
  command->callback([arguments] { run_remap(*arguments); });
}

}  // namespace tailrace::cube
