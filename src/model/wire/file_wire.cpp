#include "model/wire/file_wire.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/names/counted.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kLine = 64;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kOnPagesFrom = 16 * kPage;

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

Status refuse(std::string what) { return Status(TAILRACE_INVALID_ARGUMENT, std::move(what)); }

// Copies the header, since the process that shares the block may change it at any time.
template <class Header>
bool copy_header(std::span<const std::byte> block, Header& to) {
  if (block.size() < sizeof to) return false;
  std::memcpy(&to, block.data(), sizeof to);
  return to.version == kFileWireVersion;
}

// Removes "." and double slashes.
Result<std::string> plain_path(std::string_view path) {
  if (path.empty()) return refuse("found an empty path, expected the name of a file below storage.path");
  if (path.size() > kMostFilePath) {
    return refuse(fmt::format("found a path of {} bytes, expected at most {}", path.size(), kMostFilePath));
  }
  if (path.find('\0') != std::string_view::npos) return refuse("found a path with a NUL in it");
  std::string plain;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view word = path.substr(begin, end - begin);
    if (word == "..") {
      return refuse(fmt::format("found '..' in the path '{}', expected one that stays below storage.path", path));
    }
    if (!word.empty() && word != ".") plain.append(plain.empty() ? "" : "/").append(word);
    begin = end + 1;
  }
  if (plain.empty() || path.back() == '/') {
    return refuse(fmt::format("found the path '{}', expected the name of a file", path));
  }
  return path.front() == '/' ? "/" + plain : plain;
}

}  // namespace

uint64_t file_list_data(uint64_t count, uint64_t bytes) {
  return round_up(sizeof(FileList) + count * sizeof(Extent), bytes >= kOnPagesFrom ? kPage : kLine);
}

bool is_file_mode(uint32_t mode) {
  if (mode == kFileRead) return true;
  const bool both = (mode & kFilePublish) != 0 && (mode & kFileSeal) != 0;
  return !both && (mode & ~(kFileTruncate | kFileImmediate | kFilePublish | kFileSeal)) == kFileWrite;
}

std::string name_of_partial(const std::string& path) { return path + ".partial"; }

Result<FileToOpen> read_file_opening(std::span<const std::byte> block) {
  FileOpening opening;
  if (!copy_header(block, opening)) return refuse("a path of another version");
  if (opening.length > block.size() - sizeof opening) return refuse("a path that is longer than its block");
  if (!is_file_mode(opening.mode)) return refuse("an invalid file mode");
  if (opening.record > kKeptFileRecords) return refuse("an invalid file record");
  const std::string text(reinterpret_cast<const char*>(block.data()) + sizeof opening, opening.length);
  Result<std::string> path = plain_path(text);
  if (!path.ok()) return path.status();
  return FileToOpen{std::move(path).value(), opening.mode, opening.record};
}

bool has_failed(std::span<const std::byte> block) {
  uint32_t failed = 0;
  std::memcpy(&failed, block.data() + offsetof(FileOpening, failed), sizeof failed);
  return failed != 0;
}

void set_failed(std::span<std::byte> block) {
  const uint32_t failed = 1;
  std::memcpy(block.data() + offsetof(FileOpening, failed), &failed, sizeof failed);
}

uint64_t size_in(std::span<const std::byte> block) {
  uint64_t size = 0;
  std::memcpy(&size, block.data() + offsetof(FileOpening, size), sizeof size);
  return size;
}

void put_size(std::span<std::byte> block, uint64_t size) {
  std::memcpy(block.data() + offsetof(FileOpening, size), &size, sizeof size);
}

FileIdentity identity_in(std::span<const std::byte> block) {
  FileIdentity identity;
  std::memcpy(&identity, block.data() + offsetof(FileOpening, identity), sizeof identity);
  return identity;
}

void put_identity(std::span<std::byte> block, FileIdentity identity) {
  std::memcpy(block.data() + offsetof(FileOpening, identity), &identity, sizeof identity);
}

bool has_seal(std::span<const std::byte> block) {
  uint32_t length = 0;
  std::memcpy(&length, block.data() + offsetof(FileOpening, seal_length), sizeof length);
  return length != 0;
}

