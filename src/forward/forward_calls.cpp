#include "forward/forward_calls.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

bool needs_file(ForwardCall call) {
  switch (call) {
    case ForwardCall::close:
    case ForwardCall::size:
    case ForwardCall::allocate:
    case ForwardCall::truncate:
    case ForwardCall::settle:
    case ForwardCall::rename: return true;
    default: return false;
  }
}

void put_facts(AnswerRecord& record, const NameFacts& facts) {
  record.kind = facts.kind == NameFacts::Kind::file ? 0 : facts.kind == NameFacts::Kind::directory ? 1 : 2;
  record.own = facts.own ? 1 : 0;
  record.volume = facts.identity.volume;
  record.number = facts.identity.number;
}

bool names_a_path(ForwardCall call) {
  return call == ForwardCall::open || call == ForwardCall::stat || call == ForwardCall::remove;
}

}  // namespace

ForwardAnswer ForwardCalls::answer_of(const Status& status) {
  ForwardAnswer answer;
  if (status.ok()) return answer;
  answer.record.code = status.code();
  answer.record.system_errno = status.fault().system_errno;
  answer.text = status.fault().message;
  return answer;
}

bool ForwardCalls::is_allowed(const ForwardClient& client, const ForwardCallMessage& call) {
  const CallRecord& record = call.record;
  if (client.role == ForwardTerms::Role::inspector) return record.call == ForwardCall::status;
  if (needs_file(record.call)) {
    const uint64_t room = uint64_t{1} << 62;
    return client.has_open(record.file) && record.offset <= room && record.length <= room - record.offset;
  }
  if (record.call == ForwardCall::unlock) return client.locks.contains(record.file);
  if (names_a_path(record.call) && !call.text.starts_with(call.second)) return false;
  if (record.call == ForwardCall::open) return record.mode <= static_cast<uint32_t>(OpenMode::view);
  return true;
}

// ---- calls -------------------------------------------------------------------------------------------------------

// A request of the engine that a call has made.
struct ForwardCalls::InTurn final : public CompletionSink {
  ForwardCalls* of = nullptr;
  ForwardClient* client = nullptr;
  Then then;

  void ended(const Request& request, const Status& status) override {
    const std::unique_ptr<InTurn> self(this);
    const FileId file = request.file;
    if (request.operation == Operation::rename && status.ok()) of->files_.renamed(file, request.path);
    of->request_ended(*client, file);
    then(answer_of(status), {});
  }
};

void ForwardCalls::begin(ForwardClient& client, const ForwardCallMessage& call, Then then) {
  switch (call.record.call) {
    case ForwardCall::size:
    case ForwardCall::allocate: return begin_on_file(client, call.record, std::move(then));
    case ForwardCall::truncate:
    case ForwardCall::settle:
    case ForwardCall::rename: return begin_in_turn(client, call, std::move(then));
    case ForwardCall::close: close(client, call.record.file); return then({}, {});
    case ForwardCall::unlock: {
      auto held = client.locks.extract(call.record.file);
      if ((call.record.flags & CallRecord::kLeaveFile) != 0) held.mapped()->leave_file();
      return let_go(std::move(held.mapped()), std::move(then));
    }
    default: return begin_on_names(client, call, std::move(then));
  }
}

void ForwardCalls::begin_on_file(ForwardClient& client, const CallRecord& call, Then then) {
  ++client.files.at(call.file).pending;
  const auto kind = call.call == ForwardCall::size ? FileOperation::Kind::size : FileOperation::Kind::allocate;
  engine_.carry_out(call.file, {.kind = kind, .offset = call.offset, .size = call.length},
                    static_cast<uint32_t>(client.peer),
                    [this, &client, file = call.file, then = std::move(then)](const FileOperationEnd& end) {
                      request_ended(client, file);
                      ForwardAnswer answer = answer_of(end.status);
                      answer.record.value = end.size;
                      then(answer, {});
                    });
}

