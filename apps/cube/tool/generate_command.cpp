#include <CLI/CLI.hpp>

#include <memory>

#include "cube/remap/generate.hpp"
#include "cube/tool/commands.hpp"
#include "cube/tool/progress_bar.hpp"

namespace tailrace::cube {
namespace {

struct GenerateArguments {
  std::string output;
  std::string from;
  uint32_t copies = 2;
  GeneratorOptions options;
};

void run_generate(const GenerateArguments& arguments) {
  ProgressBar bar("generating");
  const auto show = [&](uint64_t done, uint64_t all) { bar.show(done, all); };
  if (arguments.from.empty()) return generate(arguments.options, arguments.output, show);
  enlarge(arguments.from, arguments.copies, arguments.output, show);
}

}  // namespace

void add_generate(CLI::App& program) {
  const auto arguments = std::make_shared<GenerateArguments>();
  GeneratorOptions& options = arguments->options;
  CLI::App* const command =
      program.add_subcommand("generate", "Make a profile from a seed, or repeat the locations of a real one");
  command->add_option("OUT", arguments->output, "The profile to write")->required();
  const auto count = [&](const char* name, auto& value, const char* help) {
    command->add_option(name, value, help)->check(CLI::Range(1u, 1u << 30))->capture_default_str();
  };
  count("--callpaths", options.call_paths, "Call paths");
  count("--processes", options.processes, "Processes");
  count("--threads", options.threads, "Locations, of all processes together");
  count("--metrics", options.metrics, "Metrics with values");
  command->add_option("--seed", options.seed, "Seed of the call tree and the values")->capture_default_str();
  command->add_flag("--big-endian", options.big_endian, "Values of the other byte order");
  command->add_flag("--compress", options.compress, "Compressed rows");
  command->add_flag("--dense", options.dense, "Dense indices, where all rows are there");
  command->add_option("--from", arguments->from, "Repeat the locations of this profile instead");
  count("--copies", arguments->copies, "With --from: how often");
  command->callback([arguments] { run_generate(*arguments); });
}

}  // namespace tailrace::cube
