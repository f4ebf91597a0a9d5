#include "storage/remote/remote_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "storage/remote/forwarders/answers.hpp"

namespace tailrace::impl {
namespace {

using Kind = FileOperation::Kind;

constexpr Nanoseconds kOwnSession = std::chrono::seconds(2);  // for an earlier session to let go of its locks

// Returns the mode that opens a file again which was opened with `mode`.
OpenMode again(OpenMode mode) {
  switch (mode) {
    case OpenMode::fresh:
    case OpenMode::own_or_new: return OpenMode::own;
    case OpenMode::create:
    case OpenMode::update: return OpenMode::edit;
    case OpenMode::own:
    case OpenMode::own_read:
    case OpenMode::edit:
    case OpenMode::view:
    case OpenMode::read:
    case OpenMode::directory: return mode;
  }
  TAILRACE_ASSERT(false);
}

bool changes_names(ForwardCall call) {
  switch (call) {
    case ForwardCall::open:  // it may make the file, or empty it
    case ForwardCall::make_directory:
    case ForwardCall::remove:
    case ForwardCall::lock: return true;
    default: return false;
  }
}

// Returns true if a lock was refused since `holder` has it.
bool is_held_by(const std::string& holder, const Status& refusal) {
  return refusal.code() == TAILRACE_CLIENT_IN_USE && refusal.fault().message.ends_with(" is locked by " + holder);
}

ForwardCallMessage opening(const RemoteFiles::File& file, OpenMode mode) {
  ForwardCallMessage message = RemoteFiles::call_on(ForwardCall::open, file.path);
  message.record.mode = static_cast<uint32_t>(mode);
  message.record.offset = file.device;
  return message;
}

// Checks that a file that is opened once more is the one that was open: its name may lead to another one by now. Each
// host numbers its volumes itself.
Status expect_same(const RemoteFiles::File& file, FileIdentity found) {
  if (!file.identity.is_known() || !found.is_known() || file.identity.number == found.number) return {};
  Fault fault;
  fault.code = TAILRACE_IO_ERROR;
  fault.operation = "open";
  fault.file = file.path;
  fault.system_errno = ESTALE;
  fault.message =
      fmt::format("open '{}' again: found another file of this name, expected the one that was open", file.path);
  return Status(std::move(fault));
}

}  // namespace

RemoteFiles::RemoteFiles(ForwarderSet& forwarders, Log& log, OnLoss on_loss, bool spread, Storage* local)
    : forwarders_(forwarders),
      log_(log),
      on_loss_(on_loss),
      spread_(spread),
      waits_(forwarders),
      local_(local, waits_),
      reach_(forwarders, waits_, log, on_loss, [this] { return let_leaving_end(); }) {}

// Forwarders may have other working directories than this process.
std::string RemoteFiles::absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  return error ? path : whole.lexically_normal().string();
}

ForwardCallMessage RemoteFiles::call_on(ForwardCall call, std::string text, std::string second) {
  ForwardCallMessage message{{}, std::move(text), std::move(second)};
  message.record.call = call;
  return message;
}

// ---- calls -----------------------------------------------------------------------------------------------------

Task<Result<RemoteFiles::Asked>> RemoteFiles::ask(std::string path, ForwardCallMessage message, const char* operation,
                                                  bool bulk) {
  using Answered = Result<Asked>;
  if (message.text.size() > kMostForwardText || message.second.size() > kMostForwardText) {
    co_return Answered(Status::of_errno(operation, path, ENAMETOOLONG));
  }
  Reach::Perseverance tries = reach_.perseverance();
  for (;;) {
    const bool goes_on = co_await tries.goes_on();
    if (!goes_on) break;
    const std::optional<size_t> forwarder = co_await reach_.anyone(home_of(path));
    if (!forwarder) break;
    Waits::Call call(waits_, *forwarder, message, bulk);
    Waits::Reply reply = co_await call;
    if (reply.answer) {
      const Status status = status_of(*reply.answer, operation, path);
      if (!status.ok()) co_return Answered(status);
      co_return Answered(Asked{std::move(*reply.answer), *forwarder, std::move(reply.bulk)});
    }
    message.record.flags |= CallRecord::kRepeated;
    // It may still carry this call out, and only what it may do twice is asked of another one before that.
    if (changes_names(message.record.call) && on_loss_ != OnLoss::fail)
      (void)co_await outlast_calls(*forwarder, path);
  }
  if (!forwarders_.refusal().ok()) co_return Answered(forwarders_.refusal());
  co_return Answered(Status(
      TAILRACE_SERVER_LOST,
      fmt::format("{} '{}': its forwarder {} does not answer{}", operation, path, forwarders_.address(home_of(path)),
                  on_loss_ == OnLoss::next ? ", nor does another one: " + reach_.in_vain() : "")));
}