// These take their turn among the transfers of the file. A file of which a part has failed gets no name, whether its
// client knows of the failure or not.
void ForwardCalls::begin_in_turn(ForwardClient& client, const ForwardCallMessage& call, Then then) {
  auto in_turn = std::make_unique<InTurn>();
  in_turn->of = this;
  in_turn->client = &client;
  in_turn->then = std::move(then);
  Request request;
  request.operation = call.record.call == ForwardCall::truncate ? Operation::truncate
                      : call.record.call == ForwardCall::rename ? Operation::rename
                                                                : Operation::sync;
  request.file = call.record.file;
  request.client = static_cast<uint32_t>(client.peer);
  request.size = call.record.length;
  request.path = call.text;
  request.replace = (call.record.flags & CallRecord::kReplace) != 0;
  request.sink = in_turn.release();  // which ends itself
  ++client.files.at(call.record.file).pending;
  engine_.submit(std::move(request));
  const bool closes = call.record.call == ForwardCall::rename && (call.record.flags & CallRecord::kClose) != 0;
  if (closes) close(client, call.record.file);
}

void ForwardCalls::begin_on_names(ForwardClient& client, const ForwardCallMessage& call, Then then) {
  const bool opens = call.record.call == ForwardCall::open;
  if (opens && client.files.size() >= kMostFiles) {
    return then(answer_of(Status::of_errno("open", call.text, EMFILE)), {});
  }
  if (call.record.call == ForwardCall::lock && client.locks.size() >= kMostLocks) {
    return then(answer_of(Status::of_errno("lock", call.text, ENOLCK)), {});
  }
  const auto outcome = std::make_shared<Outcome>();
  engine_.carry_out({.kind = FileOperation::Kind::call,
                     .call = [outcome, call](FileSystem& names) { *outcome = carry_out(names, call); }},
                    static_cast<uint32_t>(client.peer),
                    [this, &client, call, outcome, then = std::move(then)](const FileOperationEnd& end) {
                      if (!end.status.ok()) return then(answer_of(end.status), {});
                      take(client, call, *outcome);
                      then(outcome->answer, std::move(outcome->bulk));
                    });
}

// Gives the client what was opened or locked for it.
void ForwardCalls::take(ForwardClient& client, const ForwardCallMessage& call, Outcome& outcome) {
  AnswerRecord& record = outcome.answer.record;
  if (record.code != TAILRACE_OK) return;
  if (outcome.lock) {
    record.file = client.next_lock++;
    record.value = outcome.lock->held() ? 1 : 0;
    client.locks.emplace(record.file, std::move(outcome.lock));
  }
  if (call.record.call != ForwardCall::open) return;
  record.empty = outcome.opened.is_empty ? 1 : 0;
  const FileId file = files_.take(call.text, static_cast<OpenMode>(call.record.mode), std::move(outcome.opened));
  ++client.files[file].times;
  record.file = file;
  record.volume = files_.identity(file).volume;
  record.number = files_.identity(file).number;
  record.value = files_.stripes(file).unit;
  const std::vector<uint32_t>& servers = files_.stripes(file).servers;
  if (servers.size() <= kMostServers) outcome.answer.servers = servers;
}

// A lock's file is removed when it ends.
void ForwardCalls::let_go(std::unique_ptr<NameLock> lock, Then then) {
  const auto held = std::make_shared<std::unique_ptr<NameLock>>(std::move(lock));
  engine_.carry_out({.kind = FileOperation::Kind::call, .call = [held](FileSystem&) { held->reset(); }}, 0,
                    [then = std::move(then)](const FileOperationEnd&) { then({}, {}); });
}

void ForwardCalls::close(ForwardClient& client, uint32_t file) {
  ForwardClient::Use& use = client.files.at(file);
  --use.times;
  if (use.pending > 0) {
    ++use.closing;
    return;
  }
  files_.close(file);
  if (use.times == 0) client.files.erase(file);
}

void ForwardCalls::request_ended(ForwardClient& client, uint32_t file) {
  ForwardClient::Use& use = client.files.at(file);
  TAILRACE_ASSERT(use.pending > 0);
  if (--use.pending > 0) return;
  for (; use.closing > 0; --use.closing) files_.close(file);
  if (use.times == 0) client.files.erase(file);
}

