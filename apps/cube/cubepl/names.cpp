#include "cube/cubepl/names.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace tailrace::cube {
namespace {

using Object = Predefined::Object;
using Property = Predefined::Property;

struct Named {
  const char* name;
  Object object;
  Property property;
};

constexpr Named kProfile[] = {
    {"#mirrors", Object::profile, Property::mirrors},
    {"#metrics", Object::profile, Property::metrics},
    {"#root::metrics", Object::profile, Property::root_metrics},
    {"#regions", Object::profile, Property::regions},
    {"#callpaths", Object::profile, Property::call_paths},
    {"#root::callpaths", Object::profile, Property::root_call_paths},
    {"#locations", Object::profile, Property::locations},
    {"#threads", Object::profile, Property::locations},
    {"#locations::nonvoid", Object::profile, Property::locations},
    {"#locationgroups::nonvoid", Object::profile, Property::groups},
    {"#threads::nonvoid", Object::profile, Property::locations},
    {"#threads::void", Object::profile, Property::void_locations},
    {"#locationgroups", Object::profile, Property::groups},
    {"#processes", Object::profile, Property::groups},
    {"#processes::nonvoid", Object::profile, Property::groups},
    {"#processes::void", Object::profile, Property::void_groups},
    {"#stns", Object::profile, Property::nodes},
    {"#rootstns", Object::profile, Property::root_nodes},
    {"#root::stns", Object::profile, Property::root_nodes},
    {"filename", Object::profile, Property::file},
};

constexpr Named kObjects[] = {
    {"metric::id", Object::metric, Property::id},
    {"metric::uniq::name", Object::metric, Property::name},
    {"metric::disp::name", Object::metric, Property::other_name},
    {"metric::url", Object::metric, Property::url},
    {"metric::description", Object::metric, Property::description},
    {"metric::dtype", Object::metric, Property::data_type},
    {"metric::uom", Object::metric, Property::unit},
    {"metric::expression", Object::metric, Property::expression},
    {"metric::expression::init", Object::metric, Property::init_expression},
    {"metric::#children", Object::metric, Property::children},
    {"metric::parent::id", Object::metric, Property::parent},
    {"callpath::id", Object::call_path, Property::id},
    {"callpath::mod", Object::call_path, Property::module},
    {"callpath::line", Object::call_path, Property::line},
    {"callpath::#children", Object::call_path, Property::children},
    {"callpath::calleeid", Object::call_path, Property::callee},
    {"callpath::parent::id", Object::call_path, Property::parent},
    {"region::id", Object::region, Property::id},
    {"region::name", Object::region, Property::name},
    {"region::mangled::name", Object::region, Property::other_name},
    {"region::url", Object::region, Property::url},
    {"region::description", Object::region, Property::description},
    {"region::mod", Object::region, Property::module},
    {"region::begin::line", Object::region, Property::begin_line},
    {"region::end::line", Object::region, Property::end_line},
    {"region::paradigm", Object::region, Property::paradigm},
    {"region::role", Object::region, Property::role},
    {"stn::id", Object::node, Property::id},
    {"stn::name", Object::node, Property::name},
    {"stn::class", Object::node, Property::kind},
    {"stn::parent::id", Object::node, Property::parent},
    {"locationgroup::id", Object::group, Property::id},
    {"locationgroup::name", Object::group, Property::name},
    {"locationgroup::rank", Object::group, Property::rank},
    {"locationgroup::type", Object::group, Property::kind},
    {"locationgroup::parent::id", Object::group, Property::parent},
    {"location::id", Object::location, Property::id},
    {"location::name", Object::location, Property::name},
    {"location::rank", Object::location, Property::rank},
    {"location::type", Object::location, Property::kind},
    {"location::parent::id", Object::location, Property::parent},
};

// These exist for calculations alone.
constexpr Named kCalculation[] = {
    {"sysres::id", Object::location, Property::id},        {"sysres::name", Object::location, Property::name},
    {"sysres::rank", Object::location, Property::rank},    {"sysres::kind", Object::location, Property::kind},
    {"thread::void", Object::location, Property::is_void}, {"process::void", Object::group, Property::is_void},
};

template <size_t N>
const Named* find(const Named (&names)[N], std::string_view name) {
  const auto found =
      std::find_if(std::begin(names), std::end(names), [&](const Named& one) { return name == one.name; });
  return found == std::end(names) ? nullptr : found;
}

}  // namespace

std::optional<FunctionName> function_of(std::string_view name) {
  static const std::unordered_map<std::string, FunctionName> kNames = {{"abs", {Function::abs, 1}},
                                                                       {"acos", {Function::acos, 1}},
                                                                       {"acot", {Function::acot, 1}},
                                                                       {"asin", {Function::asin, 1}},
                                                                       {"atan", {Function::atan, 1}},
                                                                       {"ceil", {Function::ceil, 1}},
                                                                       {"cos", {Function::cos, 1}},
                                                                       {"cot", {Function::cot, 1}},
                                                                       {"exp", {Function::exp, 1}},
                                                                       {"floor", {Function::floor, 1}},
                                                                       {"ln", {Function::ln, 1}},
                                                                       {"log", {Function::ln, 1}},
                                                                       {"neg", {Function::neg, 1}},
                                                                       {"pos", {Function::pos, 1}},
                                                                       {"random", {Function::random, 1}},
                                                                       {"sgn", {Function::sgn, 1}},
                                                                       {"sin", {Function::sin, 1}},
                                                                       {"sqrt", {Function::sqrt, 1}},
                                                                       {"tan", {Function::tan, 1}},
                                                                       {"min", {Function::min, 2}},
                                                                       {"max", {Function::max, 2}},
                                                                       {"lowercase", {Function::lowercase, 1}},
                                                                       {"uppercase", {Function::uppercase, 1}},
                                                                       {"env", {Function::env, 1}}};
  const auto found = kNames.find(std::string(name));
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Predefined> predefined_of(std::string_view name) {
  constexpr std::string_view kCube = "cube::";
  constexpr std::string_view kCalculated = "calculation::";
  const bool calculation = name.starts_with(kCalculated);
  if (!calculation && !name.starts_with(kCube)) return std::nullopt;
  name.remove_prefix(calculation ? kCalculated.size() : kCube.size());
  const Named* found = find(kObjects, name);
  if (found == nullptr) found = calculation ? find(kCalculation, name) : find(kProfile, name);
  if (found == nullptr) return std::nullopt;
  if (calculation && (name.starts_with("stn::") || name.starts_with("location"))) return std::nullopt;
  return Predefined{found->object, found->property, calculation};
}

}  // namespace tailrace::cube