// Awaits that a forwarder whose link was lost carries out no call of this node any more. A call on a new link is
// answered after those of earlier links have ended, also by a forwarder that is leaving, which is asked nothing else.
Task<bool> RemoteFiles::outlast_calls(size_t forwarder, std::string path) {
  for (size_t tries = 0; tries < Reach::kTries; ++tries) {
    const bool reached = co_await reach_.or_outlast(forwarder);
    if (!reached) co_return true;
    Waits::Call call(waits_, forwarder, call_on(ForwardCall::stat, path));
    const Waits::Reply reply = co_await call;
    if (reply.answer) co_return true;
  }
  co_return co_await until_over(forwarder);  // its connections do not last
}

Task<bool> RemoteFiles::until_over(size_t forwarder) {
  while (!forwarders_.is_over(forwarder) && forwarders_.refusal().ok()) {
    Waits::Condition between = waits_.pause(Reach::kBetween);
    co_await between;
  }
  co_return forwarders_.is_over(forwarder);
}

// Makes a call on an open file, of the forwarder that has it open. Fails with TAILRACE_SERVER_LOST, and changes
// nothing, if this node itself has it open.
Task<Result<ForwardAnswer>> RemoteFiles::ask_of(FileHandle handle, ForwardCallMessage message,
                                                const char* operation) {
  using Answered = Result<ForwardAnswer>;
  const File& file = files_.at(handle);
  Reach::Perseverance tries = reach_.perseverance();
  for (;;) {
    const bool goes_on = co_await tries.goes_on();
    if (!goes_on) break;
    Waits::Condition ready = settled(handle);
    co_await ready;
    if (file.here) break;
    if (!file.failure.ok()) co_return Answered(file.failure);
    message.record.file = file.remote;
    Waits::Call call(waits_, file.forwarder, message);
    Waits::Reply reply = co_await call;
    if (reply.answer) {
      const Status status = status_of(*reply.answer, operation, file.path);
      if (!status.ok()) co_return Answered(status);
      co_return Answered(std::move(*reply.answer));
    }
    message.record.flags |= CallRecord::kRepeated;
  }
  co_return Answered(lost(operation, file));
}

Status RemoteFiles::lost(const char* operation, const File& file) const {
  return Status(TAILRACE_SERVER_LOST, fmt::format("{} '{}': its forwarder {} is lost", operation, file.path,
                                                  forwarders_.address(file.forwarder)));
}

// Awaits that no task moves the file, and that it is open somewhere, or has failed.
Waits::Condition RemoteFiles::settled(FileHandle handle) {
  return Waits::Condition(waits_, [this, handle] {
    const File& file = files_.at(handle);
    if (file.moving > 0) return false;
    return file.here || !file.failure.ok() || is_linked(file) || still_answers(file);
  });
}

// ---- operations --------------------------------------------------------------------------------------------------

