#include "storage/striped/object_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace tailrace::impl {
namespace {

constexpr size_t kDirectoryBytes = sizeof(ObjectWire::directories);

uint64_t checksum_of(ObjectWire wire) {
  wire.checksum = 0;
  return fnv1a(std::as_bytes(std::span(&wire, 1)));
}

// An id is a part of file names.
bool is_object_id(std::string_view id) {
  return !id.empty() && id.size() <= kMostObjectId &&
         id.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
}

std::string id_of(const ObjectWire& wire) {
  return std::string(wire.id.begin(), std::find(wire.id.begin(), wire.id.end(), '\0'));
}

// Returns the texts that end with a zero byte each, at most `count` of them.
std::vector<std::string> texts_of(std::string_view bytes, uint32_t count) {
  std::vector<std::string> texts;
  while (texts.size() < count) {
    const size_t end = bytes.find('\0');
    if (end == std::string_view::npos) break;
    texts.emplace_back(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
  }
  return texts;
}

// Returns what is wrong with a head whose checksum is right; nullptr if nothing is.
const char* fault_of(const ObjectWire& wire) {
  if (wire.version != kObjectVersion) return "a version that this tailrace does not know";
  if (wire.head_bytes != kObjectHeadBytes) return "a head of another size";
  if (wire.unit < kLeastStripe || wire.unit > kMostStripe || wire.unit % kLeastStripe != 0)
    return "an impossible unit";
  if (wire.count < 1 || wire.count > kMostObjects) return "an impossible number of objects";
  if (wire.index >= wire.count || wire.first >= wire.count) return "the number of an object that does not exist";
  return is_object_id(id_of(wire)) ? nullptr : "an impossible id";
}

}  // namespace

bool ObjectHead::is_same_file(const ObjectHead& other) const {
  return id == other.id && unit == other.unit && count == other.count && first == other.first;
}

uint64_t fnv1a(std::span<const std::byte> bytes) {
  uint64_t sum = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) sum = (sum ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
  return sum;
}

Status check_object_directories(const std::vector<std::string>& directories) {
  size_t bytes = 0;
  for (const std::string& directory : directories) bytes += directory.size() + 1;
  if (bytes <= kDirectoryBytes) return {};
  return Status(TAILRACE_INVALID_CONFIG,
                fmt::format("storage.path: found {} directories whose absolute names have {} bytes, expected at most "
                            "{}, as each striped file notes them",
                            directories.size(), bytes, kDirectoryBytes));
}

std::vector<std::byte> encode_object_head(const ObjectHead& head) {
  TAILRACE_REQUIRE(is_object_id(head.id));
  TAILRACE_REQUIRE(check_object_directories(head.directories).ok());
  ObjectWire wire;
  wire.unit = head.unit;
  wire.count = head.count;
  wire.index = head.index;
  wire.first = head.first;
  std::copy(head.id.begin(), head.id.end(), wire.id.begin());
  auto at = wire.directories.begin();
  for (const std::string& directory : head.directories) at = std::copy(directory.begin(), directory.end(), at) + 1;
  TAILRACE_REQUIRE(fault_of(wire) == nullptr);
  wire.checksum = checksum_of(wire);
  const auto bytes = std::as_bytes(std::span(&wire, 1));
  return {bytes.begin(), bytes.end()};
}

Result<std::optional<ObjectHead>> decode_object_head(std::span<const std::byte> bytes, const std::string& path) {
  ObjectWire wire;
  if (bytes.size() < sizeof wire) return std::optional<ObjectHead>();
  std::memcpy(&wire, bytes.data(), sizeof wire);
  if (wire.magic != kObjectMagic) return std::optional<ObjectHead>();
  const char* fault = wire.checksum == checksum_of(wire) ? fault_of(wire) : "a checksum that does not fit";
  ObjectHead head{wire.unit, wire.count, wire.index, wire.first, id_of(wire), {}};
  if (fault == nullptr) {
    head.directories = texts_of({wire.directories.data(), wire.directories.size()}, wire.count);
    if (head.directories.size() < wire.count) fault = "too few directories";
  }
  if (fault == nullptr) return std::optional<ObjectHead>(std::move(head));
  return striped_fault(
      "open", path, EIO,
      fmt::format("'{}' begins like an object of a striped file, but found {}; expected a complete head "
                  "of version {}",
                  path, fault, kObjectVersion));
}

std::string object_path(const std::string& directory, const std::string& id, uint32_t index) {
  return fmt::format("{}/{}.object{}", directory, id, index);
}

Status striped_fault(const char* operation, const std::string& path, int error, std::string message) {
  Fault fault;
  fault.code = TAILRACE_IO_ERROR;
  fault.operation = operation;
  fault.file = path;
  fault.system_errno = error;
  fault.message = std::move(message);
  return Status(std::move(fault));
}

}  // namespace tailrace::impl
