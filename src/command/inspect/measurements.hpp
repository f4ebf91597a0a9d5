// The files that a configuration's `measurements` asks for: statistics and traces (docs/formats/measurements.md).
//
// Statistics are read completely, and checked; of a trace only the events are counted: `tailrace report` draws it.
#pragma once

#include <string>

#include "command/output/output.hpp"

namespace tailrace::impl {

constexpr const char* kStatistics = ".stats.json";
constexpr const char* kTrace = ".trace.json";

// Returns the content of a JSON file: {"path", "statistics"} or {"path", "trace"}. Throws Unreadable.
OrderedJson measurements_in(const std::string& path);
// Returns one line of a directory's list. Traces can be large, so they are not opened.
OrderedJson measurements_entry(const std::string& directory, const std::string& name);

void show_statistics(const OrderedJson& content);
void show_trace(const OrderedJson& content);
void show_entries(const std::string& directory, const OrderedJson& measurements);

}  // namespace tailrace::impl
