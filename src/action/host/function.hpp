// Function: anything that the plugin host can call, which is a function of a dynamic library, one of a Python file,
// or the built-in statistics. All of them look like a function of a plugin.
#pragma once

#include <tailrace/plugin.h>

#include <functional>
#include <string>

#include "action/plugin_wire.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

// Returns what was found and what was expected; empty if all is well. What the plugin itself says about an error is
// in the call.
using Function = std::function<std::string(const tailrace_plugin_call&)>;

// `description.run` says which. Runs code of the library or file, but not the function.
Result<Function> load(const PluginFunction& description);

Result<Function> load_library(const PluginFunction& description);
Result<Function> load_python(const PluginFunction& description);
// Ends the interpreter, if there is one.
void end_python();
// Statistics of each block: "<variable>/<source>/least" and so on.
std::string report_statistics(const tailrace_plugin_call& call);

}  // namespace tailrace::impl
