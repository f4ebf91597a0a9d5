#include "damaris/run/parameters.hpp"

#include <algorithm>
#include <cstring>

namespace tailrace::damaris {
namespace {

template <class T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <class T>
T value_of(const std::vector<std::byte>& bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

std::vector<std::byte> initial_bytes(const Parameter& parameter) {
  if (const auto* text = std::get_if<std::string>(&parameter.value)) {
    const auto* const begin = reinterpret_cast<const std::byte*>(text->c_str());
    return {begin, begin + text->size() + 1};
  }
  if (const auto* real = std::get_if<double>(&parameter.value)) {
    return parameter.type == ElementType::float32 ? bytes_of(static_cast<float>(*real)) : bytes_of(*real);
  }
  const int64_t whole = std::get<int64_t>(parameter.value);
  if (parameter.type == ElementType::int16) return bytes_of(static_cast<int16_t>(whole));
  if (parameter.type == ElementType::int32) return bytes_of(static_cast<int32_t>(whole));
  return bytes_of(whole);
}

}  // namespace

Parameters::Parameters(const Model& model) {
  for (const Parameter& one : model.parameters) values_[one.name] = {one.type, initial_bytes(one)};
}

bool Parameters::get(const std::string& name, void* to, size_t bytes) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return false;
  const std::vector<std::byte>& value = found->second.bytes;
  std::memcpy(to, value.data(), std::min(bytes, value.size()));
  return true;
}

// A text takes the length that it is given.
bool Parameters::set(const std::string& name, const void* from, size_t bytes) {
  const auto found = values_.find(name);
  if (found == values_.end()) return false;
  std::vector<std::byte>& value = found->second.bytes;
  if (found->second.type == ElementType::text) value.resize(bytes);
  std::memcpy(value.data(), from, std::min(bytes, value.size()));
  ++version_;
  return true;
}

std::optional<int64_t> Parameters::integer(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  const std::vector<std::byte>& bytes = found->second.bytes;
  switch (found->second.type) {
    case ElementType::int16: return value_of<int16_t>(bytes);
    case ElementType::int32: return value_of<int32_t>(bytes);
    case ElementType::int64: return value_of<int64_t>(bytes);
    default: return std::nullopt;
  }
}

}  // namespace tailrace::damaris
