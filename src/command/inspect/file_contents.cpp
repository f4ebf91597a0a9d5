#include "command/inspect/file_contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace tailrace::impl {
namespace {

constexpr size_t kMostDigits = 18;  // of an iteration's number

constexpr const char* kProvenance[] = {"software",
                                       "softwareVersion",
                                       "date",
                                       "machine",
                                       "author",
                                       "openPMD",
                                       "tailraceClient",
                                       "tailraceConfiguration",
                                       "tailraceDurability",
                                       "tailraceRun"};

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

OrderedJson json_of(const OutlineValue::Element& element) {
  return std::visit(
      [](const auto& value) -> OrderedJson {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return nullptr;
        } else {
          return value;
        }
      },
      element);
}

// Returns the elements from `at` on as nested lists; `at` moves behind them.
OrderedJson nested(const OutlineValue& value, size_t axis, size_t& at) {
  if (axis == value.shape.size()) {
    return at < value.elements.size() ? json_of(value.elements[at++]) : OrderedJson();
  }
  OrderedJson list = OrderedJson::array();
  for (uint64_t row = 0; row < value.shape[axis] && at < value.elements.size(); ++row) {
    list.push_back(nested(value, axis + 1, at));
  }
  return list;
}

bool is_text(const OutlineValue* value, std::string_view text) {
  if (value == nullptr || value->elements.size() != 1) return false;
  const auto* const found = std::get_if<std::string>(&value->elements[0]);
  return found != nullptr && *found == text;
}

// Coordinates (format: {dimension_scales: true}) are no variables of the program.
bool is_scale(const OutlineObject& object) { return is_text(object.attribute("CLASS"), "DIMENSION_SCALE"); }

void add_components(const std::string& name, const OutlineObject& record, std::vector<OutlinePart>& to) {
  if (record.is_dataset || record.attribute("value") != nullptr) {
    to.push_back({name, &record, &record});
    return;
  }
  for (const auto& [component, part] : record.children) to.push_back({name + "/" + component, &part, &record});
}

OrderedJson variable_json(const OutlinePart& one) {
  OrderedJson json = {
      {"name", one.name}, {"dtype", type_of(*one.part)}, {"shape", shape_of(*one.part)}, {"bytes", one.part->bytes}};
  const auto add = [&](const char* key, const OutlineObject& holder, const char* attribute) {
    if (const OutlineValue* value = holder.attribute(attribute)) json[key] = json_of(*value);
  };
  add("unit", *one.part, "unit");
  add("unitSI", *one.part, "unitSI");
  add("unitDimension", *one.record, "unitDimension");
  add("axisLabels", *one.record, "axisLabels");
  add("gridSpacing", *one.record, "gridSpacing");
  add("globalShape", *one.part, "tailraceGlobalShape");
  add("offset", *one.part, "tailraceOffset");
  add("description", *one.record, "description");
  return json;
}

OrderedJson iteration_json(int64_t number, const OutlineObject& group, const std::vector<OutlinePart>& parts) {
  OrderedJson variables = OrderedJson::array();
  for (const OutlinePart& part : parts) variables.push_back(variable_json(part));
  const auto list = [&](const char* name) {
    return group.attribute(name) == nullptr ? OrderedJson::array() : attribute_of(group, name);
  };
  return {{"iteration", number},
          {"time", attribute_of(group, "time")},
          {"dt", attribute_of(group, "dt")},
          {"timeUnitSI", attribute_of(group, "timeUnitSI")},
          {"signals", list("tailraceSignals")},
          {"missingClients", list("tailraceMissingClients")},
          {"missingUnnamed", static_cast<int64_t>(number_of(group, "tailraceMissingUnnamed").value_or(0))},
          {"variables", std::move(variables)}};
}

OrderedJson iterations_json_of(const std::string& path, const Outline& file) {
  OrderedJson list = OrderedJson::array();
  if (is_plain(file)) {
    std::vector<OutlinePart> parts;
    for (const auto& [name, dataset] : file.datasets) parts.push_back({name, &dataset, &dataset});
    const auto numbered = numbered_name(std::filesystem::path(path).filename().string());
    list.push_back(iteration_json(numbered ? numbered->number : 0, file.root, parts));
    return list;
  }
  if (file.root.attribute("openPMD") == nullptr || !file.has_data) {
    throw Unreadable("an HDF5 file, but neither an openPMD one nor one of tailrace's format plain");
  }
  std::vector<std::pair<int64_t, std::string>> numbers;
  for (const std::string& name : file.iterations) {
    if (const auto number = iteration_number(name)) numbers.emplace_back(*number, name);
  }
  std::sort(numbers.begin(), numbers.end());
  for (const auto& [number, name] : numbers) {
    const auto group = file.groups.find("data/" + name);
    if (group != file.groups.end()) list.push_back(iteration_json(number, group->second, parts_of(group->second)));
  }
  return list;
}

[[noreturn]] void refuse(const Status& status) {
  const Fault& fault = status.fault();
  if (fault.system_errno == EACCES) throw Unreadable("permission denied");
  throw Unreadable(
      fmt::format("not a readable HDF5 file; truncated, damaged, or something else ({})", fault.message));
}

