#include "format/plan/node_part.hpp"

#include <fmt/format.h>

#include <string_view>
#include <variant>

#include "format/plan/fill_value.hpp"
#include "format/plan/iteration_plan.hpp"
#include "model/wire/attribute_wire.hpp"
#include "model/wire/packed_bytes.hpp"

namespace tailrace::impl {
namespace {

constexpr std::string_view kMagic = "tailrace node part";
constexpr uint32_t kVersion = 2;
constexpr uint64_t kMostRank = TAILRACE_MAX_RANK;
constexpr uint64_t kMostEnd = uint64_t{1} << 62;

// ---- writing ----

void put(PackedBytes& to, const std::vector<uint64_t>& numbers) {
  to.put(static_cast<uint32_t>(numbers.size()));
  for (const uint64_t number : numbers) to.put(number);
}

void put(PackedBytes& to, const Attribute& attribute) {
  const std::vector<std::byte> bytes = to_bytes(attribute.first, attribute.second);
  to.put_string({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void put(PackedBytes& to, const NodePart::Set& set) {
  to.put_string(set.dataset);
  to.put(set.client);
  put(to, set.attribute);
}

void put(PackedBytes& to, const std::string& text) { to.put_string(text); }

void put(PackedBytes& to, const std::pair<std::string, FindingValue>& finding) {
  to.put_string(finding.first);
  to.put(static_cast<uint8_t>(finding.second.index()));
  if (const auto* number = std::get_if<double>(&finding.second)) to.put(*number);
  if (const auto* text = std::get_if<std::string>(&finding.second)) to.put_string(*text);
  const auto* const numbers = std::get_if<std::vector<double>>(&finding.second);
  if (numbers == nullptr) return;
  to.put(static_cast<uint32_t>(numbers->size()));
  for (const double number : *numbers) to.put(number);
}

void put(PackedBytes& to, const std::optional<Number>& value) {
  to.put(static_cast<uint8_t>(!value ? 0 : value->is_real() ? 2 : 1));
  if (value && value->is_real()) to.put(value->real());
  if (value && !value->is_real()) to.put(value->whole());
}

void put(PackedBytes& to, const NodePart::Array& array);

template <class T>
void put_list(PackedBytes& to, const std::vector<T>& list) {
  to.put(static_cast<uint32_t>(list.size()));
  for (const T& one : list) put(to, one);
}

void put(PackedBytes& to, const NodePart::Array& array) {
  to.put_string(array.name);
  to.put(array.variable);
  to.put(static_cast<uint8_t>(array.type));
  put(to, array.shape);
  to.put(array.begin);
  put(to, array.fill_value);
  put_list(to, array.configured);
  put_list(to, array.blocks);
}

// ---- reading ----

void get(PackedReader& from, std::vector<uint64_t>& numbers) {
  const auto count = from.get<uint32_t>();
  for (uint32_t i = 0; i < count && from.good(); ++i) numbers.push_back(from.get<uint64_t>());
}

void get(PackedReader& from, std::string& text) { text = from.get_string(); }

void get(PackedReader& from, Attribute& attribute) {
  Result<Attribute> read = to_attribute(from.next(from.get<uint32_t>()));
  if (read.ok()) {
    attribute = std::move(read).value();
  } else {
    from.fail();
  }
}

void get(PackedReader& from, NodePart::Set& set) {
  set.dataset = from.get_string();
  set.client = from.get<int32_t>();
  get(from, set.attribute);
}

void get(PackedReader& from, std::pair<std::string, FindingValue>& finding) {
  finding.first = from.get_string();
  const auto kind = from.get<uint8_t>();
  if (kind == 0) finding.second = from.get<double>();
  if (kind == 1) finding.second = from.get_string();
  if (kind > 2) from.fail();
  if (kind != 2) return;
  std::vector<double> numbers;
  const auto count = from.get<uint32_t>();
  for (uint32_t i = 0; i < count && from.good(); ++i) numbers.push_back(from.get<double>());
  finding.second = std::move(numbers);
}

void get(PackedReader& from, std::optional<Number>& value) {
  const auto kind = from.get<uint8_t>();
  if (kind == 1) value = from.get<int64_t>();
  if (kind == 2) value = from.get<double>();
  if (kind > 2) from.fail();
}

void get(PackedReader& from, NodePart::Array& array);

template <class T>
void get_list(PackedReader& from, std::vector<T>& list) {
  const auto count = from.get<uint32_t>();
  for (uint32_t i = 0; i < count && from.good(); ++i) get(from, list.emplace_back());
}

// Returns true if the block lies inside the array.
bool is_inside(const std::vector<uint64_t>& block, const std::vector<uint64_t>& shape) {
  if (block.size() != 2 * shape.size()) return false;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const uint64_t offset = block[axis];
    if (offset > shape[axis] || block[shape.size() + axis] > shape[axis] - offset) return false;
  }
  return true;
}

// Returns true if the array can be described, and lies in the space for arrays.
bool is_sound(const NodePart::Array& array, uint64_t end) {
  const bool described = !array.name.empty() && !array.shape.empty() && array.shape.size() <= kMostRank &&
                         array.type <= ElementType::complex128 && array.begin >= kRawBegin && array.begin <= end &&
                         (!array.fill_value || can_be(array.type, *array.fill_value));
  if (!described) return false;
  uint64_t room = (end - array.begin) / size_of(array.type);  // in elements
  bool empty = false;
  for (const uint64_t extent : array.shape) empty = empty || extent == 0;
  for (const uint64_t extent : array.shape) {
    if (!empty && extent > room) return false;
    if (!empty) room /= extent;
  }
  for (const std::vector<uint64_t>& block : array.blocks) {
    if (!is_inside(block, array.shape)) return false;
  }
  return true;
}

void get(PackedReader& from, NodePart::Array& array) {
  array.name = from.get_string();
  array.variable = from.get<uint32_t>();
  array.type = static_cast<ElementType>(from.get<uint8_t>());
  get(from, array.shape);
  array.begin = from.get<uint64_t>();
  get(from, array.fill_value);
  get_list(from, array.configured);
  get_list(from, array.blocks);
}

}  // namespace

std::vector<std::byte> to_bytes(const NodePart& part) {
  PackedBytes to;
  to.put_text(kMagic);
  to.put(kVersion);
  to.put(part.node);
  to.put(part.nodes);
  to.put(part.iteration);
  to.put(part.arrays_end);
  to.put(part.time_unit);
  to.put(part.time_step);
  put_list(to, part.configured);
  put_list(to, part.arrays);
  put_list(to, part.attributes);
  put_list(to, part.events);
  put_list(to, part.findings);
  put(to, part.missing);
  to.put(part.missing_unnamed);
  return to.take();
}

Result<NodePart> to_node_part(std::span<const std::byte> bytes) {
  PackedReader from(bytes);
  NodePart part;
  const bool known = from.get_text(kMagic.size()) == kMagic && from.get<uint32_t>() == kVersion;
  part.node = from.get<uint32_t>();
  part.nodes = from.get<uint32_t>();
  part.iteration = from.get<int64_t>();
  part.arrays_end = from.get<uint64_t>();
  part.time_unit = from.get<double>();
  part.time_step = from.get<double>();
  get_list(from, part.configured);
  get_list(from, part.arrays);
  get_list(from, part.attributes);
  get_list(from, part.events);
  get_list(from, part.findings);
  get(from, part.missing);
  part.missing_unnamed = from.get<uint32_t>();
  bool sound = known && from.good_to_the_end() && part.node < part.nodes && part.arrays_end <= kMostEnd;
  const std::string* last = nullptr;  // they are sorted by name
  for (const NodePart::Array& array : part.arrays) {
    sound = sound && is_sound(array, part.arrays_end) && (last == nullptr || *last < array.name);
    last = &array.name;
  }
  if (!sound) return Status(TAILRACE_INVALID_ARGUMENT, "found bytes that are no part of a node");
  return part;
}

std::string_view file_of_part(std::string_view part) {
  if (part.ends_with(".tmp")) part.remove_suffix(4);
  const size_t last = part.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == part.size() || !part.substr(0, last + 1).ends_with(".n"))
    return {};
  part = part.substr(0, last - 1);
  return part.ends_with(".h5.part") || part.ends_with(".xmf.part") ? part : std::string_view();
}

std::string part_path(const std::string& unfinished, uint32_t node) {
  return fmt::format("{}.n{}", unfinished, node);
}

}  // namespace tailrace::impl
