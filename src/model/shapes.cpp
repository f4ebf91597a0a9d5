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
         depends_on(sources.offset, changed) || depends_on(sources.spacing, changed) ||
         depends_on(sources.origin, changed) || depends_on(sources.patch_offset, changed) ||
         depends_on(sources.patch_extent, changed);
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

Shapes::Shapes(const Declarations& declared, uint64_t budget) : declared_(declared), budget_(budget) {
  for (const Parameter& parameter : declared.parameters) now_.values.push_back(parameter.value);
  for (const Layout& layout : declared.layouts) now_.layouts.push_back(std::make_shared<const Layout>(layout));
  all_ = std::make_shared<const Layouts>(now_.layouts);
}

Result<Shapes::State> Shapes::with(std::span<const Setting> settings) const {
  Result<std::vector<Number>> values = values_with(settings);
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

Result<std::vector<Number>> Shapes::values_with(std::span<const Setting> settings) const {
  std::vector<Number> values = now_.values;
  std::vector<bool> set(values.size());
  for (const Setting& setting : settings) {
    if (setting.parameter >= values.size()) {
      return Status(TAILRACE_INVALID_ARGUMENT,
                    fmt::format("found parameter {} of {}", setting.parameter, values.size()));
    }
    const std::string& name = declared_.parameters[setting.parameter].name;
    if (name == kClientParameter) {
      return Status(TAILRACE_INVALID_ARGUMENT,
                    fmt::format("found the parameter '{}', which is the client's id, expected another", name));
    }
    if (set[setting.parameter]) {
      return Status(TAILRACE_INVALID_ARGUMENT, fmt::format("found the parameter '{}' twice, expected it once", name));
    }
    set[setting.parameter] = true;
    const Result<Number> value = value_for(declared_.parameters[setting.parameter], setting.value);
    if (!value.ok()) return value.status();
    values[setting.parameter] = value.value();
  }
  return values;
}

// A parameter remains what it was at open: an integer, or a real number.
Result<Number> Shapes::value_for(const Parameter& parameter, const Number& value) const {
  if (parameter.value.is_real() && value.is_finite()) return Number(value.real());
  if (!parameter.value.is_real() && !value.is_real()) return value;
  return Status(TAILRACE_INVALID_ARGUMENT,
                fmt::format("parameter '{}': found the value {}, expected {}", parameter.name, text_of(value),
                            parameter.value.is_real() ? "a finite number" : "an integer, as it was at open"));
}

Result<Layout> Shapes::evaluate(const Layout& layout, const std::vector<Number>& values) const {
  Layout made = layout;
  Status status;
  const auto put = [&](const char* what, const std::vector<int32_t>& sources, std::vector<uint64_t>& numbers) {
    for (size_t i = 0; i < sources.size() && status.ok(); ++i) {
      if (sources[i] == kNoParameter) continue;
      const auto source = static_cast<size_t>(sources[i]);
      if (values[source].is_real() || values[source].whole() < 0) {
        status =
            Status(TAILRACE_WRONG_SHAPE,
                   fmt::format("layout '{}', {}[{}]: found the parameter '{}' with the value {}, expected 0 or more",
                               layout.name, what, i, declared_.parameters[source].name, text_of(values[source])));
        return;
      }
      numbers[i] = static_cast<uint64_t>(values[source].whole());
    }
  };
  const auto put_reals = [&](const std::vector<int32_t>& sources, std::vector<double>& numbers) {
    for (size_t i = 0; i < sources.size(); ++i) {
      if (sources[i] != kNoParameter) numbers[i] = values[static_cast<size_t>(sources[i])].real();
    }
  };
  put("shape", layout.sources.shape, made.shape);
  put("global", layout.sources.global_shape, made.global_shape);
  put("offset", layout.sources.offset, made.offset);
  put_reals(layout.sources.spacing, made.spacing);
  put_reals(layout.sources.origin, made.origin);
  put_reals(layout.sources.patch_offset, made.patch_offset);
  put_reals(layout.sources.patch_extent, made.patch_extent);
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
  for (size_t i = 0; i < layout.spacing.size(); ++i) {
    if (layout.spacing[i] != 0) continue;
    return Status(TAILRACE_WRONG_SHAPE,
                  fmt::format("layout '{}', spacing[{}]: found 0, expected another number", layout.name, i));
  }
  const std::optional<uint64_t> bytes = checked_bytes(layout.shape, layout.type);
  if (!bytes || !checked_bytes(layout.global_shape, layout.type)) {
    return Status(TAILRACE_TOO_LARGE,
                  fmt::format("layout '{}': found {} [{}] of {}, expected fewer than 2^63 bytes", layout.name,
                              bytes ? "the global shape" : "the shape",
                              fmt::join(bytes ? layout.global_shape : layout.shape, ", "), name_of(layout.type)));
  }
  if (*bytes > budget_) {
    return Status(TAILRACE_TOO_LARGE,
                  fmt::format("layout '{}': found blocks of {} bytes (shape [{}]), expected blocks that fit into the "
                              "memory budget of {} bytes",
                              layout.name, *bytes, fmt::join(layout.shape, ", "), budget_));
  }
  return {};
}

}  // namespace tailrace::impl