Task<FileOperationEnd> RemoteFiles::carry_out(FileOperation operation) {
  switch (operation.kind) {
    case Kind::reserve:
    case Kind::behind: co_return FileOperationEnd{operation.tag};  // forwarders do both by themselves
    case Kind::direct: co_return FileOperationEnd{.tag = operation.tag, .direct = true};
    case Kind::open: co_return co_await open(std::move(operation));
    case Kind::stat:
    case Kind::unlink: co_return co_await on_name(std::move(operation));
    case Kind::size:
    case Kind::allocate:
    case Kind::truncate: co_return co_await on_file(std::move(operation));
    case Kind::rename: {
      const Status renamed = co_await rename(operation.file, operation.path, operation.replace, false);
      co_return FileOperationEnd{operation.tag, renamed};
    }
    case Kind::publish: {
      const Status renamed = co_await rename(operation.file, operation.path, operation.replace, true);
      (void)co_await close(operation.file);
      co_return FileOperationEnd{operation.tag, renamed};
    }
    case Kind::close: (void)co_await close(operation.file); co_return FileOperationEnd{operation.tag};
    case Kind::remove:
      (void)co_await close(operation.file);
      operation.kind = Kind::unlink;
      co_return co_await on_name(std::move(operation));
    case Kind::call: break;
  }
  TAILRACE_ASSERT(false);
}

Task<FileOperationEnd> RemoteFiles::open(FileOperation operation) {
  File file{.path = absolute(operation.path), .mode = operation.mode, .device = operation.device};
  ForwardCallMessage message = opening(file, operation.mode);
  if (!operation.root.empty()) message.second = absolute(operation.root);
  Result<Asked> asked = co_await ask(file.path, message, "open");
  FileOperationEnd end{operation.tag};
  if (asked.ok()) {
    const ForwardAnswer& answer = asked.value().answer;
    adopt(file, asked.value().forwarder, answer);
    end.opened = add(std::move(file), stripes_in(answer));
    end.opened.is_empty = answer.record.empty == 1;
    co_return end;
  }
  if (!falls_back(asked.status())) {
    end.status = asked.status();
    co_return end;
  }
  operation.path = file.path;
  operation.root = message.second;
  end = co_await local_.carry_out(std::move(operation));
  if (!end.status.ok()) co_return end;
  file.here = true;
  file.local = end.opened.file;
  file.identity = end.opened.identity;
  end.opened.file = add(std::move(file), end.opened.stripes).file;
  co_return end;
}

// Carries out a stat, or removes a name.
Task<FileOperationEnd> RemoteFiles::on_name(FileOperation operation) {
  const bool looks = operation.kind == Kind::stat;
  operation.path = absolute(operation.path);
  if (!operation.root.empty()) operation.root = absolute(operation.root);
  const ForwardCallMessage message =
      call_on(looks ? ForwardCall::stat : ForwardCall::remove, operation.path, operation.root);
  const Result<Asked> asked = co_await ask(operation.path, message, looks ? "stat" : "remove");
  if (falls_back(asked.status())) co_return co_await local_.carry_out(std::move(operation));
  FileOperationEnd end{operation.tag, asked.status()};
  if (looks && asked.ok()) end.facts = facts_in(asked.value().answer);
  co_return end;
}

// Asks about an open file, or changes its size.
Task<FileOperationEnd> RemoteFiles::on_file(FileOperation operation) {
  const bool sizes = operation.kind == Kind::size;
  const bool cuts = operation.kind == Kind::truncate;
  ForwardCallMessage message =
      call_on(sizes ? ForwardCall::size : (cuts ? ForwardCall::truncate : ForwardCall::allocate), {});
  message.record.offset = operation.offset;
  message.record.length = operation.size;
  const FileHandle handle = operation.file;
  const Result<ForwardAnswer> answer =
      co_await ask_of(handle, message, sizes ? "stat" : (cuts ? "truncate" : "allocate"));
  if (!answer.ok() && files_.at(handle).here) {
    operation.file = files_.at(handle).local;
    co_return co_await local_.carry_out(std::move(operation));
  }
  FileOperationEnd end{operation.tag, answer.status()};
  if (sizes && answer.ok()) end.size = answer.value().record.value;
  co_return end;
}

