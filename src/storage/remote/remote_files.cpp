#include "storage/remote/remote_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace tailrace::impl {
namespace {

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

ForwardCallMessage call_on(ForwardCall call, std::string text, std::string second = {}) {
  ForwardCallMessage message{{}, std::move(text), std::move(second)};
  message.record.call = call;
  return message;
}

// If no forwarder can be reached, all are tried again for this time: connections may break in numbers.
constexpr Nanoseconds kPatience = std::chrono::seconds(10);
constexpr Nanoseconds kOwnSession = std::chrono::seconds(2);  // for an earlier session to let go of its locks
constexpr size_t kTries = 16;  // forwarders that are lost in the middle of one call, before time counts
constexpr Nanoseconds kBetween = std::chrono::milliseconds(200);
constexpr Nanoseconds kAtOnce = std::chrono::seconds(1);
constexpr int kRounds = 5;  // of attempts to reach the first forwarder

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

// A call is given up when it has lost kTries forwarders and kPatience has passed: forwarders that a supervisor starts
// again and again may be lost at once, and one of them may last a little later.
class Perseverance {
 public:
  explicit Perseverance(ForwarderSet& forwarders) : forwarders_(forwarders), until_(forwarders.now() + kPatience) {}

  // Returns true if the call is to be tried, or tried again; after the first tries, waits before that.
  bool goes_on() {
    if (tries_++ < kTries) return true;
    if (forwarders_.now() >= until_) return false;
    forwarders_.pause(kBetween);
    return true;
  }

 private:
  ForwarderSet& forwarders_;
  const Nanoseconds until_;
  size_t tries_ = 0;
};

}  // namespace

// ---- which forwarder to ask ------------------------------------------------------------------------------------

// Forwarders may have other working directories than this process.
std::string RemoteFiles::absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  return error ? path : whole.lexically_normal().string();
}

size_t RemoteFiles::home_of(const std::string& path) const { return hash_of(path) % forwarders_.size(); }

// Tries to reach a forwarder. One that does not answer is left alone for as long as it took to learn that, so that
// each of many files does not wait for it.
Status RemoteFiles::reach(size_t forwarder) {
  const Nanoseconds begun = forwarders_.now();
  Status reached = forwarders_.reach(forwarder);
  const Nanoseconds now = forwarders_.now();
  if (!reached.ok()) {
    silent_[forwarder] = {now + (now - begun), reached.fault().message};
    return reached;
  }
  silent_.erase(forwarder);
  if (forwarders_.is_usable(forwarder) && !in_vain_.empty()) {
    in_vain_.clear();
    log_.info("the forwarder {} answers again", forwarders_.address(forwarder));
  }
  return reached;
}

bool RemoteFiles::is_silent(size_t forwarder) const {
  const auto found = silent_.find(forwarder);
  return found != silent_.end() && forwarders_.now() < found->second.until;
}

// Returns a forwarder that has a link: the one at home, or else, if that is allowed, the next one that can be
// reached. Forwarders that were lost are tried last, once. None: no forwarder can be reached.
std::optional<size_t> RemoteFiles::reach_from(size_t home) {
  const size_t count = on_loss_ == OnLoss::next ? forwarders_.size() : 1;
  for (const bool lost : {false, true}) {
    if (lost && on_loss_ != OnLoss::next) break;
    for (size_t i = 0; i < count; ++i) {
      const size_t one = (home + i) % forwarders_.size();
      if (forwarders_.is_usable(one) == lost || is_silent(one)) continue;
      const Status reached = reach(one);
      if (!forwarders_.refusal().ok()) return std::nullopt;  // the list is wrong, so no other forwarder may stand in
      if (!reached.ok() && complained_.insert(one).second) log_.warning("{}", reached.fault().message);
      if (!reached.ok()) continue;
      complained_.erase(one);
      if (forwarders_.is_usable(one)) return one;
    }
  }
  return std::nullopt;
}

