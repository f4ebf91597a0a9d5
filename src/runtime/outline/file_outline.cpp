#include "runtime/outline/file_outline.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <set>

#include "format/outline/read_outline.hpp"
#include "runtime/parts/open_storage.hpp"
#include "storage/os/os_file_system.hpp"
#include "storage/striped/object_head.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;

Result<std::vector<std::byte>> first_bytes(FileSystem& files, const std::string& path, size_t most) {
  const Result<Opened> opened = files.open(path, OpenMode::read, 0);
  if (!opened.ok()) return opened.status();
  std::vector<std::byte> bytes(most);
  const Result<size_t> count = files.read(opened.value().file, 0, bytes);
  files.close(opened.value().file);
  if (!count.ok()) return count.status();
  bytes.resize(count.value());
  return bytes;
}

Result<std::optional<ObjectHead>> head_in(const std::string& path) {
  OsFileSystem files;  // for which each object is a file of its own
  const auto bytes = first_bytes(files, path, kObjectHeadBytes);
  if (!bytes.ok()) return bytes.status();
  return decode_object_head(bytes.value(), path);
}

bool is_object_name(const std::string& name) {
  static const std::regex object(R"([0-9a-f-]{1,36}\.object[0-9]+)");
  return std::regex_match(name, object);
}

// Returns the ids of the striped files below a directory.
std::set<std::string> ids_below(const std::string& directory) {
  std::set<std::string> ids;
  std::error_code error;
  fs::recursive_directory_iterator at(directory, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    const std::string name = at->path().filename().string();
    if (!at->is_regular_file(ignored) || is_object_name(name)) continue;
    const auto head = head_in(at->path().string());
    if (head.ok() && head.value() && head.value()->index == 0) ids.insert(head.value()->id);
  }
  return ids;
}

}  // namespace

Result<Outline> file_outline(const std::string& path, const OutlineWanted& wanted) {
  return read_outline(*open_file_system(Backend::automatic), path, wanted);
}

Result<uint64_t> file_bytes(const std::string& path) {
  const std::unique_ptr<FileSystem> files = open_file_system(Backend::automatic);
  const Result<Opened> opened = files->open(path, OpenMode::read, 0);
  if (!opened.ok()) return opened.status();
  const Result<uint64_t> size = files->size(opened.value().file);
  files->close(opened.value().file);
  return size;
}

Result<std::string> file_text(const std::string& path, size_t most) {
  const Result<uint64_t> size = file_bytes(path);
  if (!size.ok()) return size.status();
  const auto bytes = first_bytes(*open_file_system(Backend::automatic), path,
                                 static_cast<size_t>(std::min<uint64_t>(size.value(), most)));
  if (!bytes.ok()) return bytes.status();
  return std::string(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size());
}

Result<std::optional<StripePlaces>> stripes_of(const std::string& path) {
  const auto head = head_in(path);
  if (!head.ok()) return head.status();
  if (!head.value()) return std::optional<StripePlaces>();
  StripePlaces stripes{head.value()->unit, head.value()->first, head.value()->index, {path}};
  for (uint32_t index = 1; index < head.value()->count; ++index) {
    stripes.objects.push_back(object_path(head.value()->directories[index], head.value()->id, index));
  }
  return std::optional(std::move(stripes));
}

StripedObjects striped_objects_in(const std::string& directory) {
  StripedObjects found;
  std::map<std::string, std::set<std::string>> known;  // ids of the files below a first directory
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(directory, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    if (is_object_name(at->path().filename().string())) names.insert(at->path().filename().string());
  }
  for (const std::string& name : names) {
    const auto head = head_in(directory + "/" + name);
    if (!head.ok() || !head.value()) continue;
    ++found.count;
    const std::string& first = head.value()->directories[0];
    const auto [ids, is_new] = known.try_emplace(first);
    if (is_new) ids->second = ids_below(first);
    if (!ids->second.contains(head.value()->id)) found.lost.push_back(name);
  }
  return found;
}

}  // namespace tailrace::impl