// Renames a file; where `closes`, the same call closes it, if one is enough. A forwarder that is lost may have
// renamed the file before, or does so while this node looks: the file is then found under its new name, at the latest
// when it moves.
Task<Status> RemoteFiles::rename(FileHandle handle, std::string path, bool replace, bool closes) {
  path = absolute(path);
  File& file = files_.at(handle);
  const std::vector<FileHandle> all = all_of(handle);
  for (const FileHandle part : all) files_.at(part).renaming = path;
  ForwardCallMessage message = call_on(ForwardCall::rename, path);
  const bool closes_too = closes && all.size() == 1;
  message.record.flags = (replace ? CallRecord::kReplace : 0) | (closes_too ? CallRecord::kClose : 0);
  Status status;
  bool answered = false;
  bool repeated = false;
  Reach::Perseverance tries = reach_.perseverance();
  while (!answered) {
    const bool goes_on = co_await tries.goes_on();
    if (!goes_on) break;
    Waits::Condition ready = settled(handle);
    co_await ready;
    status = file.failure;
    if (!status.ok() || file.path == path) break;
    if (file.here) {
      status = co_await local_.rename(file.local, path, replace);
      answered = true;
    } else {
      message.record.file = file.remote;
      Waits::Call call(waits_, file.forwarder, message);
      const Waits::Reply reply = co_await call;
      answered = reply.answer.has_value();
      if (answered) file.closed = closes_too;
      if (answered) status = status_of(*reply.answer, "rename", file.path);
    }
    bool renamed = answered && status.ok();
    if (!renamed && repeated) renamed = co_await has_name(file.identity, path);
    if (renamed) file.path = path;
    repeated = true;
  }
  for (const FileHandle part : all) {
    files_.at(part).renaming.clear();
    if (file.path == path) files_.at(part).path = path;
  }
  if (file.path == path) co_return Status();
  if (status.ok()) co_return lost("rename", file);
  co_return status;
}

// Returns true if the name leads to the file.
Task<bool> RemoteFiles::has_name(FileIdentity identity, std::string path) {
  FileOperation look;  // by itself: GCC 12 destroys a braced temporary in an await twice
  look.kind = Kind::stat;
  look.path = std::move(path);
  const FileOperationEnd found = co_await on_name(std::move(look));
  co_return found.status.ok() && found.facts.identity == identity;
}

Task<bool> RemoteFiles::close(FileHandle handle) {
  const std::vector<FileHandle> all = all_of(handle);
  std::vector<Task<bool>> closing;
  Waits::Condition idle(waits_, [this, &all] {
    return std::none_of(all.begin(), all.end(), [this](FileHandle one) { return files_.at(one).moving > 0; });
  });
  co_await idle;
  for (const FileHandle one : all) {
    closing.push_back(close_at(one));
    closing.back().start();
  }
  for (const FileHandle one : all) forget(one);
  Waits::Condition over(waits_, [&closing] {
    return std::all_of(closing.begin(), closing.end(), [](const Task<bool>& one) { return one.is_over(); });
  });
  co_await over;
  co_return true;
}

// Has a file closed where it is open. A forwarder that is lost has closed it.
Task<bool> RemoteFiles::close_at(FileHandle handle) {
  const File& file = files_.at(handle);
  if (file.here) co_return co_await local_.close(file.local);
  const bool is_there = !file.closed && (is_linked(file) || still_answers(file));
  if (!is_there) co_return false;
  ForwardCallMessage message = call_on(ForwardCall::close, {});
  message.record.file = file.remote;
  Waits::Call call(waits_, file.forwarder, message);
  const Waits::Reply reply = co_await call;
  co_return reply.answer.has_value();
}

void RemoteFiles::forget(FileHandle handle) {
  std::erase(open_, handle);
  files_.erase(handle);
}

void RemoteFiles::adopt(File& file, size_t forwarder, const ForwardAnswer& answer) const {
  file.forwarder = forwarder;
  file.link = forwarders_.link(forwarder);
  file.remote = answer.record.file;
  file.identity = {answer.record.volume, answer.record.number};
}