// Tries all for kPatience; and for longer while one lives that is leaving, since another one may take its place. If
// that was in vain, they are tried once at each further call, until one answers.
std::optional<size_t> RemoteFiles::reach_patiently(size_t home) {
  const Nanoseconds begun = forwarders_.now();
  Nanoseconds until = begun + kPatience;
  std::optional<size_t> found = reach_from(home);
  if (on_loss_ != OnLoss::next) return found;
  while (!found && in_vain_.empty() && forwarders_.refusal().ok()) {
    if (let_leaving_end()) until = forwarders_.now() + kPatience;
    if (forwarders_.now() >= until) {
      give_up(forwarders_.now() - begun);
      break;
    }
    forwarders_.pause(kBetween);
    found = reach_from(home);
  }
  return found;
}

// Has forwarders that are leaving end what they have of this node's files, and leaves them: nobody else could open
// the files, and they wait for their clients. Returns true if there are any.
bool RemoteFiles::let_leaving_end() {
  bool any = false;
  for (size_t i = 0; i < forwarders_.size(); ++i) {
    if (!forwarders_.is_leaving(i)) continue;
    any = true;
    if (forwarders_.is_busy(i)) continue;
    for (const FileHandle handle : open_) {
      File& file = files_.at(handle);
      if (!file.here && file.failure.ok() && file.forwarder == i && still_answers(file)) (void)settle(file);
    }
    forwarders_.leave_leaving(i);
  }
  return any;
}

void RemoteFiles::give_up(Nanoseconds after) {
  constexpr size_t kMostNamed = 8;
  std::string why;
  for (size_t i = 0; i < std::min(forwarders_.size(), kMostNamed); ++i) {
    const auto silent = silent_.find(i);
    why += fmt::format("; {}", silent != silent_.end() ? silent->second.why : forwarders_.address(i));
  }
  if (forwarders_.size() > kMostNamed) why += fmt::format("; and {} more", forwarders_.size() - kMostNamed);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(after).count();
  in_vain_ = fmt::format("tried for {} s: {}", seconds, why.substr(2));
  log_.error("no forwarder answers, so what needs one fails until one answers: {}", in_vain_);
}

// Tries a forwarder once more whose link was lost. If the first new link breaks at once, tries another one.
bool RemoteFiles::reach_again(size_t forwarder) {
  const Nanoseconds begun = forwarders_.now();
  if (reach(forwarder).ok()) return true;
  return forwarders_.now() - begun < kAtOnce && reach(forwarder).ok();
}

// Tries to reach a forwarder that was lost, until it can be reached, or is over. Returns true if it has a link.
bool RemoteFiles::reach_or_outlast(size_t forwarder) {
  while (!(forwarders_.is_over(forwarder) && is_silent(forwarder))) {
    if (reach_again(forwarder)) return true;
    if (forwarders_.is_over(forwarder) || !forwarders_.refusal().ok()) return false;
    forwarders_.pause(kBetween);
  }
  return false;
}

Status RemoteFiles::begin() {
  Status reached;
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) forwarders_.pause(kBetween);
    reached = forwarders_.reach_all();
    if (reached.ok() || !forwarders_.refusal().ok()) return reached;
    // The configuration is wrong: the forwarder lives, and the files belong there.
    for (size_t i = 0; i < forwarders_.size(); ++i) {
      if (!forwarders_.refuses_key(i)) continue;
      return Status(TAILRACE_INVALID_CONFIG,
                    "forward.key: found no forwarder that takes it: " + reached.fault().message);
    }
  }
  if (on_loss_ == OnLoss::direct) return {};
  return Status(TAILRACE_SERVER_LOST, "forward.servers: found no forwarder that answers: " + reached.fault().message);
}