bool ForwardCalls::release(ForwardClient& client) {
  constexpr uint32_t kLeast = 1024;  // requests that others keep
  while (!client.files.empty()) {
    if (engine_.room() <= kLeast) return false;
    const auto [file, use] = *client.files.begin();
    TAILRACE_ASSERT(use.pending == 0);
    for (uint32_t i = 0; i < use.times; ++i) files_.close(file);
    client.files.erase(file);
  }
  for (auto& [number, lock] : std::exchange(client.locks, {})) let_go(std::move(lock), [](const auto&, auto) {});
  return true;
}

// ---- names, on any thread ----------------------------------------------------------------------------------------

ForwardCalls::Outcome ForwardCalls::carry_out(FileSystem& names, const ForwardCallMessage& call) {
  switch (call.record.call) {
    case ForwardCall::open: return open(names, call);
    case ForwardCall::stat: return stat(names, call);
    case ForwardCall::list: return list(names, call.text);
    case ForwardCall::lock: return lock(names, call);
    case ForwardCall::make_directory: return {.answer = answer_of(names.make_directory(call.text))};
    case ForwardCall::remove: return {.answer = answer_of(remove(names, call))};
    case ForwardCall::check_below: return {.answer = answer_of(names.check_below(call.text, call.second))};
    case ForwardCall::is_locked: {
      Outcome outcome;
      outcome.answer.record.value = names.is_locked(call.text) ? 1 : 0;
      return outcome;
    }
    default: break;
  }
  TAILRACE_ASSERT(false);
}

ForwardCalls::Outcome ForwardCalls::open(FileSystem& names, const ForwardCallMessage& call) {
  if (Status below = check_root(names, call.second, call.text); !below.ok()) return {.answer = answer_of(below)};
  const bool repeated = (call.record.flags & CallRecord::kRepeated) != 0;
  Result<Opened> opened = ForwardFiles::open(names, call.text, static_cast<OpenMode>(call.record.mode),
                                             static_cast<uint32_t>(call.record.offset), repeated);
  Outcome outcome{.answer = answer_of(opened.status())};
  if (opened.ok()) outcome.opened = std::move(opened).value();
  return outcome;
}

ForwardCalls::Outcome ForwardCalls::stat(const FileSystem& names, const ForwardCallMessage& call) {
  if (Status below = check_root(names, call.second, call.text); !below.ok()) return {.answer = answer_of(below)};
  const Result<NameFacts> facts = names.stat(call.text);
  Outcome outcome{.answer = answer_of(facts.status())};
  if (!facts.ok()) return outcome;
  put_facts(outcome.answer.record, facts.value());
  outcome.answer.record.value = facts.value().size;
  return outcome;
}

ForwardCalls::Outcome ForwardCalls::list(const FileSystem& names, const std::string& path) {
  const Result<std::vector<std::string>> found = names.list(path);
  Outcome outcome{.answer = answer_of(found.status())};
  if (!found.ok()) return outcome;
  for (const std::string& name : found.value()) {
    const auto* bytes = reinterpret_cast<const std::byte*>(name.c_str());
    outcome.bulk.insert(outcome.bulk.end(), bytes, bytes + name.size() + 1);
  }
  if (outcome.bulk.size() <= kMostListed) return outcome;
  return {.answer =
              answer_of(Status(TAILRACE_UNSUPPORTED, fmt::format("list '{}': its {} names have more than {} bytes",
                                                                 path, found.value().size(), kMostListed)))};
}

ForwardCalls::Outcome ForwardCalls::lock(FileSystem& names, const ForwardCallMessage& call) {
  auto taken = names.lock(call.text, call.second);
  Outcome outcome{.answer = answer_of(taken.status())};
  if (taken.ok()) outcome.lock = std::move(taken).value();
  return outcome;
}

// A removal that an earlier forwarder may have carried out succeeds if there is nothing left to remove.
Status ForwardCalls::remove(FileSystem& names, const ForwardCallMessage& call) {
  if (Status below = check_root(names, call.second, call.text); !below.ok()) return below;
  const Status status = call.second.empty() ? names.remove(call.text)
                                            : names.remove_below(call.second, path_below(call.second, call.text));
  const bool repeated = (call.record.flags & CallRecord::kRepeated) != 0;
  return !status.ok() && repeated && status.fault().system_errno == ENOENT ? Status() : status;
}

}  // namespace tailrace::impl
