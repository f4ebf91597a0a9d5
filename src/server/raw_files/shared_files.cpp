#include "server/raw_files/shared_files.hpp"

#include <cerrno>
#include <tuple>
#include <utility>

#include "model/wire/file_wire.hpp"

namespace tailrace::impl {
namespace {

// Returns true if the file, or its whole file system, is read-only.
bool must_not_be_written(const Status& why) {
  const int error = why.fault().system_errno;
  return error == EACCES || error == EPERM || error == EROFS || error == ETXTBSY;
}

// Opens a file for reading and writing, if it may be written, even if it is only to be read: a client that comes to
// write it later must get the same file, so that the engine orders the work of both. A file that is to be emptied may
// be open already.
OpenMode how_to_open(SharedFiles::Mode mode) {
  const bool is_there = mode == SharedFiles::Mode::read || mode == SharedFiles::Mode::edit;
  return is_there ? OpenMode::edit : OpenMode::update;
}

// Returns the name by which openings take turns: a file that is published has two, and the first one may be the
// second of another file.
std::string without_partial(std::string path) {
  const std::string suffix = name_of_partial("");
  while (path.ends_with(suffix)) path.resize(path.size() - suffix.size());
  return path;
}

Status wrong_order(const std::string& path, const std::string& why) {
  return Status(TAILRACE_WRONG_ORDER, "'" + path + "' is open" + why);
}

}  // namespace

// ---- openings --------------------------------------------------------------------------------------------------

void SharedFiles::open(Place place, Mode mode, Then then) {
  const auto of = std::make_shared<Opening>(
      Opening{.place = std::move(place), .mode = mode, .how = how_to_open(mode), .then = std::move(then)});
  in_turn(of->place.path, [this, of] {
    if (Status free = check_unpublished(of->place.path); !free.ok()) return end(of, free);
    open_data(of);
  });
}

void SharedFiles::open_to_publish(Place place, OpenMode mode, Then then) {
  const auto of = std::make_shared<Opening>(Opening{.place = {name_of_partial(place.path), place.root},
                                                    .how = mode,
                                                    .final_path = place.path,
                                                    .to_look_at = {place},
                                                    .then = std::move(then)});
  in_turn(place.path, [this, of] { open_for_one(of); });
}

void SharedFiles::open_to_seal(Place place, OpenMode mode, Then then) {
  const auto of = std::make_shared<Opening>(
      Opening{.place = place, .how = mode, .final_path = place.path, .then = std::move(then)});
  in_turn(place.path, [this, of] { open_for_one(of); });
}

void SharedFiles::open_for_one(const Shared& of) {
  if (Status free = check_unpublished(of->final_path); !free.ok()) return end(of, free);
  for (const std::string& name : {of->final_path, name_of_partial(of->final_path)}) {
    const bool is_listed = !of->to_look_at.empty() && of->to_look_at.front().path == name;
    if (!known_.empty() && !is_listed) of->to_look_at.push_back({name, {}});
  }
  of->has_name = true;
  for_one_[of->place.path] = of->final_path;
  look(of);
}

// Begins an opening, or a removal, when those of the name that came before have ended.
void SharedFiles::in_turn(const std::string& path, std::function<void()> begin) {
  ++busy_;
  auto& turns = turns_[without_partial(path)];
  turns.push_back(std::move(begin));
  if (turns.size() == 1) begin_turn(turns.front());
}

void SharedFiles::end_turn(const std::string& path) {
  --busy_;
  const auto found = turns_.find(without_partial(path));
  found->second.pop_front();
  if (found->second.empty()) {
    turns_.erase(found);
  } else {
    begin_turn(found->second.front());
  }
}

// Begins turns one after another: one that ends at once begins the next one, and there may be any number of them.
void SharedFiles::begin_turn(std::function<void()> begin) {
  ready_.push_back(std::move(begin));
  if (std::exchange(begins_turns_, true)) return;
  for (; !ready_.empty(); ready_.pop_front()) ready_.front()();
  begins_turns_ = false;
}

// Looks at the next of the names that must not be those of open files, and then opens the file.
void SharedFiles::look(const Shared& of) {
  if (of->to_look_at.empty()) return open_data(of);
  const Place at = of->to_look_at.front();
  of->to_look_at.pop_front();
  engine_.carry_out({.kind = FileOperation::Kind::stat, .path = at.path, .root = at.root}, 0,
                    [this, of, path = at.path](const FileOperationEnd& found) {
                      const bool is_there = found.status.ok() || found.status.fault().system_errno != ENOENT;
                      if (is_there && !found.status.ok()) return end(of, found.status);
                      if (!is_there || find(found.facts.identity, Mode::read) == nullptr) return look(of);
                      end(of, wrong_order(path,
                                          " already, here or in another client: a file that is published or "
                                          "sealed can be open only once"));
                    });
}

void SharedFiles::open_data(const Shared& of) {
  engine_.carry_out(
      {.kind = FileOperation::Kind::open, .path = of->place.path, .root = of->place.root, .mode = of->how}, 0,
      [this, of](FileOperationEnd& opened) { data_opened(of, opened); });
}

void SharedFiles::data_opened(const Shared& of, FileOperationEnd& opened) {
  const bool for_one = !of->final_path.empty();
  if (!opened.status.ok()) {
    const bool may_read = !for_one && of->mode == Mode::read && of->how != OpenMode::view;
    if (!may_read || !must_not_be_written(opened.status)) return end(of, opened.status);
    of->how = OpenMode::view;
    return open_data(of);
  }
  of->was_empty = opened.opened.is_empty;
  of->data = engine_.add(of->place.path, std::move(opened.opened));
  if (for_one) {
    of->sync = of->data;
    if (of->final_path != of->place.path) engine_.publish_as(of->data, of->final_path);
    return settle(of);
  }
  if (of->how == OpenMode::view || find(engine_.identity(of->data), of->mode) != nullptr) return settle(of);
  open_sync(of);
}

void SharedFiles::open_sync(const Shared& of) {
  engine_.carry_out(
      {.kind = FileOperation::Kind::open, .path = of->place.path, .root = of->place.root, .mode = OpenMode::view}, 0,
      [this, of](FileOperationEnd& opened) { sync_opened(of, opened); });
}

void SharedFiles::sync_opened(const Shared& of, FileOperationEnd& opened) {
  if (!opened.status.ok()) return end(of, opened.status);
  of->was_empty = opened.opened.is_empty;
  of->sync = engine_.add(of->place.path, std::move(opened.opened));
  if (engine_.identity(of->sync) == engine_.identity(of->data)) return settle(of);
  end(of, Status(TAILRACE_IO_ERROR,
                 "found another file under the name '" + of->place.path + "' a moment after it was opened"));
}

// All that is needed of the file is open. No other opening comes between this and its end, or the request that
// empties the file.
void SharedFiles::settle(const Shared& of) {
  const bool for_one = !of->final_path.empty();
  if (SharedFile* const found = find(engine_.identity(of->data), for_one ? Mode::read : of->mode)) {
    return share(of, *found);
  }
  const bool empties = !for_one && of->mode == Mode::truncate && !of->was_empty;
  if (empties && engine_.room() == 0) return waiting_.push_back(of);
  SharedFile* const file =
      add({.path = of->place.path, .data = of->data, .sync = of->sync, .users = 1, .final_path = of->final_path});
  if (!empties) return end(of, file);
  of->file = file;
  Request request;
  request.operation = Operation::truncate;
  request.file = of->data;
  request.sink = this;
  request.token = next_token_++;
  emptying_[request.token] = of;
  engine_.submit(std::move(request));
}

void SharedFiles::share(const Shared& of, SharedFile& file) {
  if (!of->final_path.empty() || of->mode == Mode::truncate) {
    return end(of, wrong_order(of->place.path,
                               " already, here or in another client: to empty it now would lose what is in it"));
  }
  ++file.users;
  close({std::exchange(of->data, 0), std::exchange(of->sync, 0)}, [this, of, &file] { end(of, &file); });
}

void SharedFiles::ended(const Request& request, const Status& status) {
  if (request.operation == Operation::close) return closed(request.token);
  const Shared of = emptying_.at(request.token);
  emptying_.erase(request.token);
  if (status.ok()) return end(of, of->file);
  of->data = of->sync = 0;
  release(*of->file, [this, of, status] { end(of, status); });
}

// Ends an opening. What a failed one has opened is closed.
void SharedFiles::end(const Shared& of, const Result<SharedFile*>& file) {
  const auto tell = [this, of, file] {
    std::exchange(of->then, nullptr)(file);
    end_turn(of->place.path);
  };
  if (file.ok()) return tell();
  if (of->has_name) for_one_.erase(of->place.path);
  close({of->data, of->sync}, tell);
}

void SharedFiles::remove(Place place, std::function<void(const Status& status)> then) {
  const auto end = [this, path = place.path, then](const Status& status) {
    then(status);
    end_turn(path);
  };
  in_turn(place.path, [this, place, end] {
    if (Status free = check_unpublished(place.path); !free.ok()) return end(free);
    const auto unlink = [this, place, end] {
      engine_.carry_out({.kind = FileOperation::Kind::unlink, .path = place.path, .root = place.root}, 0,
                        [end](const FileOperationEnd& removed) { end(removed.status); });
    };
    if (known_.empty()) return unlink();
    engine_.carry_out({.kind = FileOperation::Kind::stat, .path = place.path, .root = place.root}, 0,
                      [this, place, end, unlink](const FileOperationEnd& found) {
                        const bool is_open = found.status.ok() && find(found.facts.identity, Mode::read) != nullptr;
                        if (!is_open) return unlink();
                        end(wrong_order(place.path, ", here or in another client: close it first"));
                      });
  });
}

// ---- files that are open -----------------------------------------------------------------------------------------

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
    return wrong_order(name, " to be published or sealed as '" + found->second +
                                 "', here or in another client, or its close has yet to end");
  }
  return {};
}