Opened RemoteFiles::add(File file, StripeMap stripes) {
  const bool spreads = spread_ && !file.here && file.mode != OpenMode::directory && forwarders_.size() > 1;
  if (spreads) file.domains.emplace(stripes, forwarders_.size(), file.forwarder);
  const FileIdentity identity = file.identity;
  const FileHandle handle = files_.put(std::move(file));
  open_.push_back(handle);
  return Opened{handle, std::move(stripes), identity};
}

// ---- parts -------------------------------------------------------------------------------------------------------

std::optional<RemoteFiles::Domain> RemoteFiles::domain_at(FileHandle handle, uint64_t offset, uint64_t length) {
  File& file = files_.at(handle);
  if (!file.domains || file.here || !file.failure.ok()) return Domain{handle, length};
  const size_t forwarder = file.domains->forwarder_of(offset);
  if (!file.parts.contains(forwarder) && !file.opening_parts.contains(forwarder)) {
    const auto task = file.opening_parts.emplace(forwarder, open_part(handle, forwarder)).first;
    task->second.start();
  }
  const auto found = file.parts.find(forwarder);
  if (found == file.parts.end()) return std::nullopt;
  file.opening_parts.erase(forwarder);
  return Domain{found->second, file.domains->length_at(offset, length)};
}

// Opens a file at a forwarder for the transfers in its domain. They go to the file itself if that has it already, or
// cannot open it now.
Task<bool> RemoteFiles::open_part(FileHandle whole, size_t forwarder) {
  File& file = files_.at(whole);
  File part{.path = file.path, .mode = file.mode, .device = file.device};
  part.whole = whole;
  bool is_open = false;
  if (forwarder != file.forwarder && forwarders_.is_usable(forwarder)) {
    forwarders_.connect(forwarder);
    Waits::Condition linked(waits_, [this, forwarder] { return !forwarders_.is_connecting(forwarder); });
    co_await linked;
    const Status opened = co_await open_at(forwarder, part);
    is_open = opened.ok();
  }
  FileHandle handle = whole;
  if (is_open) {
    handle = files_.put(std::move(part));
    open_.push_back(handle);
  } else if (!forwarders_.refusal().ok()) {
    fail(file, forwarders_.refusal());
  }
  file.parts[forwarder] = handle;
  co_return is_open;
}

std::vector<FileHandle> RemoteFiles::all_of(FileHandle whole) const {
  std::vector<FileHandle> all{whole};
  for (const auto& [forwarder, part] : files_.at(whole).parts) {
    if (part != whole) all.push_back(part);
  }
  return all;
}

// ---- losses ------------------------------------------------------------------------------------------------------

void RemoteFiles::progress() {
  for (bool any = true; any;) {
    any = waits_.progress();
    moves_.remove_if([](const Task<bool>& one) { return one.is_over(); });
    const std::vector<FileHandle> all = open_;
    for (const FileHandle handle : all) {
      if (!is_open(handle) || !must_move(handle)) continue;
      moves_.push_back(move_lost(handle));
      moves_.back().start();
      any = true;
    }
    for (Held& lock : locks_) {
      if (!must_move(lock)) continue;
      moves_.push_back(move_lock(lock));
      moves_.back().start();
      any = true;
    }
  }
}

bool RemoteFiles::is_open(FileHandle handle) const {
  return std::find(open_.begin(), open_.end(), handle) != open_.end();
}

bool RemoteFiles::must_move(FileHandle handle) const {
  const File& file = files_.at(handle);
  if (file.here || !file.failure.ok() || file.moving > 0 || file.closed || is_linked(file)) return false;
  return !still_answers(file) || !forwarders_.is_busy(file.forwarder);  // it may have transfers of this file
}

bool RemoteFiles::must_move(const Held& lock) const {
  return !lock.gone && !lock.moving && !lock.local && !is_linked(lock.forwarder, lock.link);
}

Task<bool> RemoteFiles::move_lost(FileHandle handle) {
  ++files_.at(handle).moving;
  const bool moved = co_await move(handle);
  --files_.at(handle).moving;
  co_return moved;
}

