#include "storage/striped/striped_file_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace tailrace::impl {
namespace {

// Returns true if the mode makes a file only where there is none.
bool keeps(OpenMode mode) { return mode == OpenMode::update || mode == OpenMode::own_or_new; }

bool may_make(OpenMode mode) { return mode == OpenMode::create || mode == OpenMode::fresh || keeps(mode); }

// Returns the mode that opens an object beside object 0.
OpenMode mode_of_others(OpenMode mode) {
  if (mode == OpenMode::own_or_new) return OpenMode::own;
  return mode == OpenMode::update ? OpenMode::edit : mode;
}

// ENOENT would say that there is no such file.
Status no_object(const char* operation, const std::string& path, uint32_t index, const std::string& object,
                 const Fault& why) {
  return striped_fault(operation, path, why.system_errno == ENOENT ? EIO : why.system_errno,
                       fmt::format("'{}' is a striped file without its object {}, which was expected as '{}': {}",
                                   path, index, object, why.message));
}

StripeSet checked(StripeSet set) {
  TAILRACE_REQUIRE(set.directories.size() > 1 && set.directories.size() <= kMostObjects);
  TAILRACE_REQUIRE(set.recorded.size() == set.directories.size());
  TAILRACE_REQUIRE(set.unit >= kLeastStripe && set.unit <= kMostStripe && set.unit % kLeastStripe == 0);
  return set;
}

}  // namespace

StripedFileSystem::StripedFileSystem(FileSystem& inner, StripeSet set)
    : inner_(inner), names_(inner, checked(std::move(set))) {}

StripedFileSystem::StripedFileSystem(std::unique_ptr<FileSystem> inner)
    : owned_(std::move(inner)), inner_(*owned_), names_(*owned_, {}) {}

Status StripedFileSystem::prepare() {
  for (uint32_t index = 0; index < names_.directories().size(); ++index) {
    const std::string& directory = names_.directories()[index];
    if (Status made = inner_.make_directory(directory); !made.ok()) return made;
    const Result<Opened> opened = inner_.open(directory, OpenMode::directory, index);
    if (!opened.ok()) return opened.status();
    directories_.push_back(opened.value().file);
  }
  return {};
}

// ---- opening -----------------------------------------------------------------------------------------------

Result<Opened> StripedFileSystem::open(const std::string& path, OpenMode mode, uint32_t device) {
  if (mode == OpenMode::directory) return open_directory(path, device);
  if (may_make(mode) && names_.stripes(path)) {
    const Result<std::optional<Opened>> made = make(path, mode);
    if (!made.ok()) return made.status();
    if (made.value()) return *made.value();
  }
  return open_file(path, mode, device);
}

// Opens a file that is there, or makes a plain one.
Result<Opened> StripedFileSystem::open_file(const std::string& path, OpenMode mode, uint32_t device) {
  const bool empties = may_make(mode) && !keeps(mode);
  const std::optional<ObjectHead> replaced = empties ? names_.head_of_sole_name(path) : std::nullopt;
  Result<Opened> opened = inner_.open(path, mode, device);
  if (!opened.ok()) return opened.status();
  if (replaced) names_.remove_others(*replaced);
  StripedFile file{path, {}, {}, {opened.value().file}, {path}, opened.value().identity};
  const Result<std::optional<ObjectHead>> head = names_.head_of(opened.value().file, path);
  if (!head.ok()) {
    close_objects(file);
    return head.status();
  }
  if (head.value()) return open_objects(std::move(file), *head.value(), mode);
  return Opened{files_.put(std::move(file)), std::move(opened.value().stripes), opened.value().identity};
}

