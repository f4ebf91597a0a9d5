// Functions of Python files, by libtailrace_python_host.so, which is installed beside this program and uses the
// library of whichever Python is loaded before it.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <vector>

#include "action/host/function.hpp"
#include "action/host/python_host.h"
#include "base/os/process.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostWhy = 4096;

struct PythonHost {
  tailrace_python_load_function load = nullptr;
  tailrace_python_call_function call = nullptr;
  tailrace_python_end_function end = nullptr;
};

// The process's only interpreter: Python supports one.
PythonHost python;

constexpr int kOldest = 10;  // Python 3.10
constexpr int kNewest = 20;

std::string library_of(int minor) { return fmt::format("libpython3.{}.so.1.0", minor); }

// Returns the folder that has the Python of a virtual environment: the parent of `home` in its pyvenv.cfg. Any other
// folder has its own. A relative `home` is none: it would be in whichever directory the server was started.
fs::path base_of(const fs::path& environment) {
  std::ifstream file(environment / "pyvenv.cfg");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("home = /")) return fs::path(line.substr(7)).parent_path();
  }
  return environment;
}

// Loads the library of the Python that an environment is of; else of the system's, or of the latest that it has.
// Functions of extension modules find the interpreter's functions by RTLD_GLOBAL.
bool load_python_library(const std::string& environment, const std::string& program) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::path& folder : {fs::path(environment), fs::path(program)}) {
    for (int minor = kNewest; !folder.empty() && minor >= kOldest; --minor) {
      if (!fs::exists(folder / fmt::format("lib/python3.{}", minor), ignored)) continue;
      names.push_back(base_of(folder) / "lib" / library_of(minor));
      names.push_back(library_of(minor));
    }
  }
  const fs::path system = fs::read_symlink("/usr/bin/python3", ignored).filename();  // python3.11
  if (!system.empty()) names.push_back(fmt::format("lib{}.so.1.0", system.string()));
  for (int minor = kNewest; minor >= kOldest; --minor) names.push_back(library_of(minor));
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return ::dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr;
  });
}

Status open_python(const PluginFunction& description) {
  if (python.load != nullptr) return {};
  if (!load_python_library(description.python_environment, description.program_python)) {
    return Status(TAILRACE_UNSUPPORTED,
                  "found no library of Python (libpython3.N.so.1.0), expected one of the program's Python or of the "
                  "system");
  }
  const std::string file = own_directory() + "/libtailrace_python_host.so";
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return Status(TAILRACE_UNSUPPORTED,
                  fmt::format("found no Python in this build of tailrace: {}", why != nullptr ? why : file.c_str()));
  }
  python.call = reinterpret_cast<tailrace_python_call_function>(::dlsym(library, "tailrace_python_call"));
  python.end = reinterpret_cast<tailrace_python_end_function>(::dlsym(library, "tailrace_python_end"));
  python.load = reinterpret_cast<tailrace_python_load_function>(::dlsym(library, "tailrace_python_load"));
  if (python.load != nullptr && python.call != nullptr && python.end != nullptr) return {};
  python.load = nullptr;
  return Status(TAILRACE_INTERNAL, fmt::format("'{}' is of another version than tailrace-plugin-host", file));
}

}  // namespace

Result<Function> load_python(const PluginFunction& description) {
  const Status opened = open_python(description);
  if (!opened.ok()) return opened;
  std::array<char, kMostWhy> why{};
  void* function =
      python.load(description.file.c_str(), description.function.c_str(), description.python_environment.c_str(),
                  description.program_python.c_str(), why.data(), why.size());
  if (function == nullptr) return Status(TAILRACE_ACTION_FAILED, why.data());
  return Function([function](const tailrace_plugin_call& call) {
    std::array<char, kMostWhy> reason{};
    return python.call(function, &call, reason.data(), reason.size()) == 0 ? std::string() : reason.data();
  });
}

void end_python() {
  if (python.end != nullptr) python.end();
}

}  // namespace tailrace::impl