Result<Piece> read_seal(std::span<std::byte> block) {
  FileOpening opening;
  if (!copy_header(block, opening)) return refuse("a path of another version");
  if (opening.seal_length == 0 || opening.seal_length > kMostSeal) return refuse("a seal that is too long, or empty");
  const Extent extent{opening.seal_offset, opening.seal_length};
  if (Status sound = check_file_extent(extent); !sound.ok()) return sound;
  return Piece{extent, block.data() + offsetof(FileOpening, seal)};
}

void put_seal(std::span<std::byte> block, uint64_t offset, std::span<const std::byte> seal) {
  FileOpening opening;
  std::memcpy(&opening, block.data(), sizeof opening);
  opening.seal_length = static_cast<uint32_t>(seal.size());
  opening.seal_offset = offset;
  std::memcpy(opening.seal, seal.data(), seal.size());
  const size_t begin = offsetof(FileOpening, seal_length);
  const size_t end = offsetof(FileOpening, size);
  std::memcpy(block.data() + begin, reinterpret_cast<const std::byte*>(&opening) + begin, end - begin);
}

Result<std::vector<Piece>> read_file_list(std::span<std::byte> block) {
  FileList list;
  if (!copy_header(block, list)) return refuse("a list of another version");
  if (list.count == 0 || list.count > kMostFileExtents) return refuse("a list of too few or too many extents");
  const uint64_t end_of_list = sizeof list + list.count * sizeof(Extent);
  if (list.data < end_of_list || list.data > block.size()) return refuse("a list that does not fit into its block");
  std::vector<Extent> extents(list.count);
  std::memcpy(extents.data(), block.data() + sizeof list, list.count * sizeof(Extent));
  std::vector<Piece> pieces;
  pieces.reserve(list.count);
  uint64_t at = list.data;
  for (const Extent& extent : extents) {
    if (Status sound = check_file_extent(extent); !sound.ok()) return sound;
    if (extent.length == 0) return refuse("an empty extent");
    if (extent.length > block.size() - at) return refuse("extents that are longer than their block");
    pieces.push_back({extent, block.data() + at});
    at += extent.length;
  }
  if (find_overlap(extents)) return refuse("extents that overlap");
  return pieces;
}

Result<FileBelow> file_below(std::span<const std::string> roots, const std::string& plain) {
  if (!plain.starts_with('/')) return FileBelow{roots.front(), plain};
  for (const std::string& root : roots) {
    const std::string before = root.ends_with('/') ? root : root + "/";
    if (plain.size() > before.size() && plain.starts_with(before))
      return FileBelow{root, plain.substr(before.size())};
  }
  return refuse(fmt::format("found the absolute path '{}', expected one relative to '{}', or below {}: '{}'", plain,
                            roots.front(), roots.size() > 1 ? "one of storage.files" : "it",
                            fmt::join(roots, "', '")));
}

Result<std::string> plain_file_path(std::span<const std::string> roots, std::string_view path) {
  const Result<std::string> plain = plain_path(path);
  if (!plain.ok()) return plain;
  const Result<FileBelow> below = file_below(roots, plain.value());
  if (!below.ok()) return below.status();
  return below.value().root == roots.front() ? below.value().path : plain;
}

Status check_file_extent(Extent extent) {
  if (extent.offset <= kMostFileEnd && extent.length <= kMostFileEnd - extent.offset) return {};
  return refuse(fmt::format("found {} at offset {}, expected none beyond offset 2^62 (is one of them negative?)",
                            counted(extent.length, "byte"), extent.offset));
}

std::optional<std::pair<size_t, size_t>> find_overlap(std::span<const Extent> extents) {
  const auto before = [&extents](size_t a, size_t b) { return extents[a].offset < extents[b].offset; };
  bool sorted = true;
  for (size_t i = 1; i < extents.size() && sorted; ++i) sorted = extents[i].offset >= extents[i - 1].end();
  if (sorted) return std::nullopt;
  std::vector<size_t> order;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (extents[i].length > 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), before);
  for (size_t i = 1; i < order.size(); ++i) {
    if (extents[order[i]].offset < extents[order[i - 1]].end()) return std::pair(order[i - 1], order[i]);
  }
  return std::nullopt;
}

}  // namespace tailrace::impl
