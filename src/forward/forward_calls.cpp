#include "forward/forward_calls.hpp"

#include <fmt/format.h>

#include <cerrno>
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

ForwardAnswer answer_of(const Result<uint64_t>& value) {
  ForwardAnswer answer = ForwardCalls::answer_of(value.status());
  if (value.ok()) answer.record.value = value.value();
  return answer;
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
    const uint64_t room = (uint64_t{1} << 62) - 1;
    return client.has_open(record.file) && record.offset <= room && record.length <= room - record.offset;
  }
  if (record.call == ForwardCall::unlock) return client.locks.contains(record.file);
  if (record.call == ForwardCall::open) return record.mode <= static_cast<uint32_t>(OpenMode::view);
  return true;
}

ForwardAnswer ForwardCalls::carry_out(ForwardClient& client, const ForwardCallMessage& call,
                                      std::vector<std::byte>& bulk) {
  const CallRecord& record = call.record;
  FileSystem& names = engine_.files();
  switch (record.call) {
    case ForwardCall::open: return open(client, call);
    case ForwardCall::close: close(client, record.file); return {};
    case ForwardCall::size: return impl::answer_of(engine_.size(record.file));
    case ForwardCall::allocate: return answer_of(engine_.allocate(record.file, {record.offset, record.length}));
    case ForwardCall::rename: return rename(record.file, call.text, (record.flags & CallRecord::kReplace) != 0);
    case ForwardCall::stat: return stat(call.text);
    case ForwardCall::list: return list(call.text, bulk);
    case ForwardCall::make_directory: return answer_of(names.make_directory(call.text));
    case ForwardCall::remove: return remove(call);
    case ForwardCall::check_below: return answer_of(names.check_below(call.text, call.second));
    case ForwardCall::lock: return lock(client, call);
    case ForwardCall::unlock:
      if ((record.flags & CallRecord::kLeaveFile) != 0) client.locks[record.file]->leave_file();
      client.locks.erase(record.file);
      return {};
    case ForwardCall::is_locked: return impl::answer_of(Result<uint64_t>(names.is_locked(call.text) ? 1 : 0));
    case ForwardCall::truncate:
    case ForwardCall::settle:
    case ForwardCall::status:
    case ForwardCall::join: break;
  }
  TAILRACE_ASSERT(false);
}

bool ForwardCalls::put_off(ForwardClient& client, uint64_t number, const ForwardCallMessage& call) {
  ForwardClient::Use& use = client.files.at(call.record.file);
  if (use.pending == 0) return false;
  use.renames.push_back({number, call.text, (call.record.flags & CallRecord::kReplace) != 0});
  ++client.renames;
  return true;
}

// A file of which a part has failed gets no name, whether its client knows of the failure or not.
ForwardAnswer ForwardCalls::rename(uint32_t file, const std::string& to, bool replace) {
  const Status& failure = engine_.failure(file);
  return answer_of(failure.ok() ? files_.rename(file, to, replace) : failure);
}

ForwardAnswer ForwardCalls::open(ForwardClient& client, const ForwardCallMessage& call) {
  if (client.files.size() >= kMostFiles) return answer_of(Status::of_errno("open", call.text, EMFILE));
  const bool repeated = (call.record.flags & CallRecord::kRepeated) != 0;
  auto opened = files_.open(call.text, static_cast<OpenMode>(call.record.mode),
                            static_cast<uint32_t>(call.record.offset), repeated);
  if (!opened.ok()) return answer_of(opened.status());
  ++client.files[opened.value().file].times;
  ForwardAnswer answer;
  put_facts(answer.record, opened.value().facts);
  answer.record.file = opened.value().file;
  answer.record.value = opened.value().stripes.unit;
  const std::vector<uint32_t>& servers = opened.value().stripes.servers;
  if (servers.size() <= kMostServers) answer.servers = servers;
  return answer;
}

ForwardAnswer ForwardCalls::stat(const std::string& path) const {
  const Result<NameFacts> facts = engine_.files().stat(path);
  ForwardAnswer answer = answer_of(facts.status());
  if (!facts.ok()) return answer;
  put_facts(answer.record, facts.value());
  answer.record.value = facts.value().size;
  return answer;
}

ForwardAnswer ForwardCalls::list(const std::string& path, std::vector<std::byte>& bulk) const {
  const Result<std::vector<std::string>> names = engine_.files().list(path);
  if (!names.ok()) return answer_of(names.status());
  for (const std::string& name : names.value()) {
    const auto* bytes = reinterpret_cast<const std::byte*>(name.c_str());
    bulk.insert(bulk.end(), bytes, bytes + name.size() + 1);
  }
  if (bulk.size() <= kMostListed) return {};
  bulk.clear();
  return answer_of(Status(TAILRACE_UNSUPPORTED, fmt::format("list '{}': its {} names have more than {} bytes", path,
                                                            names.value().size(), kMostListed)));
}

ForwardAnswer ForwardCalls::lock(ForwardClient& client, const ForwardCallMessage& call) {
  if (client.locks.size() >= kMostLocks) return answer_of(Status::of_errno("lock", call.text, ENOLCK));
  auto taken = engine_.files().lock(call.text, call.second);
  if (!taken.ok()) return answer_of(taken.status());
  ForwardAnswer answer;
  answer.record.file = client.next_lock++;
  answer.record.value = taken.value()->held() ? 1 : 0;
  client.locks.emplace(answer.record.file, std::move(taken).value());
  return answer;
}

// A removal that an earlier forwarder may have carried out succeeds if there is nothing left to remove.
ForwardAnswer ForwardCalls::remove(const ForwardCallMessage& call) {
  const Status status = engine_.files().remove(call.text);
  const bool repeated = (call.record.flags & CallRecord::kRepeated) != 0;
  if (!status.ok() && repeated && status.fault().system_errno == ENOENT) return {};
  return answer_of(status);
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

void ForwardCalls::transfer_ended(ForwardClient& client, uint32_t file, Answer answer) {
  ForwardClient::Use& use = client.files.at(file);
  TAILRACE_ASSERT(use.pending > 0);
  if (--use.pending > 0) return;
  for (const WaitingRename& one : std::exchange(use.renames, {})) {
    --client.renames;
    if (!client.gone) answer(one.number, rename(file, one.to, one.replace));  // else it calls again, if it lives
  }
  for (; use.closing > 0; --use.closing) files_.close(file);
  if (use.times == 0) client.files.erase(file);
}

void ForwardCalls::release(ForwardClient& client) {
  for (const auto& [file, use] : client.files) {
    TAILRACE_ASSERT(use.pending == 0);
    for (uint32_t i = 0; i < use.times; ++i) files_.close(file);
  }
  client.files.clear();
  client.locks.clear();
}

}  // namespace tailrace::impl
