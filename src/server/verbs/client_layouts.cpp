#include "server/verbs/client_layouts.hpp"

#include <fmt/format.h>

#include <utility>

namespace tailrace::impl {
namespace {

Number value_of(const Descriptor::Setting& setting) {
  return setting.is_real != 0 ? Number(setting.real) : Number(setting.value);
}

}  // namespace

Status ClientLayouts::check(const Descriptor& descriptor) const {
  const Descriptor::Setting& setting = descriptor.setting;
  const size_t before = setting.index == 0 ? 0 : settings_.size();
  if (setting.index != before || setting.index >= setting.count || setting.count > declared_.parameters.size()) {
    return Status(TAILRACE_INVALID_ARGUMENT,
                  fmt::format("number {} of {} after {}", setting.index, setting.count, settings_.size()));
  }
  if (setting.index + 1 < setting.count) return {};
  std::vector<Shapes::Setting> all(settings_.begin(), settings_.begin() + static_cast<ptrdiff_t>(before));
  all.push_back({descriptor.variable, value_of(setting)});
  return shapes_.with(all).status();
}

Status ClientLayouts::set(const Descriptor& descriptor) {
  const Descriptor::Setting& setting = descriptor.setting;
  if (setting.index == 0) settings_.clear();  // left from a call that was given up
  settings_.push_back({descriptor.variable, value_of(setting)});
  if (settings_.size() < setting.count) return {};
  Result<Shapes::State> state = shapes_.with(std::exchange(settings_, {}));
  if (state.ok()) shapes_.take(std::move(state).value());
  return state.status();
}

}  // namespace tailrace::impl
