// tailrace-cube: works with performance profiles in the format Cube 4.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <new>

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

}  // namespace tailrace::cube

int main(int argc, char** argv) {
  using namespace tailrace::cube;
  CLI::App program(
      "Works with performance profiles in the format Cube 4 (.cubex), as Score-P and Scalasca write them.");
  program.name("tailrace cube");
  program.require_subcommand(1);
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
