// CallView: presents a call to a plugin (tailrace/plugin.h), and collects the plugin's answer.
#pragma once

#include <tailrace/plugin.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "action/host/segment_map.hpp"
#include "action/plugin_wire.hpp"

namespace tailrace::impl {

class CallView {
 public:
  // Borrows `call`. Fails if a block is in no segment.
  static Result<CallView> create(const PluginCall& call, const SegmentMap& segments);

  // Returns the plugin's view; it lives until this object is moved or destroyed.
  const tailrace_plugin_call& view();
  // Takes the answer so far.
  PluginAnswer take_answer() { return std::move(answer_); }

 private:
  explicit CallView(const PluginCall& call) : call_(&call) {}

  void put(const char* key, Finding finding);
  void misused(const char* what);
  static CallView& of(const tailrace_plugin_call* view) { return *static_cast<CallView*>(view->host); }
  static void report(const tailrace_plugin_call* view, const char* key, double value);
  static void report_text(const tailrace_plugin_call* view, const char* key, const char* text);
  static void report_array(const tailrace_plugin_call* view, const char* key, const double* values, size_t count);
  static void message(const tailrace_plugin_call* view, const char* text);
  static void error(const tailrace_plugin_call* view, const char* text);

  const PluginCall* call_;
  std::vector<tailrace_plugin_block> blocks_;
  tailrace_plugin_call view_{};
  PluginAnswer answer_;
  std::unordered_map<std::string, size_t> findings_;  // key → index into answer_.findings
};

}  // namespace tailrace::impl