Outline whole_outline(const std::string& path) {
  const Result<Outline> first = file_outline(path, {.iterations = true});
  if (!first.ok()) refuse(first.status());
  OutlineWanted wanted{.iterations = true, .datasets = is_plain(first.value())};
  for (const std::string& name : first.value().iterations) {
    if (!wanted.datasets && iteration_number(name)) wanted.groups.push_back("data/" + name);
  }
  Result<Outline> whole = file_outline(path, wanted);
  if (!whole.ok()) refuse(whole.status());
  return std::move(whole).value();
}

}  // namespace

bool is_plain(const Outline& file) {
  return file.root.attribute("timeUnitSI") != nullptr && file.root.attribute("time") != nullptr &&
         file.root.attribute("openPMD") == nullptr;
}

std::vector<OutlinePart> parts_of(const OutlineObject& iteration) {
  std::vector<OutlinePart> parts;
  if (const OutlineObject* meshes = iteration.child("meshes")) {
    for (const auto& [name, mesh] : meshes->children) {
      if (!is_scale(mesh)) add_components(name, mesh, parts);
    }
  }
  if (const OutlineObject* particles = iteration.child("particles")) {
    for (const auto& [species, records] : particles->children) {
      for (const auto& [name, record] : records.children) {
        if (name != "particlePatches" && name != "positionOffset")
          add_components(species + "/" + name, record, parts);
      }
    }
  }
  return parts;
}

OrderedJson json_of(const OutlineValue& value) {
  size_t at = 0;
  return nested(value, 0, at);
}

OrderedJson attribute_of(const OutlineObject& of, const std::string& name) {
  const OutlineValue* const value = of.attribute(name);
  return value == nullptr ? OrderedJson() : json_of(*value);
}

std::optional<double> number_of(const OutlineObject& of, const std::string& name) {
  const OutlineValue* const value = of.attribute(name);
  if (value == nullptr || value->elements.size() != 1) return std::nullopt;
  const OrderedJson json = json_of(value->elements[0]);
  return json.is_number() ? std::optional(json.get<double>()) : std::nullopt;
}

std::string type_of(const OutlineObject& part) { return part.is_dataset ? part.type : "constant"; }

std::vector<uint64_t> shape_of(const OutlineObject& part) {
  const OutlineValue* const said = part.attribute("shape");
  if (part.is_dataset || said == nullptr) return part.shape;
  std::vector<uint64_t> shape;
  for (const OutlineValue::Element& element : said->elements) {
    const OrderedJson json = json_of(element);
    shape.push_back(json.is_number() ? json.get<uint64_t>() : 0);
  }
  return shape;
}

std::optional<NumberedName> numbered_name(std::string_view name) {
  const std::string_view stem = name.ends_with(".h5") ? name.substr(0, name.size() - 3) : name;
  size_t begin = std::string_view::npos;
  for (size_t at = stem.find("_It"); at != std::string_view::npos; at = stem.find("_It", at + 1)) {
    if (at + 3 >= stem.size() || !is_digit(stem[at + 3])) continue;
    begin = at + 3;
    break;
  }
  if (begin == std::string_view::npos) {
    const size_t last = stem.find_last_of("0123456789");
    if (last == std::string_view::npos) return std::nullopt;
    begin = last;
    while (begin > 0 && is_digit(stem[begin - 1])) --begin;
  }
  size_t end = begin;
  while (end < stem.size() && is_digit(stem[end])) ++end;
  const auto number = iteration_number(stem.substr(begin, end - begin));
  if (!number) return std::nullopt;
  return NumberedName{fmt::format("{}{{iteration}}{}", name.substr(0, begin), name.substr(end)), *number};
}

std::optional<int64_t> iteration_number(std::string_view name) {
  if (name.empty() || name.size() > kMostDigits || !std::all_of(name.begin(), name.end(), is_digit)) return {};
  return std::stoll(std::string(name));
}

std::string plain_path(std::string_view path) {
  const bool is_absolute = path.starts_with('/');
  std::string result;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part.empty() || part == ".") continue;
    result += (result.empty() && !is_absolute ? "" : "/") + std::string(part);
  }
  return !result.empty() ? result : is_absolute ? "/" : ".";
}

OrderedJson hdf5_contents(const std::string& path) {
  const auto stripes = stripes_of(path);
  if (!stripes.ok() && stripes.status().fault().system_errno == EACCES) throw Unreadable("permission denied");
  if (!stripes.ok()) throw Unreadable(stripes.status().fault().message);
  OrderedJson where;
  if (stripes.value()) {
    const StripePlaces& of = *stripes.value();
    if (of.index != 0) {
      throw Unreadable(
          fmt::format("{}: found object {} of a striped file, expected its object 0, which has the "
                      "file's name",
                      path, of.index));
    }
    where = {{"unit", of.unit}, {"first", of.first}, {"objects", of.objects}};
  }
  const Result<uint64_t> bytes = file_bytes(path);
  if (!bytes.ok() && stripes.value()) throw Unreadable(bytes.status().fault().message);
  if (!bytes.ok()) refuse(bytes.status());
  const Outline file = whole_outline(path);
  OrderedJson provenance = OrderedJson::object();
  for (const char* name : kProvenance) {
    if (const OutlineValue* value = file.root.attribute(name)) provenance[name] = json_of(*value);
  }
  return {{"path", plain_path(path)},
          {"bytes", bytes.value()},
          {"stripes", std::move(where)},
          {"provenance", std::move(provenance)},
          {"iterations", iterations_json_of(path, file)}};
}

}  // namespace tailrace::impl