void RemoteFiles::leave_leaving() {
  for (size_t i = 0; i < forwarders_.size(); ++i) {
    if (!forwarders_.is_leaving(i)) continue;
    const uint64_t link = forwarders_.link(i);
    const auto is_there = [&](FileHandle handle) {
      const File& file = files_.at(handle);
      return !file.here && file.failure.ok() && file.link == link;
    };
    if (std::none_of(open_.begin(), open_.end(), is_there)) forwarders_.leave_leaving(i);
  }
}

// Has forwarders that are leaving end their transfers of this node's files, and leaves them: no other forwarder could
// open the files before, and those that leave wait for their clients.
Task<bool> RemoteFiles::let_leaving_end() {
  bool any = false;
  for (size_t i = 0; i < forwarders_.size(); ++i) {
    if (!forwarders_.is_leaving(i)) continue;
    any = true;
    if (forwarders_.is_busy(i)) continue;
    const std::vector<FileHandle> all = open_;
    for (const FileHandle handle : all) {
      if (!is_open(handle)) continue;
      File& file = files_.at(handle);
      if (file.here || !file.failure.ok() || file.forwarder != i || !still_answers(file)) continue;
      ++file.moving;
      (void)co_await settle(handle);
      --file.moving;
    }
    forwarders_.leave_leaving(i);
  }
  co_return any;
}

void RemoteFiles::fail_file(uint64_t link, uint32_t remote, const Status& why) {
  for (const FileHandle handle : open_) {
    File& file = files_.at(handle);
    const Opening opening{link, remote};
    const bool is_it = Opening{file.link, file.remote} == opening || file.settled == opening;
    if (!file.here && is_it && file.failure.ok()) fail(file, why);
  }
}

// A file whose part fails fails, too: nothing that depends on the whole file may succeed.
void RemoteFiles::fail(File& file, const Status& why) {
  file.failure = why;
  if (!file.whole) return;
  File& whole = files_.at(*file.whole);
  if (whole.failure.ok()) whole.failure = why;
}

// Has the forwarder of a file end all transfers of it, also those of earlier connections. Returns false if it is
// lost.
Task<bool> RemoteFiles::settle(FileHandle handle) {
  File& file = files_.at(handle);
  ForwardCallMessage message = call_on(ForwardCall::settle, {});
  message.record.file = file.remote;
  Waits::Call call(waits_, file.forwarder, message);
  const Waits::Reply reply = co_await call;
  if (reply.answer) file.settled = {file.link, file.remote};
  co_return reply.answer.has_value();
}

Task<bool> RemoteFiles::move(FileHandle handle) {
  File& file = files_.at(handle);
  const size_t from = file.forwarder;
  const std::string& old = forwarders_.address(from);
  bool is_settled = file.settled == Opening{file.link, file.remote};
  if (!is_settled && still_answers(file)) is_settled = co_await settle(handle);
  if (file.unsure && !is_settled && (forwarders_.is_lost(from) || forwarders_.link(from) != file.link)) {
    fail(file, Status(TAILRACE_SERVER_LOST,
                      fmt::format("'{}': its forwarder {} is lost, with writes that it had confirmed as received",
                                  file.path, old)));
    co_return false;
  }
  if (on_loss_ == OnLoss::fail) {
    fail(file, Status(TAILRACE_SERVER_LOST, fmt::format("'{}': its forwarder {} is lost", file.path, old)));
    co_return false;
  }
  bool went_on = false;
  if (!is_settled) went_on = co_await go_on(handle);
  if (went_on) co_return true;
  Status status = forwarders_.refusal();
  if (status.ok()) status = co_await open_elsewhere(handle);
  if (status.ok()) {
    log_.warning("'{}': the connection with its forwarder {} was lost; {}", file.path, old,
                 file.here ? "this node goes on by itself" : forwarders_.address(file.forwarder) + " goes on");
  } else {
    fail(file, status);
  }
  co_return status.ok();
}