// Makes a call on a name. If the forwarder is lost before it answers, makes it again elsewhere.
Result<RemoteFiles::Asked> RemoteFiles::ask(const std::string& path, ForwardCallMessage message,
                                            const char* operation, bool bulk) {
  if (message.text.size() > kMostForwardText || message.second.size() > kMostForwardText) {
    return Status::of_errno(operation, path, ENAMETOOLONG);
  }
  Asked asked;
  for (Perseverance call(forwarders_); call.goes_on();) {
    const std::optional<size_t> forwarder = reach_patiently(home_of(path));
    if (!forwarder) break;
    auto answer = forwarders_.call(*forwarder, message, bulk ? &asked.bulk : nullptr);
    if (answer.ok()) {
      if (Status status = status_of(answer.value(), operation, path); !status.ok()) return status;
      asked.answer = std::move(answer).value();
      asked.forwarder = *forwarder;
      return asked;
    }
    message.record.flags |= CallRecord::kRepeated;
    asked.repeated = true;
    // It may still carry this call out, and only what it may do twice is asked of another one before that.
    if (changes_names(message.record.call) && on_loss_ != OnLoss::fail) (void)reach_or_outlast(*forwarder);
  }
  if (!forwarders_.refusal().ok()) return forwarders_.refusal();
  return Status(
      TAILRACE_SERVER_LOST,
      fmt::format("{} '{}': its forwarder {} does not answer{}", operation, path, forwarders_.address(home_of(path)),
                  on_loss_ == OnLoss::next ? ", nor does another one: " + in_vain_ : ""));
}

// Makes a call on an open file, of the forwarder that has it open.
Result<ForwardAnswer> RemoteFiles::ask_of(File& file, ForwardCallMessage message, const char* operation) {
  for (Perseverance call(forwarders_); call.goes_on();) {
    if (!is_linked(file)) move_from_lost();
    if (file.here) break;
    if (!file.failure.ok()) return file.failure;
    if (!is_linked(file) && !still_answers(file)) continue;  // its new link was lost while others moved
    message.record.file = file.remote;
    auto answer = forwarders_.call(file.forwarder, message);
    if (answer.ok()) {
      const Status status = status_of(answer.value(), operation, file.path);
      if (!status.ok()) return status;
      return answer;
    }
    message.record.flags |= CallRecord::kRepeated;
  }
  return lost(operation, file);
}

Status RemoteFiles::lost(const char* operation, const File& file) const {
  return Status(TAILRACE_SERVER_LOST, fmt::format("{} '{}': its forwarder {} is lost", operation, file.path,
                                                  forwarders_.address(file.forwarder)));
}

// ---- losses ----------------------------------------------------------------------------------------------------

