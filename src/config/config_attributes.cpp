#include "config/config_attributes.hpp"

#include <algorithm>
#include <utility>

#include "model/wire/attribute_wire.hpp"

namespace tailrace::impl {
namespace {

constexpr std::string_view expected_value = "a number, a text, or a list of numbers or of texts";

// An integer is int64, another number float64, and everything else a text.
AttributeValue read_one(const YamlValue& value) {
  if (const std::optional<int64_t> whole = value.maybe_integer()) return *whole;
  if (const std::optional<double> real = value.maybe_number()) return *real;
  return value.prose();
}

template <class T>
std::vector<T> all_as(const std::vector<AttributeValue>& values) {
  std::vector<T> list;
  for (const AttributeValue& value : values) list.push_back(std::get<T>(value));
  return list;
}

double as_real(const AttributeValue& value) {
  const auto* const whole = std::get_if<int64_t>(&value);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
}

AttributeValue read_value(const YamlValue& value) {
  if (!value.is_list()) {
    if (value.is_scalar()) return read_one(value);
    value.wrong(expected_value);
    return int64_t{0};
  }
  std::vector<AttributeValue> values;
  for (const YamlValue& item : value.items(expected_value)) {
    if (!item.is_scalar()) item.wrong("a number or a text");
    values.push_back(read_one(item));
  }
  if (!value.is_right()) return int64_t{0};
  const auto count = [&values](size_t kind) {
    return static_cast<size_t>(
        std::count_if(values.begin(), values.end(), [kind](const auto& one) { return one.index() == kind; }));
  };
  const size_t texts = count(AttributeValue(std::string()).index());
  if (texts == values.size()) return all_as<std::string>(values);
  if (texts > 0) {
    value.fault("a list of numbers and texts", "numbers or texts alone", "put the numbers in quotes");
    return int64_t{0};
  }
  if (count(AttributeValue(int64_t{0}).index()) == values.size()) return all_as<int64_t>(values);
  std::vector<double> reals;
  for (const AttributeValue& one : values) reals.push_back(as_real(one));
  return reals;
}

}  // namespace

std::vector<Attribute> read_attributes(const YamlValue& value, AttributeOf of) {
  std::vector<Attribute> attributes;
  for (const YamlValue& entry : value.entries("a mapping of names to values, such as {author: A. Nomura}")) {
    Status valid = check_attribute_name(of, entry.key());
    if (!valid.ok()) {
      entry.fault_at_key("the name " + in_quotes(entry.key()), valid.fault().message);
      continue;
    }
    AttributeValue made = read_value(entry);
    if (!entry.is_right()) continue;
    valid = check_attribute_value(made);
    if (!valid.ok()) entry.wrong(expected_value, valid.fault().message);
    if (valid.ok() && to_bytes(entry.key(), made).size() > kMostAttributeBytes) {
      entry.fault("a value of many bytes", "at most " + std::to_string(kMostAttributeBytes) + " bytes");
    }
    attributes.emplace_back(entry.key(), std::move(made));
  }
  return attributes;
}

}  // namespace tailrace::impl