// Goes on at the forwarder of a file, if only the connection was lost: it orders what it gets now behind what it
// still carries out. Returns false when nothing is left there, and the file must move.
Task<bool> RemoteFiles::go_on(FileHandle handle) {
  File& file = files_.at(handle);
  const size_t from = file.forwarder;
  for (size_t tries = 0; tries <= Reach::kTries; ++tries) {
    const bool reached = co_await reach_.or_outlast(from);
    if (!reached) break;
    const Status status = co_await open_renamed(from, handle);
    if (status.code() == TAILRACE_SERVER_LOST) continue;
    if (!status.ok()) {
      fail(file, status);
      co_return true;
    }
    if (forwarders_.is_usable(from)) {
      log_.warning("'{}': the connection with its forwarder {} was lost; {} goes on", file.path,
                   forwarders_.address(from), forwarders_.address(from));
      co_return true;
    }
    const bool is_settled = co_await settle(handle);
    if (is_settled) co_return false;  // it is leaving
  }
  (void)co_await until_over(from);  // its connections do not last
  co_return false;
}

// Opens a file at another forwarder, or at this node.
Task<Status> RemoteFiles::open_elsewhere(FileHandle handle) {
  File& file = files_.at(handle);
  const size_t from = file.forwarder;
  Reach::Perseverance tries = reach_.perseverance();
  while (on_loss_ == OnLoss::next) {
    const bool goes_on = co_await tries.goes_on();
    if (!goes_on) break;
    const std::optional<size_t> to = co_await reach_.anyone((from + 1) % forwarders_.size());
    if (!to) break;
    const Status status = co_await open_renamed(*to, handle);
    if (status.code() != TAILRACE_SERVER_LOST) co_return status;
  }
  if (!forwarders_.refusal().ok()) co_return forwarders_.refusal();
  if (on_loss_ == OnLoss::next) {
    co_return Status(TAILRACE_SERVER_LOST, fmt::format("'{}': its forwarder {} is lost, and no other answers: {}",
                                                       file.path, forwarders_.address(from), reach_.in_vain()));
  }
  co_return co_await open_renamed(std::nullopt, handle);
}

// Opens a file by its name, or by the one that a call may have given it: one that was interrupted, or that of the
// whole file. None: this node itself opens it.
Task<Status> RemoteFiles::open_renamed(std::optional<size_t> forwarder, FileHandle handle) {
  File& file = files_.at(handle);
  Status status = co_await open_at(forwarder, file);
  if (status.ok() || file.renaming.empty()) co_return status;
  const bool renamed = co_await has_name(file.identity, file.renaming);
  if (!renamed) co_return status;
  file.path = file.renaming;
  status = co_await open_at(forwarder, file);
  co_return status;
}

Task<Status> RemoteFiles::open_at(std::optional<size_t> at, File& file) {
  if (!at) co_return co_await open_here(file);
  const size_t forwarder = *at;
  ForwardCallMessage message = opening(file, again(file.mode));
  message.record.flags = CallRecord::kRepeated;
  Waits::Call call(waits_, forwarder, message);
  const Waits::Reply reply = co_await call;
  if (!reply.answer) {
    co_return Status(TAILRACE_SERVER_LOST, fmt::format("the forwarder {} is lost", forwarders_.address(forwarder)));
  }
  const Status status = status_of(*reply.answer, "open", file.path);
  if (!status.ok()) co_return status;
  const AnswerRecord& record = reply.answer->record;
  const Status same = expect_same(file, {record.volume, record.number});
  if (!same.ok()) {
    ForwardCallMessage close = call_on(ForwardCall::close, {});
    close.record.file = record.file;
    Waits::Call closing(waits_, forwarder, close);
    (void)co_await closing;
    co_return same;
  }
  adopt(file, forwarder, *reply.answer);
  co_return Status();
}

Task<Status> RemoteFiles::open_here(File& file) {
  const Result<Opened> opened = co_await local_.open(file.path, again(file.mode), file.device);
  if (!opened.ok()) co_return opened.status();
  const Status same = expect_same(file, opened.value().identity);
  if (!same.ok()) {
    (void)co_await local_.close(opened.value().file);
    co_return same;
  }
  file.local = opened.value().file;
  file.here = true;
  co_return Status();
}

