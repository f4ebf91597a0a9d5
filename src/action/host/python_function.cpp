// Functions of Python files, by libtailrace_python_host.so, which is installed beside this program.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

#include "action/host/function.hpp"
#include "action/host/python_host.h"
#include "base/os/process.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kMostWhy = 4096;

struct PythonHost {
  tailrace_python_load_function load = nullptr;
  tailrace_python_call_function call = nullptr;
  tailrace_python_end_function end = nullptr;
};

// The process's only interpreter: Python supports one.
PythonHost python;

Status open_python() {
  if (python.load != nullptr) return {};
  const std::string file = own_directory() + "/libtailrace_python_host.so";
  // RTLD_GLOBAL: extension modules of Python packages find the interpreter's functions that way.
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
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
  const Status opened = open_python();
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