SharedFile* SharedFiles::add(SharedFile file) {
  file.identity = engine_.identity(file.data);
  SharedFile& added = files_[file.data] = std::move(file);
  if (added.identity.is_known()) known_[{added.identity, added.is_writable()}] = &added;
  return &added;
}

void SharedFiles::release(SharedFile& file, std::function<void()> then) {
  TAILRACE_REQUIRE(file.users > 0);
  if (--file.users > 0) return then();
  const std::set<FileId> both{file.data, file.sync};
  forget(file);
  close(both, std::move(then));
}

void SharedFiles::forget(const SharedFile& file) {
  const auto known = known_.find({file.identity, file.is_writable()});
  if (known != known_.end() && known->second == &file) known_.erase(known);
  if (!file.final_path.empty()) for_one_.erase(file.path);
  files_.erase(file.data);
}

// Closes the files that are not 0, and then calls `then`.
void SharedFiles::close(std::set<FileId> files, std::function<void()> then) {
  files.erase(0);
  if (files.empty()) return then();
  const uint64_t token = next_token_++;
  closings_[token] = {files.size(), std::move(then)};
  for (const FileId file : files) to_close_.emplace_back(file, token);
}

void SharedFiles::closed(uint64_t token) {
  const auto found = closings_.find(token);
  if (--found->second.left > 0) return;
  const std::function<void()> then = std::move(found->second.then);
  closings_.erase(found);
  then();
}

bool SharedFiles::progress() {
  bool any = false;
  for (; !to_close_.empty() && engine_.room() > 0; any = true) {
    Request close;
    close.operation = Operation::close;
    std::tie(close.file, close.token) = to_close_.back();
    close.sink = this;
    to_close_.pop_back();
    engine_.submit(std::move(close));
  }
  for (; !waiting_.empty() && engine_.room() > 0; any = true) {
    const Shared of = std::move(waiting_.front());
    waiting_.pop_front();
    settle(of);
  }
  return any;
}

}  // namespace tailrace::impl
