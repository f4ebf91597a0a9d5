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

ForwardFiles::~ForwardFiles() { TAILRACE_REQUIRE(files_.empty()); }

Result<ForwardFiles::Opened> ForwardFiles::open(const std::string& path, OpenMode mode, uint32_t device,
                                                bool repeated) {
  const Name name{path, is_for_writing(mode)};
  if (is_shared(mode)) {
    const Result<NameFacts> there = engine_.files().stat(path);
    if (const std::optional<FileId> file = shared(name, there)) {
      File& of = files_.at(*file);
      ++of.users;
      return Opened{*file, of.stripes, of.facts};
    }
  }
  Result<FileId> opened = engine_.open_now(path, mode, device);
  if (!opened.ok() && mode == OpenMode::fresh && repeated && opened.status().fault().system_errno == EEXIST) {
    const Result<NameFacts> there = engine_.files().stat(path);
    if (there.ok() && there.value().own && there.value().size == 0) {
      opened = engine_.open_now(path, OpenMode::own, device);
    }
  }
  if (!opened.ok()) return opened.status();
  const Result<NameFacts> facts = engine_.files().stat(path);
  File& file = files_[opened.value()];
  file.name = name;
  file.users = 1;
  file.reserves = is_of_iteration(mode);
  file.stripes = engine_.stripes(opened.value());
  if (facts.ok()) file.facts = facts.value();
  by_name_[name] = opened.value();
  return Opened{opened.value(), file.stripes, file.facts};
}

// Returns the open file of this name, if the name still leads to it.
std::optional<FileId> ForwardFiles::shared(const Name& name, const Result<NameFacts>& facts) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end() || !facts.ok()) return std::nullopt;
  const File& file = files_.at(found->second);
  if (!file.facts.is_same_file(facts.value()) || engine_.has_failed(found->second)) return std::nullopt;
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
  Request close;
  close.operation = Operation::close;
  close.file = file;
  engine_.submit(std::move(close));
}

Status ForwardFiles::rename(FileId file, const std::string& to, bool replace) {
  Status status = engine_.rename(file, to, replace);
  if (!status.ok()) return status;
  forget_name(file);
  files_.at(file).name.first = to;
  by_name_[files_.at(file).name] = file;
  return status;
}

}  // namespace tailrace::impl
