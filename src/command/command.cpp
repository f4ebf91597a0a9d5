#include "command/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tailrace/tailrace.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/names/nearest_word.hpp"
#include "base/os/process.hpp"
#include "command/commands.hpp"
#include "command/other_program.hpp"
#include "command/output/output.hpp"

namespace tailrace::impl {
namespace {

struct PythonCommand {
  std::string_view name;
  std::string_view help;
};

// The Python package's own commands, for --help. A command that is not here is handed over, too.
constexpr PythonCommand kPythonCommands[] = {
    {"demo", "compute a tsunami, and write it with tailrace and without"},
    {"join", "join the files of an iteration, or the objects of a striped file"},
    {"open", "open a result in a viewer"},
    {"run", "run an unchanged program with tailrace"},
    {"doors", "build what carries unchanged programs, for this machine's MPI or OpenFOAM"},
    {"key", "make keys of forwarders"},
    {"cube", "read and convert profiles of Score-P"},
    {"damaris", "convert configurations of Damaris"},
    {"predict", "predict what tailrace saves"},
    {"bench", "measure tailrace on this machine"},
    {"plot", "draw results"},
    {"report", "make a page of statistics and traces"},
    {"completion", "print a script that completes commands in a shell"},
};

std::string footer() {
  std::string text = "commands of the Python package (pip install tailrace):\n";
  for (const PythonCommand& one : kPythonCommands) text += fmt::format("  {:<28}{}\n", one.name, one.help);
  text.pop_back();
  return text;
}

int wrong_usage(const std::string& command, std::string_view message) {
  complain(fmt::format("{}{}{}{} tailrace{}{} --help", command, command.empty() ? "" : ": ", message,
                       message.ends_with('?') ? " See" : "; see", command.empty() ? "" : " ", command));
  return kWrongUsage;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string near = nearest_word(word, known);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

// Returns what is wrong with arguments that the command does not know.
std::string unknown(const CLI::App& command, const std::vector<std::string>& arguments) {
  const auto is_option = [](const std::string& one) { return one.size() > 1 && one[0] == '-'; };
  const auto option = std::find_if(arguments.begin(), arguments.end(), is_option);
  if (option == arguments.end()) {
    return fmt::format("expected no more arguments, found '{}'", fmt::join(arguments, "' '"));
  }
  std::vector<std::string> names;
  for (const CLI::Option* one : command.get_options()) names.push_back(one->get_name());
  const std::string name = option->substr(0, option->find('='));
  return fmt::format("there is no option {}{}", name, did_you_mean(name, {names.begin(), names.end()}));
}

int parse(CLI::App& app, CLI::App& command, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(arguments);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ExtrasError&) {
    return wrong_usage(command.get_name(), unknown(command, command.remaining()));
  } catch (const CLI::RequiredError& error) {
    const std::string_view what = error.what();
    return wrong_usage(command.get_name(), fmt::format("expected {}", what.substr(0, what.find(" is required"))));
  } catch (const CLI::ParseError& error) {
    return wrong_usage(command.get_name(), error.what());
  }
  return kSuccess;
}

// Prints the folder for CMake's variable tailrace_DIR, in an installation around this program.
int show_cmake_folder() {
  const auto folder = (std::filesystem::path(own_directory()) / "../lib/cmake/tailrace").lexically_normal();
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    complain(fmt::format("{}: there is no such folder", folder.string()));
    return kFailure;
  }
  say(folder.string());
  return kSuccess;
}

int run(CLI::App& app, const std::vector<std::string>& words, int& code) {
  if (words.empty()) return wrong_usage("", "expected COMMAND");
  const std::string& word = words[0];
  if (word == "--version") {
    say(fmt::format("tailrace {}", TAILRACE_VERSION_STRING));
    return kSuccess;
  }
  if (word == "--cmake-dir") return show_cmake_folder();
  const std::vector<CLI::App*> commands = app.get_subcommands([](const CLI::App*) { return true; });
  const auto is_it = [&](const CLI::App* one) { return one->get_name() == word; };
  const auto found = std::find_if(commands.begin(), commands.end(), is_it);
  CLI::App* const command = found == commands.end() ? nullptr : *found;
  if (command != nullptr || word == "--help" || word == "-h") {
    const int ended = parse(app, command == nullptr ? app : *command, words);
    return ended == kSuccess ? code : ended;
  }
  std::vector<std::string_view> known;
  for (const CLI::App* one : commands) known.push_back(one->get_name());
  for (const PythonCommand& one : kPythonCommands) known.push_back(one.name);
  if (word.starts_with("-")) {
    return wrong_usage(
        "", fmt::format("there is no option {}{}", word, did_you_mean(word, {"--help", "--version", "--cmake-dir"})));
  }
  const bool is_known = std::find(known.begin(), known.end(), word) != known.end();
  const std::string hint = is_known ? "" : did_you_mean(word, known);
  if (!hint.empty()) return wrong_usage("", fmt::format("there is no command '{}'{}", word, hint));
  return hand_to_python(words);
}

}  // namespace

int run_command(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "C.UTF-8");  // for the width of letters
  CLI::App app{"Writes a program's output in the background, while the program computes.", "tailrace"};
  app.require_subcommand(1);
  app.add_flag("--version")->description("print the version, and end");
  app.add_flag("--cmake-dir")->description("print the folder for CMake's variable tailrace_DIR, and end");
  app.footer(footer());
  int code = kSuccess;
  add_check(app, code);
  add_inspect(app, code);
  add_recover(app, code);
  add_serve(app, code);
  int ended = kFailure;
  try {
    ended = run(app, {argv + std::min(argc, 1), argv + argc}, code);
  } catch (const std::exception& error) {  // such as too little memory for what a file says that it has
    complain(error.what());
  }
  if (std::fflush(stdout) == 0) return ended;
  complain(fmt::format("write: {}", std::strerror(errno)));
  return kFailure;
}

}  // namespace tailrace::impl
