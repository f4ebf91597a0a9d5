// The YAML text. See the header.
#include "lab/pattern/write/tailrace_config.hpp"

#include <algorithm>

namespace bench {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kSlack = uint64_t{1} << 20;

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string forward_section(const WriteOptions& options) {
  if (options.forward.empty()) return "";
  return "forward: {servers: [" + quoted(options.forward) + "], key: " + quoted(options.key) + "}\n";
}

}  // namespace

TailraceConfig tailrace_config(const WriteOptions& options, const OutputFolders& folders, int iterations_held,
                               bool trace) {
  const uint64_t block = (options.block_bytes() + kPage - 1) / kPage * kPage;
  const auto blocks = static_cast<uint64_t>(std::max(1, iterations_held * options.variables));
  const uint64_t budget = blocks * block + kSlack;
  // Blocks that go through the page cache are synced within the run.
  const bool bypasses = options.direct && folders.can_bypass_cache();
  std::string path;
  for (const auto& folder : folders.all()) path += (path.empty() ? "" : ", ") + quoted(folder.string());
  const std::string cpus = options.pin == "auto" || options.pin == "none" ? options.pin : "[" + options.pin + "]";
  std::string text = "tailrace: 1\nname: pattern\n";
  text += "place: {kind: " + std::string(name_of(options.place)) + ", cpus: " + cpus + "}\n";
  text += "memory: {budget: " + std::to_string(budget) + "}\n";
  text += "storage: {existing: replace, path: [" + path + "], direct: " + (options.direct ? "true" : "false");
  text += ", durability: " + std::string(bypasses ? "written" : "durable");
  if (options.throttle != "none") text += ", throttle: " + options.throttle;
  text += ", queue_depth: " + std::to_string(options.queue_depth) + "}\n";
  text += forward_section(options);
  if (trace) text += "measurements: {trace: true}\n";
  text += "layouts:\n  block: {type: uint8, shape: [" + std::to_string(options.block_bytes()) + "]}\nvariables:\n";
  for (int variable = 0; variable < options.variables; ++variable) {
    text += "  v" + std::to_string(variable) + ": {layout: block}\n";
  }
  return {text, budget};
}

std::string tailrace_trace_file(const OutputFolders& folders) {
  return (folders.all().front() / "pattern_c0.trace.json").string();
}

}  // namespace bench
