// Function: a function that the plugin host can call. It comes from a dynamic library or a Python file, or is the
// built-in statistics. All of them look like a plugin's function.
#pragma once

#include <tailrace/plugin.h>

#include <functional>
#include <string>

#include "action/plugin_wire.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

// Returns the error as "found …, expected …"; empty if there is none. The plugin's own error text is in the call.
using Function = std::function<std::string(const tailrace_plugin_call&)>;

// Loads the kind of function that `description.run` names. Runs code of the library or file, but not the function.
Result<Function> load(const PluginFunction& description);

Result<Function> load_library(const PluginFunction& description);
Result<Function> load_python(const PluginFunction& description);
// Ends the interpreter, if there is one.
void end_python();
// Reports statistics of each block: "<variable>/<source>/least" and so on.
std::string report_statistics(const tailrace_plugin_call& call);

}  // namespace tailrace::impl
