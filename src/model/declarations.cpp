#include "model/declarations.hpp"

#include <algorithm>

namespace tailrace::impl {

int Declarations::find_variable(std::string_view variable) const {
  for (size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].name == variable) return static_cast<int>(i);
  }
  return -1;
}

int Declarations::find_parameter(std::string_view parameter) const {
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == parameter) return static_cast<int>(i);
  }
  return -1;
}

bool Declarations::has_particles() const {
  return std::any_of(variables.begin(), variables.end(), [](const Variable& one) { return one.record.of_particles; });
}

}  // namespace tailrace::impl
