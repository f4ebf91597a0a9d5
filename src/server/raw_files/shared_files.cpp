#include "server/raw_files/shared_files.hpp"

#include <cerrno>

#include "model/wire/file_wire.hpp"

namespace tailrace::impl {
namespace {

// Returns true if the file, or its whole file system, is read-only.
bool must_not_be_written(const Status& why) {
  const int error = why.fault().system_errno;
  return error == EACCES || error == EPERM || error == EROFS || error == ETXTBSY;
}

}  // namespace

Result<SharedFile*> SharedFiles::open(const std::string& path, Mode mode) {
  if (Status free = check_unpublished(path); !free.ok()) return free;
  SharedFile* const found = find(identity_of(path), mode);
  if (found == nullptr) return open_new(path, mode);
  if (mode == Mode::truncate) {
    return Status(
        TAILRACE_WRONG_ORDER,
        "'" + path + "' is open already, here or in another client: to empty it now would lose what is in it");
  }
  ++found->users;
  return found;
}

// Returns which file an opening of the path would open; unknown if there is none. No opening follows a link.
FileIdentity SharedFiles::identity_of(const std::string& path) {
  const Result<NameFacts> facts = engine_.files().stat(path);
  return facts.ok() && facts.value().kind == NameFacts::Kind::file ? facts.value().identity : FileIdentity();
}

// Returns the open file if users of the mode may share it; else null.
SharedFile* SharedFiles::find(FileIdentity identity, Mode mode) {
  if (!identity.is_known()) return nullptr;
  auto found = known_.find({identity, true});
  if (found == known_.end() && mode == Mode::read) found = known_.find({identity, false});
  return found != known_.end() ? found->second : nullptr;
}

// Checks that no client has opened a file that is to be published or sealed under this name.
Status SharedFiles::check_unpublished(const std::string& path) const {
  for (const std::string& name : {path, name_of_partial(path)}) {
    const auto found = for_one_.find(name);
    if (found == for_one_.end()) continue;
    return Status(TAILRACE_WRONG_ORDER, "'" + name + "' is open to be published or sealed as '" +
                                            found->second->final_path +
                                            "', here or in another client, or its close has yet to end");
  }
  return {};
}

Status SharedFiles::check_closed(const std::string& path) {
  if (Status free = check_unpublished(path); !free.ok()) return free;
  if (!is_open(path)) return {};
  return Status(TAILRACE_WRONG_ORDER, "'" + path + "' is open, here or in another client: close it first");
}

bool SharedFiles::is_open(const std::string& path) { return find(identity_of(path), Mode::read) != nullptr; }

Result<SharedFile*> SharedFiles::open_to_publish(const std::string& path, OpenMode mode) {
  const Result<SharedFile*> file = open_for_one(name_of_partial(path), path, mode);
  if (file.ok()) engine_.publish_as(file.value()->data, path);
  return file;
}

Result<SharedFile*> SharedFiles::open_to_seal(const std::string& path, OpenMode mode) {
  return open_for_one(path, path, mode);
}

Result<SharedFile*> SharedFiles::open_for_one(const std::string& path, const std::string& final_path, OpenMode mode) {
  if (Status free = check_unpublished(final_path); !free.ok()) return free;
  for (const std::string& name : {final_path, name_of_partial(final_path)}) {
    if (!is_open(name)) continue;
    return Status(TAILRACE_WRONG_ORDER, "'" + name +
                                            "' is open already, here or in another client: a file that is published "
                                            "or sealed can be open only once");
  }
  const Result<FileId> data = engine_.open_now(path, mode, 0);
  if (!data.ok()) return data.status();
  return add({.path = path, .data = data.value(), .sync = data.value(), .users = 1, .final_path = final_path});
}

// Opens a file for reading and writing, if it may be written, even if it is only to be read: a client that comes to
// write it later must get the same file, so that the engine orders the work of both.
Result<SharedFile*> SharedFiles::open_new(const std::string& path, Mode mode) {
  OpenMode how = OpenMode::update;
  if (mode == Mode::read || mode == Mode::edit) how = OpenMode::edit;
  if (mode == Mode::truncate) how = OpenMode::create;
  Result<FileId> data = engine_.open_now(path, how, 0);
  const bool writable = data.ok();
  if (!writable && mode == Mode::read && must_not_be_written(data.status()))
    data = engine_.open_now(path, OpenMode::view, 0);
  if (!data.ok()) return data.status();
  if (!writable) return add({.path = path, .data = data.value(), .users = 1});
  const Result<FileId> sync = engine_.open_now(path, OpenMode::view, 0);
  if (sync.ok() && engine_.identity(sync.value()) == engine_.identity(data.value())) {
    return add({.path = path, .data = data.value(), .sync = sync.value(), .users = 1});
  }
  closing_.push_back(data.value());
  if (!sync.ok()) return sync.status();
  closing_.push_back(sync.value());
  return Status(TAILRACE_IO_ERROR, "found another file under the name '" + path + "' a moment after it was opened");
}

SharedFile* SharedFiles::add(SharedFile file) {
  file.identity = engine_.identity(file.data);
  SharedFile& added = files_[file.data] = std::move(file);
  if (added.identity.is_known()) known_[{added.identity, added.is_writable()}] = &added;
  if (!added.final_path.empty()) for_one_[added.path] = &added;
  return &added;
}

void SharedFiles::release(SharedFile& file) {
  TAILRACE_REQUIRE(file.users > 0);
  if (--file.users > 0) return;
  closing_.push_back(file.data);
  if (file.sync != 0 && file.sync != file.data) closing_.push_back(file.sync);
  forget(file);
}

void SharedFiles::forget(const SharedFile& file) {
  const auto known = known_.find({file.identity, file.is_writable()});
  if (known != known_.end() && known->second == &file) known_.erase(known);
  if (!file.final_path.empty()) for_one_.erase(file.path);
  files_.erase(file.data);
}

bool SharedFiles::progress() {
  bool closed = false;
  while (!closing_.empty() && engine_.room() > 0) {
    Request close;
    close.operation = Operation::close;
    close.file = closing_.back();
    closing_.pop_back();
    engine_.submit(std::move(close));
    closed = true;
  }
  return closed;
}

}  // namespace tailrace::impl
