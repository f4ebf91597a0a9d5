#include "storage/striped/object_names.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace tailrace::impl {
namespace {

// Returns a hash of the file's name without its directory: files begin on all devices, and a file on the same one
// wherever its directory is.
uint64_t hash_of_name(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  const uint64_t hash = fnv1a(std::as_bytes(std::span(path)));
  return hash ^ (hash >> 32);
}

}  // namespace

bool ObjectNames::stripes(const std::string& path) const {
  if (set_.directories.empty()) return false;
  const std::string& root = set_.directories[0];
  return path.size() > root.size() + 1 && path.starts_with(root) && path[root.size()] == '/';
}

uint32_t ObjectNames::most_objects() const {
  return set_.directories.empty() ? kMostObjects : static_cast<uint32_t>(set_.directories.size());
}

std::vector<std::string> ObjectNames::others_of(const ObjectHead& head) const {
  std::vector<std::string> paths;
  for (uint32_t index = 1; index < head.count; ++index) {
    const bool known = index < set_.directories.size();
    paths.push_back(object_path(known ? set_.directories[index] : head.directories[index], head.id, index));
  }
  return paths;
}

ObjectHead ObjectNames::new_head(const std::string& path) const {
  const auto count = static_cast<uint32_t>(set_.directories.size());
  return {set_.unit, count, 0, static_cast<uint32_t>(hash_of_name(path) % count), set_.new_id(), set_.recorded};
}

Result<std::optional<ObjectHead>> ObjectNames::head_of(FileHandle object, const std::string& path) const {
  std::array<std::byte, kObjectHeadBytes> bytes;
  const Result<size_t> count = inner_.read(object, 0, bytes);
  if (!count.ok()) return count.status();
  return decode_object_head(std::span(bytes).first(count.value()), path);
}

Result<std::optional<ObjectHead>> ObjectNames::head_at(const std::string& path, OpenMode mode) const {
  const Result<Opened> opened = inner_.open(path, mode, 0);
  if (!opened.ok()) return opened.status();
  Result<std::optional<ObjectHead>> head = head_of(opened.value().file, path);
  inner_.close(opened.value().file);
  return head;
}

// `own_read` refuses files that are another user's or have several names.
std::optional<ObjectHead> ObjectNames::head_of_sole_name(const std::string& path) const {
  const Result<std::optional<ObjectHead>> head = head_at(path, OpenMode::own_read);
  if (!head.ok() || !head.value() || head.value()->index != 0) return std::nullopt;
  return head.value();
}

Status ObjectNames::expect_object(FileHandle object, const std::string& path, const ObjectHead& head,
                                  uint32_t index) const {
  const Result<std::optional<ObjectHead>> found = head_of(object, path);
  if (!found.ok()) return found.status();
  const std::optional<ObjectHead>& is = found.value();
  if (is && is->is_same_file(head) && is->index == index) return {};
  const std::string what = is ? fmt::format("object {} of {} of the file {}", is->index, is->count, is->id)
                              : std::string("no object of a striped file");
  return striped_fault(
      "open", path, EIO,
      fmt::format("'{}' is {}, expected object {} of {} of the file {}", path, what, index, head.count, head.id));
}

void ObjectNames::remove_others(const ObjectHead& head) const {
  for (const std::string& path : others_of(head)) (void)inner_.remove(path);
}

}  // namespace tailrace::impl
