#include "damaris/xml/model.hpp"

#include <algorithm>

namespace tailrace::damaris {
namespace {

template <class T>
std::optional<size_t> find(const std::vector<T>& things, const std::string& name) {
  const auto found = std::find_if(things.begin(), things.end(), [&](const T& one) { return one.name == name; });
  return found == things.end() ? std::nullopt : std::optional<size_t>(found - things.begin());
}

}  // namespace

std::optional<size_t> Model::find_parameter(const std::string& parameter) const {
  return find(parameters, parameter);
}
std::optional<size_t> Model::find_variable(const std::string& variable) const { return find(variables, variable); }

size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::int8:
    case ElementType::text: return 1;
    case ElementType::int16: return 2;
    case ElementType::int32:
    case ElementType::float32: return 4;
    case ElementType::int64:
    case ElementType::float64: return 8;
  }
  return 0;
}

}  // namespace tailrace::damaris
