#include "model/wire/attribute_wire.hpp"

#include <fmt/format.h>
#include <tailrace/tailrace.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/names/counted.hpp"
#include "model/wire/packed_bytes.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kPartBytes = sizeof(Descriptor::Part::bytes);
constexpr uint32_t kMostParts = (kMostAttributeBytes + kPartBytes - 1) / kPartBytes;

void put_element(PackedBytes& to, int64_t number) { to.put(number); }
void put_element(PackedBytes& to, double number) { to.put(number); }
void put_element(PackedBytes& to, const std::string& text) { to.put_string(text); }

template <class T>
void put_elements(PackedBytes& to, const T& value) {
  to.put(uint32_t{1});
  put_element(to, value);
}
template <class T>
void put_elements(PackedBytes& to, const std::vector<T>& values) {
  to.put(static_cast<uint32_t>(values.size()));
  for (const T& value : values) put_element(to, value);
}

void get_element(PackedReader& from, int64_t& to) { to = from.get<int64_t>(); }
void get_element(PackedReader& from, double& to) { to = from.get<double>(); }
void get_element(PackedReader& from, std::string& to) { to = from.get_string(); }

template <class T>
AttributeValue get_one(PackedReader& from) {
  T value{};
  if (from.get<uint32_t>() != 1) from.fail();
  get_element(from, value);
  return value;
}
template <class T>
AttributeValue get_all(PackedReader& from) {
  const auto count = from.get<uint32_t>();
  std::vector<T> values;
  for (uint32_t i = 0; i < count && from.good(); ++i) get_element(from, values.emplace_back());
  return values;
}

AttributeValue read_value(PackedReader& reader, uint8_t kind) {
  switch (kind) {
    case 0: return get_one<int64_t>(reader);
    case 1: return get_one<double>(reader);
    case 2: return get_one<std::string>(reader);
    case 3: return get_all<int64_t>(reader);
    case 4: return get_all<double>(reader);
    default: return get_all<std::string>(reader);
  }
}

}  // namespace

std::vector<std::byte> to_bytes(std::string_view name, const AttributeValue& value) {
  TAILRACE_REQUIRE(name.size() <= kMostAttributeName);
  PackedBytes writer;
  writer.put(static_cast<uint8_t>(value.index()));
  writer.put(static_cast<uint8_t>(name.size()));
  writer.put_text(name);
  std::visit([&writer](const auto& elements) { put_elements(writer, elements); }, value);
  return writer.take();
}

Result<Attribute> to_attribute(std::span<const std::byte> bytes) {
  PackedReader reader(bytes);
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

Status AttributeParts::check(const Descriptor& descriptor, bool some_lost) const {
  const Descriptor::Part& part = descriptor.part;
  const bool follows = some_lost || part.index == 0 ||
                       (part.index == next_ && part.count == count_ && descriptor.variable == variable_ &&
                        descriptor.iteration == iteration_);
  const bool fits = part.count <= kMostParts && part.index < part.count && part.length <= kPartBytes;
  if (follows && fits) return {};
  return Status(TAILRACE_INVALID_ARGUMENT, fmt::format("part {} of {} of an attribute, of {}, after {}", part.index,
                                                       part.count, counted(part.length, "byte"), next_));
}

bool AttributeParts::add(const Descriptor& descriptor) {
  TAILRACE_REQUIRE(check(descriptor, true).ok());
  const Descriptor::Part& part = descriptor.part;
  // Others are left from a call that was given up.
  if (part.index == 0 || !check(descriptor, false).ok()) bytes_.clear();
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
