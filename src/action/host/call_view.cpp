#include "action/host/call_view.hpp"

#include <algorithm>

namespace tailrace::impl {

Result<CallView> CallView::create(const PluginCall& call, const SegmentMap& segments) {
  CallView view(call);
  view.blocks_.reserve(call.blocks.size());
  for (const BlockRecord& record : call.blocks) {
    const Result<const std::byte*> data = segments.find(record.segment, record.offset, record.length);
    if (!data.ok()) return data.status();
    tailrace_plugin_block block{};
    block.variable = call.variables[record.variable].name.c_str();
    block.unit = call.variables[record.variable].unit.c_str();
    block.iteration = record.iteration;
    block.source = record.source;
    block.type = record.type;
    block.rank = static_cast<int32_t>(record.rank);
    std::copy(std::begin(record.shape), std::end(record.shape), block.shape);
    std::copy(std::begin(record.global_shape), std::end(record.global_shape), block.global_shape);
    std::copy(std::begin(record.place), std::end(record.place), block.offset);
    block.data = data.value();
    block.bytes = record.length;
    view.blocks_.push_back(block);
  }
  return view;
}

const tailrace_plugin_call& CallView::view() {
  view_.struct_size = sizeof view_;
  view_.abi = TAILRACE_PLUGIN_ABI;
  view_.event = call_->event.c_str();
  view_.iteration = call_->iteration;
  view_.client_count = call_->clients.size();
  view_.clients = call_->clients.data();
  view_.block_count = blocks_.size();
  view_.block_stride = sizeof(tailrace_plugin_block);
  view_.blocks = blocks_.data();
  view_.report = report;
  view_.report_text = report_text;
  view_.report_array = report_array;
  view_.message = message;
  view_.error = error;
  view_.host = this;
  return view_;
}

void CallView::put(const char* key, Finding finding) {
  if (key == nullptr || *key == '\0') return misused("a result without a key");
  finding.key = key;
  const auto [place, fresh] = findings_.try_emplace(finding.key, answer_.findings.size());
  if (fresh) {
    answer_.findings.push_back(std::move(finding));
  } else {
    answer_.findings[place->second] = std::move(finding);
  }
}

void CallView::misused(const char* what) { answer_.error = std::string("found ") + what; }

void CallView::report(const tailrace_plugin_call* view, const char* key, double value) {
  of(view).put(key, {{}, value});
}

void CallView::report_text(const tailrace_plugin_call* view, const char* key, const char* text) {
  if (text == nullptr) return of(view).misused("a result that is NULL");
  of(view).put(key, {{}, std::string(text)});
}

void CallView::report_array(const tailrace_plugin_call* view, const char* key, const double* values, size_t count) {
  if (values == nullptr && count != 0) return of(view).misused("a result that is NULL");
  of(view).put(key, {{}, std::vector<double>(values, values + count)});
}

void CallView::message(const tailrace_plugin_call* view, const char* text) {
  if (text != nullptr) of(view).answer_.messages.emplace_back(text);
}

void CallView::error(const tailrace_plugin_call* view, const char* text) {
  if (text != nullptr) of(view).answer_.error = text;
}

}  // namespace tailrace::impl