// A sync of a directory below the first one syncs the others, too, as the names of objects are there.
Result<Opened> StripedFileSystem::open_directory(const std::string& path, uint32_t device) {
  const bool all = names_.stripes(path) || (!names_.directories().empty() && path == names_.directories()[0]);
  StripedFile file{path, {}, {}, {}, {path}, {}};
  if (all) file.paths.insert(file.paths.end(), names_.directories().begin() + 1, names_.directories().end());
  StripeMap stripes;
  for (const std::string& one : file.paths) {
    const auto of = static_cast<uint32_t>(file.objects.size());
    Result<Opened> opened = inner_.open(one, OpenMode::directory, of == 0 ? device : of);
    if (!opened.ok()) {
      close_objects(file);
      return opened.status();
    }
    file.objects.push_back(opened.value().file);
    if (of == 0) stripes = std::move(opened.value().stripes);
  }
  return Opened{files_.put(std::move(file)), std::move(stripes)};
}

// Opens the other objects of an existing file.
Result<Opened> StripedFileSystem::open_objects(StripedFile file, const ObjectHead& head, OpenMode mode) {
  Status status;
  const uint32_t known = names_.most_objects();
  if (head.index != 0) {
    status = striped_fault("open", file.path, EINVAL,
                           fmt::format("'{}' is object {} of a striped file, expected object 0, which has the file's "
                                       "name and lies in '{}'",
                                       file.path, head.index, head.directories[0]));
  } else if (head.count > known) {
    status = striped_fault("open", file.path, EINVAL,
                           fmt::format("'{}' is striped over {} directories, expected at most {}, as in storage.path",
                                       file.path, head.count, known));
  }
  const std::vector<std::string> others = names_.others_of(head);
  for (uint32_t index = 1; status.ok() && index < head.count; ++index) {
    const std::string& path = others[index - 1];
    const Result<Opened> opened = inner_.open(path, mode_of_others(mode), index);
    if (!opened.ok()) {
      status = no_object("open", file.path, index, path, opened.status().fault());
      break;
    }
    file.objects.push_back(opened.value().file);
    file.paths.push_back(path);
    status = names_.expect_object(opened.value().file, path, head, index);
  }
  if (!status.ok()) {
    close_objects(file);
    return status;
  }
  file.layout = head.layout();
  file.id = head.id;
  return put(std::move(file));
}

// Makes a striped file. It gets its name when all of its objects are there. Returns none if there is a file of that
// name that must not be replaced.
Result<std::optional<Opened>> StripedFileSystem::make(const std::string& path, OpenMode mode) {
  const bool replaces = !keeps(mode);
  const Result<NameFacts> there = inner_.stat(path);
  if (there.ok() && !(replaces && there.value().own)) return std::optional<Opened>();
  const std::optional<ObjectHead> replaced = there.ok() ? names_.head_of_sole_name(path) : std::nullopt;
  const ObjectHead head = names_.new_head(path);
  StripedFile file{path, head.layout(), head.id, {}, {}, {}};
  Status status;
  for (uint32_t index = 0; status.ok() && index < head.count; ++index) status = add_object(file, head, index);
  const bool whole = status.ok();
  if (whole) status = inner_.rename(file.objects[0], path, replaces);
  if (!status.ok()) {
    close_objects(file);
    for (const std::string& object : file.paths) (void)inner_.remove(object);
    const bool another_was_faster = whole && !replaces && status.fault().system_errno == EEXIST;
    if (!another_was_faster) return status;
    return std::optional<Opened>();
  }
  file.paths[0] = path;
  if (replaced) names_.remove_others(*replaced);
  {
    const MutexLock lock(mutex_);
    ++made_;
  }
  return std::optional<Opened>(put(std::move(file)));
}

// Makes the object with this index, the first one under a name that it keeps only until the file is complete.
Status StripedFileSystem::add_object(StripedFile& file, ObjectHead head, uint32_t index) {
  head.index = index;
  const std::string directory = index > 0 ? names_.directories()[index] : file.path.substr(0, file.path.rfind('/'));
  const std::string path = object_path(directory, head.id, index);
  const Result<Opened> made = inner_.open(path, OpenMode::fresh, index);
  if (!made.ok()) return made.status();
  file.objects.push_back(made.value().file);
  file.paths.push_back(path);
  if (index == 0) file.identity = made.value().identity;
  return inner_.write(made.value().file, 0, encode_object_head(head));
}

