#include "command/other_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "command/output/output.hpp"

namespace tailrace::impl {
namespace {

// Set for the Python command, which removes it. Where it is set, a script on PATH has led back to this program.
constexpr const char* kHandedOver = "TAILRACE_HANDED_OVER";

// Runs the package's command, or fails with the first argument as the message. Python puts the current directory
// first on its path, where a folder `tailrace` may be anything.
constexpr const char* kRunPackage = R"(
import sys
sys.path[:1] = [] if sys.path[:1] == [""] else sys.path[:1]
try:
    import tailrace.cli
except ModuleNotFoundError as why:
    if why.name not in ("tailrace", "tailrace.cli"):
        raise
    sys.exit(sys.argv[1])
sys.argv[0:2] = ["tailrace"]
sys.exit(tailrace.cli.main())
)";

// Programs such as this one are no scripts, so that none hands over to another one.
bool is_script(const std::string& path) {
  std::array<char, 2> begin{};
  std::ifstream file(path, std::ios::binary);
  return access(path.c_str(), X_OK) == 0 && file.read(begin.data(), begin.size()) && begin == std::array{'#', '!'};
}

std::string script_on_path() {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string script = folder + "/tailrace";
    if (folder.starts_with('/') && is_script(script)) return script;
  }
  return {};
}

// Looks for the program on PATH if it has no folder. Returns only if that fails.
void execute(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& one : arguments) words.push_back(const_cast<char*>(one.c_str()));
  words.push_back(nullptr);
  std::fflush(stdout);
  execvp(program.c_str(), words.data());
}

}  // namespace

int become(const std::string& program, const std::vector<std::string>& arguments) {
  execute(program, arguments);
  complain(fmt::format("{}: {}", program, std::strerror(errno)));
  return kFailure;
}

int hand_to_python(const std::vector<std::string>& words) {
  const std::string missing = fmt::format(
      "tailrace: {}: a command of tailrace's Python package, which is not installed here: pip install "
      "tailrace; see tailrace --help for the commands that do not need it",
      printable_line(words[0]));
  const bool came_back = std::getenv(kHandedOver) != nullptr;
  setenv(kHandedOver, "1", 1);
  if (const std::string script = came_back ? "" : script_on_path(); !script.empty()) execute(script, words);
  std::vector<std::string> arguments = {"-c", kRunPackage, missing};
  arguments.insert(arguments.end(), words.begin(), words.end());
  execute("python3", arguments);
  complain_of(missing);
  return kFailure;
}

}  // namespace tailrace::impl
