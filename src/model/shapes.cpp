#include "model/shapes.hpp"

#include <fmt/format.h>
#include <tailrace/tailrace.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tailrace::impl {
namespace {

constexpr auto kMostBytes = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());

bool depends_on(const std::vector<int32_t>& sources, const std::vector<bool>& changed) {
  return std::any_of(sources.begin(), sources.end(),
                     [&](int32_t source) { return source != kNoParameter && changed[static_cast<size_t>(source)]; });
}

bool depends_on(const Layout::Sources& sources, const std::vector<bool>& changed) {
  return depends_on(sources.shape, changed) || depends_on(sources.global_shape, changed) ||
         depends_on(sources.offset, changed);
}

}  // namespace

std::optional<size_t> dimension_outside(const Layout& layout) {
  for (size_t i = 0; i < layout.shape.size(); ++i) {
    const uint64_t global = layout.global_shape[i];
    // Written so that no term can overflow.
    if (layout.shape[i] > global || layout.offset[i] > global - layout.shape[i]) return i;
  }
  return std::nullopt;
}

std::optional<uint64_t> checked_bytes(std::span<const uint64_t> shape, ElementType type) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  uint64_t bytes = size_of(type);
  for (const uint64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > kMostBytes) return std::nullopt;
  }
  return bytes;
}

Shapes::Shapes(const Config& config) : config_(config) {
  for (const Parameter& parameter : config.parameters) now_.values.push_back(parameter.value);
  for (const Layout& layout : config.layouts) now_.layouts.push_back(std::make_shared<const Layout>(layout));
}

Result<Shapes::State> Shapes::with(std::span<const Setting> settings) const {
  Result<std::vector<int64_t>> values = values_with(settings);
  if (!values.ok()) return values.status();
  State state{std::move(values).value(), now_.layouts};
  std::vector<bool> changed(state.values.size());
  for (size_t i = 0; i < changed.size(); ++i) changed[i] = state.values[i] != now_.values[i];
  for (std::shared_ptr<const Layout>& layout : state.layouts) {
    if (!depends_on(layout->sources, changed)) continue;
    Result<Layout> made = evaluate(*layout, state.values);
    if (!made.ok()) return made.status();
    layout = std::make_shared<const Layout>(std::move(made).value());
  }
  return state;
}

Result<std::vector<int64_t>> Shapes::values_with(std::span<const Setting> settings) const {
  std::vector<int64_t> values = now_.values;
  std::vector<bool> set(values.size());
  for (const Setting& setting : settings) {
    if (setting.parameter >= values.size()) {
      return Status(TAILRACE_INVALID_ARGUMENT,
                    fmt::format("found parameter {} of {}", setting.parameter, values.size()));
    }
    const std::string& name = config_.parameters[setting.parameter].name;
    if (name == kClientParameter) {
      return Status(TAILRACE_INVALID_ARGUMENT,
                    fmt::format("found the parameter '{}', which is the client's id, expected another", name));
    }
    if (set[setting.parameter]) {
      return Status(TAILRACE_INVALID_ARGUMENT, fmt::format("found the parameter '{}' twice, expected it once", name));
    }
    set[setting.parameter] = true;
    values[setting.parameter] = setting.value;
  }
  return values;
}

Result<Layout> Shapes::evaluate(const Layout& layout, const std::vector<int64_t>& values) const {
  Layout made = layout;
  Status status;
  const auto put = [&](const char* what, const std::vector<int32_t>& sources, std::vector<uint64_t>& numbers) {
    for (size_t i = 0; i < sources.size() && status.ok(); ++i) {
      if (sources[i] == kNoParameter) continue;
      const auto source = static_cast<size_t>(sources[i]);
      if (values[source] < 0) {
        status =
            Status(TAILRACE_WRONG_SHAPE,
                   fmt::format("layout '{}', {}[{}]: found the parameter '{}' with the value {}, expected 0 or more",
                               layout.name, what, i, config_.parameters[source].name, values[source]));
      }
      numbers[i] = static_cast<uint64_t>(values[source]);
    }
  };
  put("shape", layout.sources.shape, made.shape);
  put("global", layout.sources.global_shape, made.global_shape);
  put("offset", layout.sources.offset, made.offset);
  if (status.ok()) status = check(made);
  if (!status.ok()) return status;
  return made;
}

Status Shapes::check(const Layout& layout) const {
  if (const std::optional<size_t> i = dimension_outside(layout)) {
    return Status(
        TAILRACE_WRONG_SHAPE,
        fmt::format("layout '{}', dimension {}: found offset {} and shape {}, expected both together at most "
                    "the global extent {}",
                    layout.name, *i, layout.offset[*i], layout.shape[*i], layout.global_shape[*i]));
  }
  const std::optional<uint64_t> bytes = checked_bytes(layout.shape, layout.type);
  if (!bytes || !checked_bytes(layout.global_shape, layout.type)) {
    return Status(TAILRACE_TOO_LARGE,
                  fmt::format("layout '{}': found {} [{}] of {}, expected fewer than 2^63 bytes", layout.name,
                              bytes ? "the global shape" : "the shape",
                              fmt::join(bytes ? layout.global_shape : layout.shape, ", "), name_of(layout.type)));
  }
  if (*bytes > config_.memory.budget) {
    return Status(TAILRACE_TOO_LARGE,
                  fmt::format("layout '{}': found blocks of {} bytes (shape [{}]), expected blocks that fit into the "
                              "memory budget of {} bytes",
                              layout.name, *bytes, fmt::join(layout.shape, ", "), config_.memory.budget));
  }
  return {};
}

}  // namespace tailrace::impl
