// Functions of dynamic libraries, by dlopen.
#include <dlfcn.h>
#include <fmt/format.h>

#include "action/host/function.hpp"

namespace tailrace::impl {
namespace {

Status refused(std::string message) { return Status(TAILRACE_ACTION_FAILED, std::move(message)); }

std::string last_error() {
  const char* text = ::dlerror();
  return text != nullptr ? text : "no reason given";
}

std::string call_library(tailrace_plugin_function function, const tailrace_plugin_call& call) {
  try {
    const int status = function(&call);
    return status == 0 ? "" : fmt::format("found the status {}, expected 0", status);
  } catch (const std::exception& exception) {
    return fmt::format("found the C++ exception '{}'", exception.what());
  } catch (...) {
    return "found a C++ exception of an unknown type";
  }
}

}  // namespace

// The library is never unloaded: it may have threads that still run.
Result<Function> load_library(const PluginFunction& description) {
  void* library = ::dlopen(description.file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return refused("found no library that can be loaded: " + last_error());
  auto* abi = reinterpret_cast<uint32_t (*)()>(::dlsym(library, "tailrace_plugin_abi"));
  if (abi == nullptr) {
    return refused(fmt::format("found no 'tailrace_plugin_abi' in '{}', expected the line TAILRACE_PLUGIN in it",
                               description.file));
  }
  if (abi() != TAILRACE_PLUGIN_ABI) {
    return refused(
        fmt::format("found plugin ABI {} in '{}', expected {}", abi(), description.file, TAILRACE_PLUGIN_ABI));
  }
  auto* function = reinterpret_cast<tailrace_plugin_function>(::dlsym(library, description.function.c_str()));
  if (function == nullptr) {
    return refused(fmt::format("found no function '{}' in '{}', expected one that it exports", description.function,
                               description.file));
  }
  return Function([function](const tailrace_plugin_call& call) { return call_library(function, call); });
}

}  // namespace tailrace::impl
