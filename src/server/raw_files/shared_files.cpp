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
  auto found = files_.find({path, true});
  if (found == files_.end() && mode == Mode::read) found = files_.find({path, false});
  if (found == files_.end()) return open_new(path, mode);
  if (mode == Mode::truncate) {
    return Status(
        TAILRACE_WRONG_ORDER,
        "'" + path + "' is open already, here or in another client: to empty it now would lose what is in it");
  }
  ++found->second.users;
  return &found->second;
}

// Checks that no other client has opened a file that is to be published or sealed.
Status SharedFiles::check_unpublished(const std::string& path) const {
  for (const std::string& name : {path, name_of_partial(path)}) {
    const auto found = files_.find({name, true});
    if (found == files_.end() || found->second.final_path.empty()) continue;
    return Status(TAILRACE_WRONG_ORDER, "'" + name + "' is open to be published or sealed as '" +
                                            found->second.final_path +
                                            "', here or in another client, or its close has yet to end");
  }
  return {};
}

Status SharedFiles::check_closed(const std::string& path) const {
  if (Status free = check_unpublished(path); !free.ok()) return free;
  if (!files_.contains({path, true}) && !files_.contains({path, false})) return {};
  return Status(TAILRACE_WRONG_ORDER, "'" + path + "' is open, here or in another client: close it first");
}

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
    if (!files_.contains({name, true}) && !files_.contains({name, false})) continue;
    return Status(TAILRACE_WRONG_ORDER, "'" + name +
                                            "' is open already, here or in another client: a file that is published "
                                            "or sealed can be open only once");
  }
  const Result<FileId> data = engine_.open(path, mode, 0, {});
  if (!data.ok()) return data.status();
  SharedFile& file = files_[{path, true}];
  file = {path, data.value(), data.value(), 1, false, final_path};
  return &file;
}

// Opens a file for reading and writing, if it may be written, even if it is only to be read: a client that comes to
// write it later must get the same file, so that the engine orders the work of both.
Result<SharedFile*> SharedFiles::open_new(const std::string& path, Mode mode) {
  OpenMode how = OpenMode::update;
  if (mode == Mode::read) how = OpenMode::edit;
  if (mode == Mode::truncate) how = OpenMode::create;
  Result<FileId> data = engine_.open(path, how, 0, {});
  const bool writable = data.ok();
  if (!writable && mode == Mode::read && must_not_be_written(data.status()))
    data = engine_.open(path, OpenMode::read, 0, {});
  if (!data.ok()) return data.status();
  FileId sync = 0;
  if (writable) {
    const Result<FileId> again = engine_.open(path, OpenMode::read, 0, {});
    if (!again.ok()) {
      closing_.push_back(data.value());
      return again.status();
    }
    sync = again.value();
  }
  SharedFile& file = files_[{path, writable}];
  file = {path, data.value(), sync, 1, false, {}};
  return &file;
}

void SharedFiles::release(SharedFile& file) {
  TAILRACE_REQUIRE(file.users > 0);
  if (--file.users > 0) return;
  closing_.push_back(file.data);
  if (file.sync != 0 && file.sync != file.data) closing_.push_back(file.sync);
  files_.erase({file.path, file.sync != 0});
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
