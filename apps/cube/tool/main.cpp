// tailrace-cube: works with performance profiles in the format Cube 4.
#include <tailrace/tailrace.h>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cube/archive/error.hpp"
#include "cube/tool/commands.hpp"

namespace tailrace::cube {

void warn(const std::string& text) { std::fprintf(stderr, "tailrace cube: %s\n", text.c_str()); }

void warn_of(const Input& input) {
  if (!input.archive.warning().empty()) warn(input.archive.warning());
}

size_t metric_number(const Input& input, const std::string& name) {
  const Metric* const found = input.profile.find_metric(name);
  if (found == nullptr) throw Error(input.archive.path() + ": there is no metric " + name);
  return static_cast<size_t>(found - input.profile.metrics.data());
}

namespace {

// A wrong usage in one line, as tailrace's other commands report it.
std::string wrong_usage(const CLI::App* program, const CLI::Error& error) {
  const std::vector<std::string> unknown = program->remaining(true);
  const std::string what = unknown.empty() ? error.what() : "found no command or option '" + unknown.front() + "'";
  return program->get_name() + ": " + what + "; see " + program->get_name() + " --help\n";
}

}  // namespace
}  // namespace tailrace::cube

int main(int argc, char** argv) {
  using namespace tailrace::cube;
  CLI::App program(
      "Works with performance profiles in the format Cube 4 (.cubex), as Score-P and Scalasca write them.");
  program.name("tailrace cube");
  program.require_subcommand(1);
  program.failure_message(wrong_usage);
  program.set_version_flag("--version", "tailrace-cube " TAILRACE_VERSION_STRING, "Print the version, and end");
  program.set_help_all_flag("--help-all", "Print the help of all commands");
  add_remap(program);
  add_info(program);
  add_dump(program);
  add_diff(program);
  add_generate(program);
  try {
    program.parse(argc, argv);
    return 0;
  } catch (const CLI::RuntimeError& code) {
    return code.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : 2;
  } catch (const std::bad_alloc&) {
    warn("there is not enough memory");
    return 1;
  } catch (const std::exception& error) {
    warn(error.what());
    return 1;
  }
}
