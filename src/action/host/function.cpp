#include "action/host/function.hpp"

#include <fmt/format.h>

#include "action/statistics.hpp"

namespace tailrace::impl {

Result<Function> load(const PluginFunction& description) {
  switch (description.run) {
    case Action::Run::statistics: return Function(report_statistics);
    case Action::Run::library: return load_library(description);
    case Action::Run::python: return load_python(description);
    case Action::Run::store:
    case Action::Run::drop: break;
  }
  return Status(TAILRACE_INTERNAL, "found a kind of function that the plugin host does not know");
}

std::string report_statistics(const tailrace_plugin_call& call) {
  for (size_t i = 0; i < call.block_count; ++i) {
    const tailrace_plugin_block& block = *tailrace_plugin_block_at(&call, i);
    if (block.iteration != call.iteration) continue;  // kept blocks were reported in their own iteration
    const std::span bytes(static_cast<const std::byte*>(block.data), block.bytes);
    const Statistics found = statistics_of(bytes, static_cast<ElementType>(block.type - TAILRACE_INT8));
    const std::string prefix = fmt::format("{}/{}/", block.variable, block.source);
    const auto report = [&](const char* key, double value) { call.report(&call, (prefix + key).c_str(), value); };
    report("min", found.least);
    report("mean", found.mean);
    report("max", found.most);
    report("finite", static_cast<double>(found.finite));
    report("nan", static_cast<double>(found.nan));
    report("infinite", static_cast<double>(found.infinite));
    const std::vector<double> histogram(found.histogram.begin(), found.histogram.end());
    call.report_array(&call, (prefix + "histogram").c_str(), histogram.data(), histogram.size());
  }
  return {};
}

}  // namespace tailrace::impl
