#include "forward/forward_files.hpp"

#include <cerrno>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

bool is_for_writing(OpenMode mode) {
  return mode != OpenMode::read && mode != OpenMode::view && mode != OpenMode::own_read &&
         mode != OpenMode::directory;
}

bool is_of_iteration(OpenMode mode) {
  return mode == OpenMode::fresh || mode == OpenMode::own || mode == OpenMode::own_or_new;
}

// Returns true if users of the mode may share a file that is open.
bool is_shared(OpenMode mode) { return mode != OpenMode::create && mode != OpenMode::fresh; }

}  // namespace

Result<Opened> ForwardFiles::open(FileSystem& names, const std::string& path, OpenMode mode, uint32_t device,
                                  bool repeated) {
  Result<Opened> opened = names.open(path, mode, device);
  if (opened.ok() || mode != OpenMode::fresh || !repeated) return opened;
  if (opened.status().fault().system_errno != EEXIST) return opened;
  const Result<NameFacts> there = names.stat(path);
  if (!there.ok() || !there.value().own || there.value().size > 0) return opened;
  return names.open(path, OpenMode::own, device);
}

FileId ForwardFiles::take(const std::string& path, OpenMode mode, Opened opened) {
  const Name name{path, is_for_writing(mode)};
  const FileId known = is_shared(mode) ? shared(name, opened.identity) : 0;
  const FileId id = engine_.add(path, std::move(opened));
  if (known != 0) {
    close_in_engine(id);
    ++files_.at(known).users;
    return known;
  }
  files_[id] = {.name = name, .users = 1, .reserves = is_of_iteration(mode)};
  by_name_[name] = id;
  return id;
}

// Returns the open file of this name if the name still leads to it; else 0, which is no file.
FileId ForwardFiles::shared(const Name& name, FileIdentity identity) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end() || !identity.is_known()) return 0;
  if (engine_.identity(found->second) != identity || engine_.has_failed(found->second)) return 0;
  return found->second;
}

void ForwardFiles::forget_name(FileId file) {
  const auto named = by_name_.find(files_.at(file).name);
  if (named != by_name_.end() && named->second == file) by_name_.erase(named);
}

void ForwardFiles::close(FileId file) {
  File& of = files_.at(file);
  TAILRACE_ASSERT(of.users > 0);
  if (--of.users > 0) return;
  forget_name(file);
  files_.erase(file);
  close_in_engine(file);
}

void ForwardFiles::close_in_engine(FileId file) {
  Request close;
  close.operation = Operation::close;
  close.file = file;
  engine_.submit(std::move(close));
}

void ForwardFiles::renamed(FileId file, const std::string& to) {
  forget_name(file);
  files_.at(file).name.first = to;
  by_name_[files_.at(file).name] = file;
}

}  // namespace tailrace::impl