// ---- locks -------------------------------------------------------------------------------------------------------

Task<Result<RemoteFiles::Lock>> RemoteFiles::lock(std::string path, std::string holder) {
  Held lock;
  lock.path = std::move(path);
  lock.holder = std::move(holder);
  const ForwardCallMessage message = call_on(ForwardCall::lock, lock.path, lock.holder);
  const Result<Asked> asked = co_await ask(lock.path, message, "lock");
  if (falls_back(asked.status())) {
    auto taken = co_await local_.lock(lock.path, lock.holder);
    if (!taken.ok()) co_return Result<Lock>(taken.status());
    lock.local = std::move(taken).value();
  } else if (!asked.ok()) {
    co_return Result<Lock>(asked.status());
  } else {
    lock.forwarder = asked.value().forwarder;
    lock.link = forwarders_.link(lock.forwarder);
    lock.remote = asked.value().answer.record.file;
    lock.held = asked.value().answer.record.value != 0;
  }
  locks_.push_back(std::move(lock));
  co_return Result<Lock>(std::prev(locks_.end()));
}

Task<bool> RemoteFiles::holds(Lock lock) const {
  co_return lock->local ? lock->local->held() : lock->held && !lock->gone;
}

Task<bool> RemoteFiles::release(Lock lock) {
  Waits::Condition idle(waits_, [lock] { return !lock->moving; });
  co_await idle;
  const bool is_gone = std::exchange(lock->gone, true);  // so it does not move meanwhile
  if (lock->local) {
    if (lock->leave) lock->local->leave_file();
    (void)co_await local_.release(std::move(lock->local));
  } else if (!is_gone && is_linked(lock->forwarder, lock->link)) {
    (void)co_await let_go(lock->forwarder, lock->remote, lock->leave);
  }
  locks_.erase(lock);
  co_return true;
}

// Has a forwarder release a lock.
Task<bool> RemoteFiles::let_go(size_t forwarder, uint32_t remote, bool leave_file) {
  ForwardCallMessage message = call_on(ForwardCall::unlock, {});
  message.record.file = remote;
  message.record.flags = leave_file ? CallRecord::kLeaveFile : 0;
  Waits::Call call(waits_, forwarder, message);
  const Waits::Reply reply = co_await call;
  co_return reply.answer.has_value();
}

Task<bool> RemoteFiles::move_lock(Held& lock) {
  lock.moving = true;
  const bool leaves = forwarders_.answers(lock.forwarder) && forwarders_.link(lock.forwarder) == lock.link;
  if (leaves) (void)co_await let_go(lock.forwarder, lock.remote, true);  // another one can take the lock at once
  lock.gone = true;
  if (!leaves && on_loss_ != OnLoss::fail) (void)co_await reach_.or_outlast(lock.forwarder);
  if (on_loss_ == OnLoss::direct) {
    auto taken = co_await local_.lock(lock.path, lock.holder);
    lock.gone = !taken.ok();
    if (taken.ok()) lock.local = std::move(taken).value();
  } else if (on_loss_ == OnLoss::next) {
    const ForwardCallMessage message = call_on(ForwardCall::lock, lock.path, lock.holder);
    Result<Asked> asked = co_await ask(lock.path, message, "lock");
    const Nanoseconds until = forwarders_.now() + kOwnSession;
    while (!asked.ok() && is_held_by(lock.holder, asked.status()) && forwarders_.now() < until) {
      // An earlier session of this process ends when its last transfer has ended.
      Waits::Condition between = waits_.pause(Reach::kBetween);
      co_await between;
      asked = co_await ask(lock.path, message, "lock");
    }
    if (asked.ok()) {
      lock.forwarder = asked.value().forwarder;
      lock.link = forwarders_.link(lock.forwarder);
      lock.remote = asked.value().answer.record.file;
      lock.gone = false;
    }
  }
  if (lock.gone) log_.error("the lock '{}' is lost with its forwarder: nothing keeps other programs away", lock.path);
  lock.moving = false;
  co_return !lock.gone;
}

}  // namespace tailrace::impl
