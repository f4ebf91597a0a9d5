// Parameters: the values of a description's parameters in this process, as bytes that the program reads and sets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "damaris/xml/model.hpp"

namespace tailrace::damaris {

class Parameters {
 public:
  explicit Parameters(const Model& model);

  // Copy as many bytes as both sides have. Return false if there is no such parameter.
  bool get(const std::string& name, void* to, size_t bytes) const;
  bool set(const std::string& name, const void* from, size_t bytes);

  // Returns the value of an integer; none if there is no such parameter.
  std::optional<int64_t> integer(const std::string& name) const;

  // Grows with each change.
  uint64_t version() const { return version_; }

 private:
  struct Value {
    ElementType type;
    std::vector<std::byte> bytes;
  };

  std::unordered_map<std::string, Value> values_;
  uint64_t version_ = 1;
};

}  // namespace tailrace::damaris
