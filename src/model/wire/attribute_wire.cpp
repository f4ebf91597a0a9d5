#include "model/wire/attribute_wire.hpp"

#include <fmt/format.h>
#include <tailrace/tailrace.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kPartBytes = sizeof(Descriptor::Part::bytes);
constexpr uint32_t kMostParts = (kMostAttributeBytes + kPartBytes - 1) / kPartBytes;

class AttributeWriter {
 public:
  template <class T>
  void put(const T& number) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&number);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof number);
  }
  void put_text(std::string_view text) {
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), bytes, bytes + text.size());
  }
  void put_element(int64_t number) { put(number); }
  void put_element(double number) { put(number); }
  void put_element(const std::string& text) {
    put(static_cast<uint32_t>(text.size()));
    put_text(text);
  }
  template <class T>
  void put_elements(const T& value) {
    put(uint32_t{1});
    put_element(value);
  }
  template <class T>
  void put_elements(const std::vector<T>& values) {
    put(static_cast<uint32_t>(values.size()));
    for (const T& value : values) put_element(value);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Reads within its bytes; after a failure all that it returns is 0 or empty.
class AttributeReader {
 public:
  explicit AttributeReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    T number{};
    const std::span<const std::byte> from = next(sizeof number);
    if (!from.empty()) std::memcpy(&number, from.data(), sizeof number);
    return number;
  }
  std::string get_text(size_t length) {
    const std::span<const std::byte> from = next(length);
    return {reinterpret_cast<const char*>(from.data()), from.size()};
  }
  void get_element(int64_t& to) { to = get<int64_t>(); }
  void get_element(double& to) { to = get<double>(); }
  void get_element(std::string& to) { to = get_text(get<uint32_t>()); }
  template <class T>
  AttributeValue get_one() {
    T value{};
    if (get<uint32_t>() != 1) good_ = false;
    get_element(value);
    return value;
  }
  template <class T>
  AttributeValue get_all() {
    const auto count = get<uint32_t>();
    std::vector<T> values;
    for (uint32_t i = 0; i < count && good_; ++i) get_element(values.emplace_back());
    return values;
  }
  bool good_to_the_end() const { return good_ && bytes_.empty(); }

 private:
  std::span<const std::byte> next(size_t length) {
    if (length > bytes_.size()) good_ = false;
    if (!good_) return {};
    const std::span<const std::byte> taken = bytes_.first(length);
    bytes_ = bytes_.subspan(length);
    return taken;
  }

  std::span<const std::byte> bytes_;
  bool good_ = true;
};

AttributeValue read_value(AttributeReader& reader, uint8_t kind) {
  switch (kind) {
    case 0: return reader.get_one<int64_t>();
    case 1: return reader.get_one<double>();
    case 2: return reader.get_one<std::string>();
    case 3: return reader.get_all<int64_t>();
    case 4: return reader.get_all<double>();
    default: return reader.get_all<std::string>();
  }
}

}  // namespace

std::vector<std::byte> to_bytes(std::string_view name, const AttributeValue& value) {
  TAILRACE_REQUIRE(name.size() <= kMostAttributeName);
  AttributeWriter writer;
  writer.put(static_cast<uint8_t>(value.index()));
  writer.put(static_cast<uint8_t>(name.size()));
  writer.put_text(name);
  std::visit([&writer](const auto& elements) { writer.put_elements(elements); }, value);
  return writer.take();
}

Result<Attribute> to_attribute(std::span<const std::byte> bytes) {
  AttributeReader reader(bytes);
  const auto kind = reader.get<uint8_t>();
  const auto length = reader.get<uint8_t>();
  std::string name = reader.get_text(length);
  AttributeValue value = read_value(reader, kind);
  if (kind >= std::variant_size_v<AttributeValue> || !reader.good_to_the_end()) {
    return Status(TAILRACE_INVALID_ARGUMENT, "found bytes that are no attribute");
  }
  if (Status valid = check_attribute_value(value); !valid.ok()) return valid;
  return Attribute{std::move(name), std::move(value)};
}

uint32_t attribute_parts(size_t bytes) { return static_cast<uint32_t>((bytes + kPartBytes - 1) / kPartBytes); }

Descriptor::Part attribute_part(std::span<const std::byte> bytes, uint32_t index) {
  Descriptor::Part part{};
  const std::span<const std::byte> from = bytes.subspan(size_t{index} * kPartBytes);
  part.index = static_cast<uint16_t>(index);
  part.count = static_cast<uint16_t>(attribute_parts(bytes.size()));
  part.length = static_cast<uint8_t>(std::min(from.size(), kPartBytes));
  std::memcpy(part.bytes, from.data(), part.length);
  return part;
}

Status AttributeParts::check(const Descriptor& descriptor) const {
  const Descriptor::Part& part = descriptor.part;
  const bool follows = part.index == 0 || (part.index == next_ && part.count == count_ &&
                                           descriptor.variable == variable_ && descriptor.iteration == iteration_);
  const bool fits = part.count <= kMostParts && part.index < part.count && part.length <= kPartBytes;
  if (follows && fits) return {};
  return Status(TAILRACE_INVALID_ARGUMENT, fmt::format("part {} of {} of an attribute, of {} bytes, after {}",
                                                       part.index, part.count, part.length, next_));
}

bool AttributeParts::add(const Descriptor& descriptor) {
  TAILRACE_REQUIRE(check(descriptor).ok());
  const Descriptor::Part& part = descriptor.part;
  if (part.index == 0) bytes_.clear();  // others are left from a call that was given up
  const auto* from = reinterpret_cast<const std::byte*>(part.bytes);
  bytes_.insert(bytes_.end(), from, from + part.length);
  next_ = part.index + 1u;
  count_ = part.count;
  variable_ = descriptor.variable;
  iteration_ = descriptor.iteration;
  return next_ == count_;
}

Result<Attribute> AttributeParts::take() {
  next_ = 0;
  return to_attribute(std::exchange(bytes_, {}));
}

}  // namespace tailrace::impl
