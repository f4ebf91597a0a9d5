// The part of Client that changes layouts and switches variables while the program runs.
#include <fmt/format.h>

#include <utility>

#include "base/names/nearest_word.hpp"
#include "client/client.hpp"

namespace tailrace::impl {

// The setting goes through the ring among the verbs, so each block has the layout with which it was handed over.
Status Client::set_parameters(std::span<const std::pair<std::string_view, Number>> values) {
  const auto refuse = [](const Status& why) {
    Fault fault = why.fault();
    fault.operation = "set_parameters";
    fault.message = "set_parameters: " + fault.message;
    return Status(std::move(fault));
  };
  const Result<std::vector<Shapes::Setting>> settings = find_parameters(values);
  if (!settings.ok()) return refuse(settings.status());
  Result<Shapes::State> state = shapes_.with(settings.value());
  if (!state.ok()) return refuse(state.status());
  if (Status held = check_uncommitted(state.value()); !held.ok()) return refuse(held);
  if (Status sent = send_settings(settings.value()); !sent.ok()) return refuse(sent);
  shapes_.take(std::move(state).value());
  return {};
}

Result<std::vector<Shapes::Setting>> Client::find_parameters(
    std::span<const std::pair<std::string_view, Number>> values) const {
  std::vector<Shapes::Setting> settings;
  for (const auto& [name, value] : values) {
    const int index = config_.find_parameter(name);
    if (index < 0) {
      std::vector<std::string_view> names;
      for (const Parameter& parameter : config_.parameters) names.emplace_back(parameter.name);
      const std::string nearest = nearest_word(name, names);
      return Status(
          TAILRACE_INVALID_ARGUMENT,
          fmt::format("parameter '{}' is neither in {} nor set at open; there are: {}{}", name, config_.source,
                      fmt::join(names, ", "), nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
    }
    settings.push_back({static_cast<uint32_t>(index), value});
  }
  return settings;
}

// A block that is being built has the size that it was allocated with.
Status Client::check_uncommitted(const Shapes::State& state) {
  for (const int64_t number : iterations_.numbers()) {
    const Iteration& iteration = *iterations_.find(number);
    for (uint32_t variable = 0; variable < iteration.uncommitted.size(); ++variable) {
      if (!iteration.uncommitted[variable].held()) continue;
      const Variable& of = config_.variables[variable];
      if (state.layouts[of.layout] == shapes_.of(variable)) continue;
      Fault fault;
      fault.code = TAILRACE_WRONG_ORDER;
      fault.variable = of.name;
      fault.iteration = number;
      fault.message = fmt::format(
          "'{}', iteration {}: found its block allocated and not committed, and its layout '{}' "
          "would change; commit it first",
          of.name, number, config_.layouts[of.layout].name);
      return Status(std::move(fault));
    }
  }
  return {};
}

Status Client::send_settings(const std::vector<Shapes::Setting>& settings) {
  Descriptor descriptor;
  descriptor.verb = Verb::parameter;
  descriptor.setting = {};
  descriptor.setting.count = static_cast<uint32_t>(settings.size());
  for (const Shapes::Setting& setting : settings) {
    descriptor.variable = setting.parameter;
    descriptor.setting.is_real = setting.value.is_real() ? 1 : 0;
    descriptor.setting.real = setting.value.real();
    descriptor.setting.value = setting.value.is_real() ? 0 : setting.value.whole();
    if (Status sent = link_.send(descriptor); !sent.ok()) return sent;
    ++descriptor.setting.index;
  }
  return {};
}

Status Client::enable(std::string_view variable, bool on) {
  const Result<uint32_t> index = find(variable);
  if (!index.ok()) return index.status();
  enabled_[index.value()] = on;
  return {};
}

}  // namespace tailrace::impl