Opened StripedFileSystem::put(StripedFile file) {
  const StripeLayout& layout = file.layout;
  StripeMap stripes{layout.unit, {}};
  for (uint32_t index = 0; index < layout.count; ++index) {
    stripes.servers.push_back((layout.first + index) % layout.count);
  }
  const FileIdentity identity = file.identity;
  return {files_.put(std::move(file)), std::move(stripes), identity};
}

void StripedFileSystem::close(FileHandle handle) {
  close_objects(files_.at(handle));
  files_.erase(handle);
}

void StripedFileSystem::close_objects(const StripedFile& file) {
  for (const FileHandle object : file.objects) inner_.close(object);
}

// ---- open files --------------------------------------------------------------------------------------------

bool StripedFileSystem::direct(FileHandle handle) const {
  const StripedFile& file = files_.at(handle);
  return std::all_of(file.objects.begin(), file.objects.end(), [&](FileHandle one) { return inner_.direct(one); });
}

// The object with the file's last byte ends there; the others may end before the place where they would.
Result<uint64_t> StripedFileSystem::size(FileHandle handle) const {
  const StripedFile& file = files_.at(handle);
  uint64_t size = 0;
  for (uint32_t index = 0; index < file.layout.count; ++index) {
    const Result<uint64_t> one = inner_.size(file.objects[index]);
    if (!one.ok()) return one;
    size = std::max(size, file.layout.least_size(index, one.value()));
  }
  return size;
}

Result<size_t> StripedFileSystem::read(FileHandle handle, uint64_t offset, std::span<std::byte> to) const {
  const StripedFile& file = files_.at(handle);
  if (file.id.empty()) return inner_.read(file.objects[0], offset, to);
  const Result<uint64_t> end = size(handle);
  if (!end.ok()) return end.status();
  if (offset >= end.value()) return size_t{0};
  to = to.first(static_cast<size_t>(std::min<uint64_t>(to.size(), end.value() - offset)));
  for (size_t done = 0; done < to.size();) {
    const uint64_t at = offset + done;
    const uint32_t object = file.layout.object_of(at);
    const std::span<std::byte> piece =
        to.subspan(done, static_cast<size_t>(std::min<uint64_t>(to.size() - done, file.layout.left_in_stripe(at))));
    const Result<size_t> count = inner_.read(file.objects[object], file.layout.in_object(object, at), piece);
    if (!count.ok()) return count;
    std::fill(piece.begin() + static_cast<ptrdiff_t>(count.value()), piece.end(), std::byte{0});  // a hole
    done += piece.size();
  }
  return to.size();
}

Status StripedFileSystem::sync(FileHandle handle) {
  for (const FileHandle object : files_.at(handle).objects) {
    if (Status status = inner_.sync(object); !status.ok()) return status;
  }
  if (!has_new_names()) return {};
  const uint64_t made = this->made();
  for (const FileHandle directory : directories_) {
    if (Status status = inner_.sync(directory); !status.ok()) return status;
  }
  note_durable(made);
  return {};
}

Status StripedFileSystem::allocate(FileHandle handle, uint64_t offset, uint64_t length) {
  const StripedFile& file = files_.at(handle);
  if (file.id.empty()) return inner_.allocate(file.objects[0], offset, length);
  if (length > StripeLayout::kEndless || offset > StripeLayout::kEndless - length) {
    return Status::of_errno("allocate", file.path, EFBIG);
  }
  for (uint32_t index = 0; index < file.layout.count; ++index) {
    const uint64_t begin = file.layout.in_object(index, offset);
    const uint64_t end = file.layout.in_object(index, offset + length);
    if (begin == end) continue;
    if (Status status = inner_.allocate(file.objects[index], begin, end - begin); !status.ok()) return status;
  }
  return {};
}