bool RemoteFiles::move_from_lost() {
  bool any = false;
  for (const FileHandle handle : open_) {
    File& file = files_.at(handle);
    if (file.here || !file.failure.ok() || is_linked(file)) continue;
    if (still_answers(file) && forwarders_.is_busy(file.forwarder)) continue;  // it may have transfers of this file
    move(file);
    any = true;
  }
  for (Held& lock : locks_) {
    if (lock.gone || lock.local || is_linked(lock.forwarder, lock.link)) continue;
    move(lock);
    any = true;
  }
  return any;
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
bool RemoteFiles::settle(File& file) {
  ForwardCallMessage message = call_on(ForwardCall::settle, {});
  message.record.file = file.remote;
  auto answer = forwarders_.call(file.forwarder, message);
  while (answer.ok() && answer.value().record.system_errno == ENOBUFS) {  // it has too much to do
    forwarders_.pause(kBetween);
    answer = forwarders_.call(file.forwarder, message);
  }
  if (answer.ok()) file.settled = {file.link, file.remote};
  return answer.ok();
}

void RemoteFiles::move(File& file) {
  const size_t from = file.forwarder;
  const std::string& old = forwarders_.address(from);
  const bool settled = file.settled == Opening{file.link, file.remote} || (still_answers(file) && settle(file));
  if (file.unsure && !settled && (forwarders_.is_lost(from) || forwarders_.link(from) != file.link)) {
    return fail(file, Status(TAILRACE_SERVER_LOST,
                             fmt::format("'{}': its forwarder {} is lost, with writes that it had confirmed as "
                                         "received",
                                         file.path, old)));
  }
  if (on_loss_ == OnLoss::fail) {
    return fail(file, Status(TAILRACE_SERVER_LOST, fmt::format("'{}': its forwarder {} is lost", file.path, old)));
  }
  if (!settled && go_on(file)) return;
  const Status status = forwarders_.refusal().ok() ? open_elsewhere(file) : forwarders_.refusal();
  if (!status.ok()) return fail(file, status);
  log_.warning("'{}': the connection with its forwarder {} was lost; {}", file.path, old,
               file.here ? "this node goes on by itself" : forwarders_.address(file.forwarder) + " goes on");
}

// Goes on at the forwarder of a file, if only the connection was lost: it orders what it gets now behind what it
// still carries out. Returns false when nothing is left there, and the file must move.
bool RemoteFiles::go_on(File& file) {
  const size_t from = file.forwarder;
  for (size_t tries = 0; tries <= kTries && reach_or_outlast(from); ++tries) {
    const Status status = open_renamed(from, file);
    if (status.code() == TAILRACE_SERVER_LOST) continue;
    if (!status.ok()) {
      fail(file, status);
      return true;
    }
    if (forwarders_.is_usable(from)) {
      log_.warning("'{}': the connection with its forwarder {} was lost; {} goes on", file.path,
                   forwarders_.address(from), forwarders_.address(from));
      return true;
    }
    if (settle(file)) return false;  // it is leaving
  }
  while (!forwarders_.is_over(from) && forwarders_.refusal().ok())
    forwarders_.pause(kBetween);  // its connections do not last
  return false;
}

// Opens a file at another forwarder, or at this node.
Status RemoteFiles::open_elsewhere(File& file) {
  const size_t from = file.forwarder;
  for (Perseverance opening(forwarders_); on_loss_ == OnLoss::next && opening.goes_on();) {
    const std::optional<size_t> to = reach_patiently((from + 1) % forwarders_.size());
    if (!to) break;
    const Status status = open_renamed(*to, file);
    if (status.code() != TAILRACE_SERVER_LOST) return status;
  }
  if (!forwarders_.refusal().ok()) return forwarders_.refusal();
  if (on_loss_ == OnLoss::next) {
    return Status(TAILRACE_SERVER_LOST, fmt::format("'{}': its forwarder {} is lost, and no other answers: {}",
                                                    file.path, forwarders_.address(from), in_vain_));
  }
  if (!file.renaming.empty() && has_name(file, file.renaming)) file.path = file.renaming;
  return open_here(file);
}

// Opens a file by its name, or by the one that an interrupted call has given it.
Status RemoteFiles::open_renamed(size_t forwarder, File& file) {
  const Status status = open_at(forwarder, file);
  if (status.ok() || file.renaming.empty() || !has_name(file, file.renaming)) return status;
  file.path = file.renaming;
  return open_at(forwarder, file);
}

Status RemoteFiles::open_at(size_t forwarder, File& file) {
  ForwardCallMessage message = call_on(ForwardCall::open, file.path);
  message.record.mode = static_cast<uint32_t>(again(file.mode));
  message.record.offset = file.device;
  message.record.flags = CallRecord::kRepeated;
  auto answer = forwarders_.call(forwarder, message);
  if (!answer.ok()) return answer.status();
  if (Status status = status_of(answer.value(), "open", file.path); !status.ok()) return status;
  const AnswerRecord& record = answer.value().record;
  if (Status same = expect_same(file, {record.volume, record.number}); !same.ok()) {
    ForwardCallMessage close = call_on(ForwardCall::close, {});
    close.record.file = record.file;
    (void)forwarders_.call(forwarder, close);
    return same;
  }
  adopt(file, forwarder, answer.value());
  return {};
}

// Checks that a file that is opened once more is the one that was open: its name may lead to another one by now. Each
// host numbers its volumes itself.
Status RemoteFiles::expect_same(const File& file, FileIdentity found) const {
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

void RemoteFiles::adopt(File& file, size_t forwarder, const ForwardAnswer& answer) const {
  file.forwarder = forwarder;
  file.link = forwarders_.link(forwarder);
  file.remote = answer.record.file;
  file.identity = {answer.record.volume, answer.record.number};
}

Status RemoteFiles::open_here(File& file) {
  Result<Opened> opened = local_->open(file.path, again(file.mode), file.device);
  if (!opened.ok()) return opened.status();
  if (Status same = expect_same(file, opened.value().identity); !same.ok()) {
    local_->close(opened.value().file);
    return same;
  }
  file.local = opened.value().file;
  file.here = true;
  return {};
}

void RemoteFiles::move(Held& lock) {
  const bool leaves = !forwarders_.is_lost(lock.forwarder) && forwarders_.link(lock.forwarder) == lock.link;
  if (leaves) let_go(lock, true);  // another one can take the lock at once
  lock.gone = true;
  if (!leaves && on_loss_ != OnLoss::fail) (void)reach_or_outlast(lock.forwarder);
  if (on_loss_ == OnLoss::direct) {
    auto taken = local_->lock(lock.path, lock.holder);
    if (taken.ok()) lock.local = std::move(taken).value();
    lock.gone = !taken.ok();
  } else if (on_loss_ == OnLoss::next) {
    auto asked = ask(lock.path, call_on(ForwardCall::lock, lock.path, lock.holder), "lock");
    const Nanoseconds until = forwarders_.now() + kOwnSession;
    while (!asked.ok() && is_held_by(lock.holder, asked.status()) && forwarders_.now() < until) {
      forwarders_.pause(kBetween);  // an earlier session of this process ends when its last transfer has ended
      asked = ask(lock.path, call_on(ForwardCall::lock, lock.path, lock.holder), "lock");
    }
    if (asked.ok()) {
      lock.forwarder = asked.value().forwarder;
      lock.link = forwarders_.link(lock.forwarder);
      lock.remote = asked.value().answer.record.file;
      lock.gone = false;
    }
  }
  if (lock.gone) log_.error("the lock '{}' is lost with its forwarder: nothing keeps other programs away", lock.path);
}

// ---- open files ------------------------------------------------------------------------------------------------

ForwardCallMessage RemoteFiles::opening(const std::string& path, OpenMode mode, uint32_t device) {
  ForwardCallMessage message = call_on(ForwardCall::open, path);
  message.record.mode = static_cast<uint32_t>(mode);
  message.record.offset = device;
  return message;
}

// A forwarder that is lost may still open the file, which another one must not have opened by then.
Result<Opened> RemoteFiles::open_again(size_t forwarder, const FileOperation& operation) {
  if (on_loss_ != OnLoss::fail) (void)reach_or_outlast(forwarder);
  if (Status below = check_root(*this, operation.root, operation.path); !below.ok()) return below;
  return open(operation.path, operation.mode, operation.device, true);
}

Status RemoteFiles::remove_again(const std::string& path, const std::string& root) {
  const Status below = check_root(*this, root, path);
  return below.ok() ? remove(path, true) : below;
}

Opened RemoteFiles::opened(size_t forwarder, uint64_t link, const ForwardAnswer& answer,
                           const FileOperation& operation) {
  File file{.path = operation.path, .mode = operation.mode, .device = operation.device};
  adopt(file, forwarder, answer);
  file.link = link;  // if that is lost by now, the file moves
  Opened opened = add(std::move(file), stripes_in(answer));
  opened.is_empty = answer.record.empty == 1;
  return opened;
}

Result<Opened> RemoteFiles::open(const std::string& path, OpenMode mode, uint32_t device, bool again) {
  File file{.path = absolute(path), .mode = mode, .device = device};
  ForwardCallMessage message = opening(file.path, mode, device);
  if (again) message.record.flags = CallRecord::kRepeated;
  auto asked = ask(file.path, message, "open");
  StripeMap stripes;
  if (asked.ok()) {
    adopt(file, asked.value().forwarder, asked.value().answer);
    stripes = stripes_in(asked.value().answer);
  } else if (asked.status().code() == TAILRACE_SERVER_LOST && on_loss_ == OnLoss::direct) {
    Result<Opened> opened = local_->open(file.path, mode, device);
    if (!opened.ok()) return opened;
    file.here = true;
    file.local = opened.value().file;
    file.identity = opened.value().identity;
    stripes = opened.value().stripes;
  } else {
    return asked.status();
  }
  return add(std::move(file), std::move(stripes));
}

Opened RemoteFiles::add(File file, StripeMap stripes) {
  const bool spreads = spread_ && !file.here && file.mode != OpenMode::directory && forwarders_.size() > 1;
  if (spreads) file.domains.emplace(stripes, forwarders_.size(), file.forwarder);
  const FileIdentity identity = file.identity;
  const FileHandle handle = files_.put(std::move(file));
  open_.push_back(handle);
  return Opened{handle, std::move(stripes), identity};
}

RemoteFiles::Domain RemoteFiles::domain_at(FileHandle handle, uint64_t offset, uint64_t length) {
  const File& file = files_.at(handle);
  if (!file.domains || file.here || !file.failure.ok()) return {handle, length};
  const uint64_t part = file.domains->length_at(offset, length);
  return {part_at(handle, file.domains->forwarder_of(offset)), part};
}

// Returns the opening of a file at a forwarder; or the file itself, if that has it already, or cannot open it now.
FileHandle RemoteFiles::part_at(FileHandle whole, size_t forwarder) {
  File& file = files_.at(whole);
  const auto found = file.parts.find(forwarder);
  if (found != file.parts.end()) return found->second;
  FileHandle part = whole;
  File opening{.path = file.path, .mode = file.mode, .device = file.device};
  opening.whole = whole;
  const bool there = forwarder != file.forwarder && forwarders_.is_usable(forwarder) &&
                     forwarders_.reach(forwarder).ok() && open_at(forwarder, opening).ok();
  if (there) {
    part = files_.put(std::move(opening));
    open_.push_back(part);
  } else if (!forwarders_.refusal().ok()) {
    fail(files_.at(whole), forwarders_.refusal());
  }
  files_.at(whole).parts[forwarder] = part;
  return part;
}

std::vector<FileHandle> RemoteFiles::all_of(FileHandle whole) const {
  std::vector<FileHandle> all{whole};
  for (const auto& [forwarder, part] : files_.at(whole).parts) {
    if (part != whole) all.push_back(part);
  }
  return all;
}

void RemoteFiles::close(FileHandle handle) {
  for (const FileHandle part : all_of(handle)) {
    if (part != handle) close(part);
  }
  File& file = files_.at(handle);
  if (file.here) {
    local_->close(file.local);
  } else if (file.failure.ok() && (is_linked(file) || still_answers(file))) {
    ForwardCallMessage message = call_on(ForwardCall::close, {});
    message.record.file = file.remote;
    (void)forwarders_.call(file.forwarder, message);  // a lost forwarder has closed it
  }
  forget(handle);
}

void RemoteFiles::forget(FileHandle handle) {
  std::erase(open_, handle);
  files_.erase(handle);
}

Result<uint64_t> RemoteFiles::size(FileHandle handle) const {
  File& file = self().files_.at(handle);
  if (!file.here) {
    auto answer = self().ask_of(file, call_on(ForwardCall::size, {}), "stat");
    if (answer.ok()) return answer.value().record.value;
    if (!file.here) return answer.status();
  }
  return local_->size(file.local);
}

Result<size_t> RemoteFiles::read(FileHandle file, uint64_t offset, std::span<std::byte> to) const {
  return read_(file, offset, to);
}

Status RemoteFiles::sync(FileHandle file) { return sync_(file); }

Status RemoteFiles::allocate(FileHandle handle, uint64_t offset, uint64_t length) {
  File& file = files_.at(handle);
  if (!file.here) {
    ForwardCallMessage message = call_on(ForwardCall::allocate, {});
    message.record.offset = offset;
    message.record.length = length;
    auto answer = ask_of(file, message, "allocate");
    if (answer.ok() || !file.here) return answer.status();
  }
  return local_->allocate(file.local, offset, length);
}

Status RemoteFiles::truncate(FileHandle handle, uint64_t size) {
  File& file = files_.at(handle);
  if (!file.here) {
    ForwardCallMessage message = call_on(ForwardCall::truncate, {});
    message.record.length = size;
    auto answer = ask_of(file, message, "truncate");
    if (answer.ok() || !file.here) return answer.status();
  }
  return local_->truncate(file.local, size);
}

// A forwarder that is lost may have renamed the file before, or does so while this node looks: the file is then found
// under its new name, at the latest when it moves.
Status RemoteFiles::rename(FileHandle handle, const std::string& to, bool replace, bool again) {
  File& file = files_.at(handle);
  const std::string path = absolute(to);
  const std::vector<FileHandle> all = all_of(handle);
  for (const FileHandle part : all) files_.at(part).renaming = path;
  Status status;
  for (Perseverance call(forwarders_); call.goes_on(); again = true) {
    if (!file.here && !is_linked(file)) move_from_lost();
    status = file.failure;
    if (!status.ok() || file.path == path) break;
    const bool answers = file.here || is_linked(file) || still_answers(file);
    if (!answers) continue;  // its new link was lost while others moved
    status = rename_once(file, path, replace);
    if (status.ok() || (again && has_name(file, path))) file.path = path;
    if (status.code() != TAILRACE_SERVER_LOST) break;
  }
  for (const FileHandle part : all) {
    files_.at(part).renaming.clear();
    if (file.path == path) files_.at(part).path = path;
  }
  if (file.path == path) return {};
  return status.ok() ? lost("rename", file) : status;
}

Status RemoteFiles::rename_once(File& file, const std::string& to, bool replace) {
  if (file.here) return local_->rename(file.local, to, replace);
  ForwardCallMessage message = call_on(ForwardCall::rename, to);
  message.record.flags = replace ? CallRecord::kReplace : 0;
  message.record.file = file.remote;
  const auto answer = forwarders_.call(file.forwarder, message);
  return answer.ok() ? status_of(answer.value(), "rename", file.path) : answer.status();
}

// Returns true if the name leads to the file.
bool RemoteFiles::has_name(const File& file, const std::string& path) const {
  const Result<NameFacts> found = stat(path);
  return found.ok() && found.value().identity == file.identity;
}

// ---- names -------------------------------------------------------------------------------------------------------

namespace {

// Returns true if this node itself must carry a call out, as no forwarder could be asked.
bool falls_back(const Status& status, FileSystem* local) {
  return status.code() == TAILRACE_SERVER_LOST && local != nullptr;
}

}  // namespace

Result<NameFacts> RemoteFiles::stat(const std::string& path) const {
  const std::string name = absolute(path);
  auto asked = self().ask(name, call_on(ForwardCall::stat, name), "stat");
  if (falls_back(asked.status(), local_)) return local_->stat(name);
  if (!asked.ok()) return asked.status();
  return facts_in(asked.value().answer);
}

Result<std::vector<std::string>> RemoteFiles::list(const std::string& directory) const {
  const std::string name = absolute(directory);
  auto asked = self().ask(name, call_on(ForwardCall::list, name), "list", true);
  if (falls_back(asked.status(), local_)) return local_->list(name);
  if (!asked.ok()) return asked.status();
  std::vector<std::string> names;
  std::string one;
  for (const std::byte letter : asked.value().bulk) {
    if (letter != std::byte{0}) {
      one += static_cast<char>(letter);
    } else {
      names.push_back(std::exchange(one, {}));
    }
  }
  return names;
}

Status RemoteFiles::make_directory(const std::string& path) {
  const std::string name = absolute(path);
  auto asked = ask(name, call_on(ForwardCall::make_directory, name), "create directory");
  return falls_back(asked.status(), local_) ? local_->make_directory(name) : asked.status();
}

// `again`: a forwarder may have removed it already.
Status RemoteFiles::remove(const std::string& path, bool again) {
  const std::string name = absolute(path);
  ForwardCallMessage message = call_on(ForwardCall::remove, name);
  if (again) message.record.flags = CallRecord::kRepeated;
  auto asked = ask(name, std::move(message), "remove");
  return falls_back(asked.status(), local_) ? local_->remove(name) : asked.status();
}

Status RemoteFiles::check_below(const std::string& root, const std::string& relative) const {
  const std::string name = absolute(root);
  auto asked = self().ask(name, call_on(ForwardCall::check_below, name, relative), "check");
  return falls_back(asked.status(), local_) ? local_->check_below(name, relative) : asked.status();
}

bool RemoteFiles::is_locked(const std::string& path) const {
  const std::string name = absolute(path);
  auto asked = self().ask(name, call_on(ForwardCall::is_locked, name), "look at the lock");
  if (falls_back(asked.status(), local_)) return local_->is_locked(name);
  return asked.ok() && asked.value().answer.record.value != 0;
}

// ---- locks -------------------------------------------------------------------------------------------------------

// A lock that a forwarder, or this node, holds. It must end before the storage.
class RemoteFiles::Lock final : public NameLock {
 public:
  Lock(RemoteFiles& files, std::list<Held>::iterator lock) : files_(files), lock_(lock) {}
  ~Lock() override { files_.release(lock_); }
  bool held() const override { return lock_->local ? lock_->local->held() : lock_->held && !lock_->gone; }
  void leave_file() override { lock_->leave = true; }

 private:
  RemoteFiles& files_;
  const std::list<Held>::iterator lock_;
};

Result<std::unique_ptr<NameLock>> RemoteFiles::lock(const std::string& path, const std::string& holder) {
  Held lock;
  lock.path = absolute(path);
  lock.holder = holder;
  auto asked = ask(lock.path, call_on(ForwardCall::lock, lock.path, holder), "lock");
  if (falls_back(asked.status(), local_)) {
    auto taken = local_->lock(lock.path, holder);
    if (!taken.ok()) return taken.status();
    lock.local = std::move(taken).value();
  } else if (!asked.ok()) {
    return asked.status();
  } else {
    lock.forwarder = asked.value().forwarder;
    lock.link = forwarders_.link(lock.forwarder);
    lock.remote = asked.value().answer.record.file;
    lock.held = asked.value().answer.record.value != 0;
  }
  locks_.push_back(std::move(lock));
  return std::unique_ptr<NameLock>(new Lock(*this, std::prev(locks_.end())));
}

void RemoteFiles::release(std::list<Held>::iterator lock) {
  if (lock->local) {
    if (lock->leave) lock->local->leave_file();
  } else if (!lock->gone && is_linked(lock->forwarder, lock->link)) {
    let_go(*lock, lock->leave);
  }
  locks_.erase(lock);
}

// Has a forwarder release a lock.
void RemoteFiles::let_go(const Held& lock, bool leave_file) {
  ForwardCallMessage message = call_on(ForwardCall::unlock, {});
  message.record.file = lock.remote;
  message.record.flags = leave_file ? CallRecord::kLeaveFile : 0;
  (void)forwarders_.call(lock.forwarder, message);
}

}  // namespace tailrace::impl