void StripedFileSystem::write_behind(FileHandle handle, uint64_t offset, uint64_t length) {
  const StripedFile& file = files_.at(handle);
  if (file.id.empty()) return inner_.write_behind(file.objects[0], offset, length);
  for (uint32_t index = 0; index < file.layout.count; ++index) {
    const uint64_t begin = file.layout.in_object(index, offset);
    const uint64_t end = file.layout.in_object(index, offset + length);
    if (begin != end) inner_.write_behind(file.objects[index], begin, end - begin);
  }
}

Status StripedFileSystem::truncate(FileHandle handle, uint64_t size) {
  const StripedFile& file = files_.at(handle);
  if (size >= StripeLayout::kEndless) return Status::of_errno("truncate", file.path, EFBIG);
  for (uint32_t index = 0; index < file.layout.count; ++index) {
    Status status = inner_.truncate(file.objects[index], file.layout.in_object(index, size));
    if (!status.ok()) return status;
  }
  return {};
}

// A rename of an object to its own name changes nothing, but makes its bytes visible to other nodes, and fails if the
// name leads elsewhere by now. Object 0 comes first, since its failures are those of the file.
Status StripedFileSystem::rename(FileHandle handle, const std::string& to, bool replace) {
  StripedFile& file = files_.at(handle);
  for (size_t index = 0; !file.id.empty() && index < file.objects.size(); ++index) {
    if (Status status = inner_.rename(file.objects[index], file.paths[index], true); !status.ok()) return status;
  }
  const std::optional<ObjectHead> replaced = replace ? names_.head_of_sole_name(to) : std::nullopt;
  if (Status status = inner_.rename(file.objects[0], to, replace); !status.ok()) return status;
  file.path = file.paths[0] = to;
  if (replaced && replaced->id != file.id) names_.remove_others(*replaced);
  return {};
}

// ---- names -------------------------------------------------------------------------------------------------

Result<NameFacts> StripedFileSystem::stat(const std::string& path) const {
  Result<NameFacts> facts = inner_.stat(path);
  if (!facts.ok() || facts.value().kind != NameFacts::Kind::file) return facts;
  if (facts.value().size < kObjectHeadBytes) return facts;
  const Result<std::optional<ObjectHead>> head = names_.head_at(path, OpenMode::read);
  // A file that this user may not read counts as plain.
  if (!head.ok() && head.status().fault().system_errno == EACCES) return facts;
  if (!head.ok()) return head.status();
  if (!head.value() || head.value()->index != 0) return facts;
  const StripeLayout layout = head.value()->layout();
  uint64_t size = layout.least_size(0, facts.value().size);
  const std::vector<std::string> others = names_.others_of(*head.value());
  for (uint32_t index = 1; index <= others.size(); ++index) {
    const Result<NameFacts> other = inner_.stat(others[index - 1]);
    if (!other.ok()) return no_object("stat", path, index, others[index - 1], other.status().fault());
    size = std::max(size, layout.least_size(index, other.value().size));
  }
  facts.value().size = size;
  return facts;
}

Status StripedFileSystem::make_directory(const std::string& path) {
  if (Status made = inner_.make_directory(path); !made.ok()) return made;
  if (names_.directories().empty() || path != names_.directories()[0]) return {};
  for (const std::string& directory : names_.directories()) {
    if (Status made = inner_.make_directory(directory); !made.ok()) return made;
  }
  return {};
}

Status StripedFileSystem::remove(const std::string& path) {
  const std::optional<ObjectHead> head = names_.head_of_sole_name(path);
  Status status = inner_.remove(path);
  if (status.ok() && head) names_.remove_others(*head);
  return status;
}

}  // namespace tailrace::impl
