#include "forward/forwarder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/names/counted.hpp"

namespace tailrace::impl {
namespace {

constexpr uint32_t kSpare = 8192;  // requests of the engine that are kept for ordered calls and closes

constexpr Nanoseconds kSlowAnswer = std::chrono::seconds(1);  // a client that fetches an answer later is slow

bool may_transfer(const ForwardClient& client, const std::vector<TransferRecord>& records) {
  return client.role == ForwardTerms::Role::client &&
         std::all_of(records.begin(), records.end(),
                     [&](const TransferRecord& record) { return client.has_open(record.file); });
}

int64_t error_of(const Status& failure) {
  const int error = failure.fault().system_errno;
  return error != 0 ? -error : -EIO;
}

uint64_t memory_for(const WaitingTransfers& message) { return message.bulk + bytes_of_reads(message.records); }

}  // namespace

Forwarder::Forwarder(Links& links, Engine& engine, std::span<std::byte> memory, const Clock& clock, Log& log,
                     Options options, Describe describe)
    : links_(links),
      engine_(engine),
      clock_(clock),
      log_(log),
      options_(options),
      describe_(std::move(describe)),
      memory_(memory, options.most_parts),
      files_(engine),
      calls_(engine, files_) {
  TAILRACE_REQUIRE(memory.size() >= 2 * kMostForwarded);
  engine_.fence_by([this](uint32_t client) { return may_begin(client); });
}

ForwardTerms Forwarder::terms(const Options& options) {
  const auto lease = std::chrono::duration_cast<std::chrono::microseconds>(options.lease);
  return {
      .role = ForwardTerms::Role::forwarder, .window = options.window, .lease = static_cast<uint32_t>(lease.count())};
}

// Requires that nothing is under way. The engine closes what clients have left open, and their locks end here.
Forwarder::~Forwarder() { engine_.fence_by({}); }

bool Forwarder::step() {
  events_.clear();
  links_.poll(events_);
  for (LinkEvent& event : events_) take(event);
  do {
    engine_.progress();
  } while (begin_waiting_calls() || admit_waiting());
  cut_off_fenced();
  forget_gone();
  return !events_.empty();
}

std::optional<Nanoseconds> Forwarder::due() const {
  std::optional<Nanoseconds> least = links_.due();
  const auto earlier = [&least](std::optional<Nanoseconds> other) {
    if (other) least = least ? std::min(*least, *other) : *other;
  };
  earlier(engine_.due());
  for (const auto& [tag, work] : works_) {
    if (work->answering) earlier(*work->answering + options_.patience);
  }
  for (const auto& [tag, text] : texts_) earlier(text.since + options_.patience);
  if (leaving_ && is_idle()) earlier(left_at_ + options_.drain);
  return least;
}

void Forwarder::leave() {
  if (leaving_) return;
  leaving_ = true;
  left_at_ = clock_.now();
  for (const auto& [name, client] : clients_) {
    if (!client.gone) links_.send(client.peer, encode_plain(ForwardKind::leaving), {}, next_tag_++);
  }
}

bool Forwarder::has_left() const {
  if (!leaving_ || !is_idle()) return false;
  // Clients without another forwarder come again and again, to see if there is one: they do not keep this one here.
  const bool any = std::any_of(clients_.begin(), clients_.end(), [](const auto& one) {
    return !one.second.gone && !(one.second.is_late && one.second.has_nothing());
  });
  return !any || clock_.now() >= left_at_ + options_.drain;
}

std::map<uint64_t, uint64_t> Forwarder::held_by_client() const {
  std::map<uint64_t, uint64_t> held;
  for (const auto& [name, client] : clients_) held[name] = client.held;
  return held;
}

// ---- what comes ------------------------------------------------------------------------------------------------

void Forwarder::take(LinkEvent& event) {
  switch (event.kind) {
    case LinkEvent::Kind::ready: return welcome(event);
    case LinkEvent::Kind::message:
      if (ForwardClient* client = client_of(event.peer)) return hear(*client, event);
      return links_.refuse(event.peer, event.arrival);
    case LinkEvent::Kind::sent: return sent(event);
    case LinkEvent::Kind::received: return received(event);
    case LinkEvent::Kind::lost:
      if (ForwardClient* client = client_of(event.peer)) {
        if (!client->leaves) log_.warning("client {} is lost: {}", client->name, event.status.fault().message);
        lose(*client, !client->confirmed_early || event.status.code() == TAILRACE_TIMEOUT);
      }
      return;
  }
}

ForwardClient* Forwarder::client_of(PeerId peer) { return present(peer); }

// Returns the client, if its link is there and nothing is wrong with it.
ForwardClient* Forwarder::present(uint64_t name) {
  const auto found = clients_.find(name);
  const bool there = found != clients_.end() && !found->second.gone && !found->second.fenced;
  return there ? &found->second : nullptr;
}

// Returns true if transfers of the client may begin. Once they may not, they never may again. 0 is no client's.
bool Forwarder::may_begin(uint32_t name) {
  const auto found = clients_.find(name);
  if (found == clients_.end()) return true;
  ForwardClient& client = found->second;
  if (!client.gone && !client.fenced && !links_.has_lease(client.peer)) client.fenced = true;
  return !client.fenced;
}

// Ends the links of clients whose lease was over when something of theirs should have begun.
void Forwarder::cut_off_fenced() {
  for (auto& [name, client] : clients_) {
    if (client.fenced && !client.gone) distrust(client, "it has answered nothing for too long");
  }
}

void Forwarder::welcome(LinkEvent& event) {
  const ForwardTerms terms = decode_terms(event.terms);
  const bool known = terms.role == ForwardTerms::Role::client || terms.role == ForwardTerms::Role::inspector;
  if (!known) return links_.distrust(event.peer, "it is not a client");
  if (!make_place()) {
    return links_.distrust(event.peer,
                           fmt::format("there are {} clients, which all have something open", options_.most_clients));
  }
  ForwardClient& client = clients_[event.peer];
  client.peer = event.peer;
  client.role = terms.role;
  client.process = terms.process;
  end_earlier_links(client);
  client.name = std::string(terms.name, ::strnlen(terms.name, sizeof terms.name));
  client.address = event.address;
  if (client.role == ForwardTerms::Role::client) log_.info("client {} comes from {}", client.name, client.address);
  client.is_late = leaving_;
  if (leaving_) links_.send(client.peer, encode_plain(ForwardKind::leaving), {}, next_tag_++);
}

// Returns true if there is a place for one more client. If all are taken, the first one that has nothing open gives
// way; it comes again when it needs something. So nobody who only connects keeps others out.
bool Forwarder::make_place() {
  const auto is_here = [](const auto& one) { return !one.second.gone; };
  if (std::count_if(clients_.begin(), clients_.end(), is_here) < options_.most_clients) return true;
  const auto idle = std::find_if(clients_.begin(), clients_.end(), [&](const auto& one) {
    return is_here(one) && one.second.has_nothing() && unanswered_calls(one.second) == 0;
  });
  if (idle == clients_.end()) return false;
  distrust(idle->second, "others need its place, and it has nothing open");
  return true;
}

// A process that comes again will send nothing more by its earlier links; what is still on its way there is too old.
void Forwarder::end_earlier_links(ForwardClient& client) {
  if (client.process == 0) return;
  for (auto& [name, other] : clients_) {
    if (other.process != client.process || &other == &client) continue;
    if (other.calls > 0) client.earlier.push_back(name);
    if (other.gone) continue;
    links_.close(other.peer);
    lose(other, !other.confirmed_early);
  }
}

void Forwarder::hear(ForwardClient& client, LinkEvent& event) {
  const std::optional<ForwardHead> head = decode_head(event.body);
  if (!head) return distrust(client, "found a message that cannot be read");
  if (head->kind != ForwardKind::leave && !may_begin(static_cast<uint32_t>(client.peer))) return;
  switch (head->kind) {
    case ForwardKind::transfers: return hear_transfers(client, *head, event);
    case ForwardKind::call: return hear_call(client, *head, event);
    case ForwardKind::leave:
      client.leaves = true;
      log_.info("client {} leaves", client.name);
      links_.close(client.peer);
      return lose(client, false);
    case ForwardKind::ends:
    case ForwardKind::answer:
    case ForwardKind::leaving:
    case ForwardKind::lost: return distrust(client, "found a message of a forwarder");
  }
}

void Forwarder::hear_transfers(ForwardClient& client, const ForwardHead& head, LinkEvent& event) {
  std::optional<std::vector<TransferRecord>> records = decode_transfers(event.body, event.bulk);
  if (!records) return distrust(client, "found an invalid list of transfers");
  if (!may_transfer(client, *records)) return distrust(client, "found a transfer for a file that it has not opened");
  if (client.waiting.size() >= options_.window) {
    return distrust(client, fmt::format("found more than {} messages that wait", options_.window));
  }
  client.waiting.push_back({head.number, std::move(*records), event.arrival, event.bulk});
}

void Forwarder::hear_call(ForwardClient& client, const ForwardHead& head, LinkEvent& event) {
  const std::optional<ForwardCallMessage> call = decode_forward_call(event.body);
  if (!call || event.bulk > 0) return distrust(client, "found a call that cannot be read");
  if (!ForwardCalls::is_allowed(client, *call)) return distrust(client, "found a call that it may not make");
  if (unanswered_calls(client) >= options_.window) {
    return distrust(client, fmt::format("found more than {} calls whose answers it does not fetch, or wait for",
                                        options_.window));
  }
  if (call->record.call == ForwardCall::status) {
    const std::string text = describe_({clients_, memory_, queued_, files_.count(), engine_.counts()});
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    return send_answer(client, head.number, {}, {bytes, bytes + text.size()});
  }
  if (call->record.call == ForwardCall::join) {
    return send_answer(client, head.number, ForwardCalls::answer_of(join(client, *call)), {});
  }
  client.waiting_calls.push_back({head.number, *call});
  calls_wait_ = true;
}

// Begins the calls that have come, as far as the engine has room. What a process has called by an earlier link, and
// may call again, ends first. Returns true if any began.
bool Forwarder::begin_waiting_calls() {
  bool any = false;
  if (!std::exchange(calls_wait_, false)) return any;
  for (auto& [name, client] : clients_) {
    while (!client.waiting_calls.empty()) {
      // A call before it may have closed its file.
      if (!ForwardCalls::is_allowed(client, client.waiting_calls.front().call)) {
        distrust(client, "found a call that it may not make");
        break;
      }
      if (has_earlier_calls(client) || engine_.room() < kSpare / 2 + spoken_for()) {
        calls_wait_ = true;
        break;
      }
      const WaitingCall next = std::move(client.waiting_calls.front());
      client.waiting_calls.pop_front();
      ++client.calls;
      ++calls_under_way_;
      calls_.begin(client, next.call,
                   [this, &client = client, number = next.number](const ForwardAnswer& answer, auto bulk) {
                     --client.calls;
                     --calls_under_way_;
                     if (present(client.peer) != nullptr) send_answer(client, number, answer, std::move(bulk));
                   });
      any = true;
    }
  }
  return any;
}

bool Forwarder::has_earlier_calls(ForwardClient& client) const {
  std::erase_if(client.earlier, [this](uint64_t name) {
    const auto found = clients_.find(name);
    return found == clients_.end() || found->second.calls == 0;
  });
  return !client.earlier.empty();
}

// Takes a client's list of forwarders, which must be that of the others of its output.
Status Forwarder::join(ForwardClient& client, const ForwardCallMessage& call) {
  for (const auto& [name, other] : clients_) {
    if (other.gone || other.output != call.second || other.forwarders == call.text || &other == &client) continue;
    const Status refused(
        TAILRACE_INVALID_CONFIG,
        fmt::format("forward.servers: found {}; expected {}, which client {} has, who writes to '{}', too", call.text,
                    other.forwarders, other.name, call.second));
    log_.warning("client {} is refused: {}", client.name, refused.fault().message);
    return refused;
  }
  client.forwarders = call.text;
  client.output = call.second;
  return {};
}

// Returns how many calls of a client are under way, or wait for the client to fetch their answers.
size_t Forwarder::unanswered_calls(const ForwardClient& client) const {
  return client.calls + client.waiting_calls.size() +
         static_cast<size_t>(std::count_if(texts_.begin(), texts_.end(),
                                           [&client](const auto& one) { return one.second.client == client.peer; }));
}

void Forwarder::send_answer(ForwardClient& client, uint64_t number, const ForwardAnswer& answer,
                            std::vector<std::byte> bulk) {
  const uint64_t tag = next_tag_++;
  if (bulk.empty()) return links_.send(client.peer, encode_answer(number, answer), {}, tag);
  Text& text = texts_[tag];
  text.client = client.peer;
  text.since = clock_.now();
  text.bytes = std::move(bulk);
  const iovec segment{text.bytes.data(), text.bytes.size()};
  links_.send(client.peer, encode_answer(number, answer), {&segment, 1}, tag);
}

// ---- memory ----------------------------------------------------------------------------------------------------

// Gives memory to waiting messages, one client after another, starting after the last one served. Returns true if any
// got some.
bool Forwarder::admit_waiting() {
  bool any = false;
  for (bool again = true; again;) {
    again = false;
    std::vector<uint64_t> turn;
    for (auto it = clients_.upper_bound(last_served_); it != clients_.end(); ++it) turn.push_back(it->first);
    for (auto it = clients_.begin(); it != clients_.upper_bound(last_served_); ++it) turn.push_back(it->first);
    for (const uint64_t name : turn) {
      ForwardClient& client = clients_.at(name);
      if (client.gone || client.waiting.empty() || !admit(client)) continue;
      last_served_ = name;
      again = any = true;
    }
  }
  return any;
}

// Gives memory to the first waiting message of a client. Returns false if there is none for it now.
bool Forwarder::admit(ForwardClient& client) {
  WaitingTransfers& message = client.waiting.front();
  if (engine_.room() < 2 * message.records.size() + kSpare + spoken_for()) return false;
  const uint64_t bytes = memory_for(message);
  std::optional<ForwardMemory::Part> part;
  if (bytes > 0) {
    size_t others = 0;
    for (const auto& [name, other] : clients_) others += !other.waiting.empty() || other.held > 0 ? 1 : 0;
    if (!memory_.may_take(client.held, bytes, others > 0 ? others - 1 : 0)) return false;
    if (must_wait_behind(client)) return false;
    part = memory_.take(bytes);
    if (!part && starving_ == 0) {
      starving_ = client.peer;
      overtaking_ = 0;
    }
    if (!part) return false;
    ++overtaking_;
    if (starving_ == client.peer) starving_ = 0;
  }
  const uint64_t tag = next_tag_++;
  Work& work = *(works_[tag] = std::make_unique<Work>());
  work.of = this;
  work.tag = tag;
  work.client = client.peer;
  work.number = message.number;
  work.records = std::move(message.records);
  work.results.resize(work.records.size());
  work.has_memory = part.has_value();
  if (part) work.memory = *part;
  client.held += bytes;
  owed_ += work.records.size();
  ++client.under_way;
  const uint64_t bulk = message.bulk;
  const uint64_t arrival = message.arrival;
  client.waiting.pop_front();
  if (bulk > 0) {
    links_.receive(client.peer, arrival, work.memory.bytes.first(bulk), tag);
  } else {
    begin(work);
  }
  return true;
}

// Returns true if a message of another client has found no room, and too many have got memory since: small ones would
// take each gap before there is room for a large one. A client that fetches no answer may hold memory for long; then
// nothing waits behind it.
bool Forwarder::must_wait_behind(const ForwardClient& client) const {
  if (starving_ == 0 || starving_ == client.peer || overtaking_ < options_.most_overtaking) return false;
  const Nanoseconds now = clock_.now();
  return std::none_of(works_.begin(), works_.end(), [now](const auto& one) {
    return one.second->answering && now - *one.second->answering >= kSlowAnswer;
  });
}

void Forwarder::received(LinkEvent& event) {
  const auto found = works_.find(event.tag);
  if (found == works_.end()) return;
  if (!event.status.ok() || present(found->second->client) == nullptr) return drop(event.tag);
  begin(*found->second);
}

// ---- transfers -------------------------------------------------------------------------------------------------

// Hands the transfers of a message to the engine, whose data are here.
void Forwarder::begin(Work& work) {
  const bool early = std::all_of(work.records.begin(), work.records.end(), [](const TransferRecord& record) {
    return record.kind == TransferRecord::Kind::write && record.confirm == TransferRecord::Confirm::received;
  });
  if (early) {
    clients_.at(work.client).confirmed_early = true;
    for (size_t i = 0; i < work.records.size(); ++i) work.results[i] = static_cast<int64_t>(work.records[i].length);
    answer(work);
  }
  submit(work);
}

void Forwarder::submit(Work& work) {
  std::byte* write = work.memory.bytes.data();
  std::byte* read = write + bytes_of_writes(work.records);
  work.left = static_cast<uint32_t>(work.records.size());
  for (uint32_t i = 0; i < work.records.size(); ++i) {
    const TransferRecord& record = work.records[i];
    const bool reads = record.kind == TransferRecord::Kind::read;
    std::byte*& memory = reads ? read : write;
    submit_record(work, i, memory);
    memory += record.length;
  }
  if (work.left == 0) finish(work);
}

void Forwarder::submit_record(Work& work, uint32_t index, std::byte* memory) {
  TransferRecord& record = work.records[index];
  Request request;
  request.file = record.file;
  request.client = static_cast<uint32_t>(work.client);
  request.sink = &work;
  request.token = index;
  if (record.kind == TransferRecord::Kind::sync) {
    request.operation = Operation::sync;
    return put(work, std::move(request));
  }
  const bool reads = record.kind == TransferRecord::Kind::read;
  if (!reads) queued_[files_.stripes(record.file).server_of(record.offset)] += record.length;
  request.operation = reads ? Operation::read : Operation::write;
  request.reserve = !reads && files_.reserves(record.file);
  request.pieces.push_back({{record.offset, record.length}, memory});
  put(work, std::move(request));
}

void Forwarder::put(Work& work, Request request) {
  ++clients_.at(work.client).files.at(request.file).pending;
  engine_.submit(std::move(request));
}

void Forwarder::ended(Work& work, const Request& request, const Status& status) {
  const Extent extent = request.moves_bytes() ? request.pieces.front().extent : Extent{};
  if (request.operation == Operation::write) {
    queued_[files_.stripes(request.file).server_of(extent.offset)] -= extent.length;
  }
  if (request.operation == Operation::read && !status.ok() && look_for_end(work, request, status)) return;
  settle(work, request.file, static_cast<uint32_t>(request.token), extent.length, status);
}

// A read that has failed may reach beyond the end of its file: then it is short, as of any file. Returns false if it
// was made short already.
bool Forwarder::look_for_end(Work& work, const Request& request, const Status& failure) {
  const Piece all = request.pieces.front();
  if (all.extent.length < work.records[request.token].length || is_withdrawn(failure)) return false;
  engine_.carry_out(request.file, {.kind = FileOperation::Kind::size}, request.client,
                    [this, &work, file = request.file, index = static_cast<uint32_t>(request.token), all,
                     failure](const FileOperationEnd& end) {
                      const uint64_t left = end.size > all.extent.offset ? end.size - all.extent.offset : 0;
                      if (!end.status.ok() || left >= all.extent.length) return settle(work, file, index, 0, failure);
                      if (left == 0) return settle(work, file, index, 0, {});
                      Request shorter;
                      shorter.operation = Operation::read;
                      shorter.file = file;
                      shorter.client = static_cast<uint32_t>(work.client);
                      shorter.sink = &work;
                      shorter.token = index;
                      shorter.pieces.push_back({{all.extent.offset, left}, all.memory});
                      engine_.submit(std::move(shorter));
                    });
  return true;
}

// Notes the end of a transfer, or of a sync that follows the writes of a file.
void Forwarder::settle(Work& work, FileId file, uint32_t index, uint64_t bytes, const Status& status) {
  TAILRACE_ASSERT(work.left > 0);
  --work.left;
  calls_.request_ended(clients_.at(work.client), file);
  if (work.syncing) {
    if (!status.ok()) {
      for (uint32_t i = 0; i < work.records.size(); ++i) {
        if (work.records[i].file == file && work.results[i] >= 0) work.results[i] = error_of(status);
      }
    }
  } else if (work.answered) {
    if (!status.ok()) report_loss(work, index, status);
  } else {
    work.results[index] = status.ok() ? static_cast<int64_t>(bytes) : error_of(status);
  }
  if (work.left == 0) finish(work);
}

// All requests of a message have ended.
void Forwarder::finish(Work& work) {
  if (!work.syncing && make_durable(work)) return;
  const uint64_t tag = work.tag;
  ForwardClient* const client = present(work.client);
  if (client != nullptr) {
    for (size_t i = 0; i < work.records.size(); ++i) {
      const auto bytes = static_cast<uint64_t>(std::max<int64_t>(work.results[i], 0));
      (work.records[i].kind == TransferRecord::Kind::read ? client->read : client->written) += bytes;
      client->failed += work.results[i] < 0 ? 1 : 0;
      ++client->transfers;
    }
  }
  if (work.answered || client == nullptr) return drop(tag);
  answer(work);
  if (!work.answering) drop(tag);
}

// Makes the writes of a message durable that ask for it. Returns false if there are none.
bool Forwarder::make_durable(Work& work) {
  std::vector<FileId> files;
  for (size_t i = 0; i < work.records.size(); ++i) {
    const TransferRecord& record = work.records[i];
    const bool wanted = record.kind == TransferRecord::Kind::write &&
                        record.confirm == TransferRecord::Confirm::durable && work.results[i] >= 0;
    if (wanted && std::find(files.begin(), files.end(), record.file) == files.end()) files.push_back(record.file);
  }
  if (files.empty()) return false;
  work.syncing = true;
  work.left = static_cast<uint32_t>(files.size());
  for (const FileId file : files) {
    Request request;
    request.operation = Operation::sync;
    request.file = file;
    request.client = static_cast<uint32_t>(work.client);
    request.sink = &work;
    put(work, std::move(request));
  }
  return true;
}

// Sends the results of a message, and the bytes that were read.
void Forwarder::answer(Work& work) {
  ForwardClient* const client = present(work.client);
  work.answered = true;
  if (client == nullptr) return;
  std::vector<iovec> bulk;
  std::byte* memory = work.memory.bytes.data() + bytes_of_writes(work.records);
  for (size_t i = 0; i < work.records.size(); ++i) {
    if (work.records[i].kind != TransferRecord::Kind::read) continue;
    if (work.results[i] > 0) bulk.push_back({memory, static_cast<size_t>(work.results[i])});
    memory += work.records[i].length;
  }
  const uint64_t tag = bulk.empty() ? next_tag_++ : work.tag;
  if (!bulk.empty()) work.answering = clock_.now();
  links_.send(client->peer, encode_ends(work.number, work.results), bulk, tag);
}

void Forwarder::report_loss(Work& work, uint32_t index, const Status& status) {
  const TransferRecord& record = work.records[index];
  log_.error("lost, though confirmed as received: {} at {}: {}", counted(record.length, "byte"), record.offset,
             status.fault().message);
  ForwardClient* const client = present(work.client);
  if (client == nullptr) return;
  const int error = static_cast<int>(-error_of(status));
  links_.send(client->peer, encode_loss({record.file, error, record.offset, record.length}), {}, next_tag_++);
}

// Forgets a message: its memory is free.
void Forwarder::drop(uint64_t tag) {
  const auto found = works_.find(tag);
  TAILRACE_ASSERT(found != works_.end());
  Work& work = *found->second;
  ForwardClient& client = clients_.at(work.client);
  if (work.has_memory) memory_.give_back(work.memory);
  client.held -= work.memory.bytes.size();
  owed_ -= work.records.size();
  --client.under_way;
  works_.erase(found);
}

void Forwarder::sent(LinkEvent& event) {
  texts_.erase(event.tag);
  if (works_.contains(event.tag)) drop(event.tag);
}

// ---- ends ------------------------------------------------------------------------------------------------------

void Forwarder::distrust(ForwardClient& client, const std::string& why) {
  links_.distrust(client.peer, why);
  lose(client, true);
}

// Notes that a client is gone. Messages that have no memory yet are dropped; of what the engine has, only what may
// still begin, or has begun, is carried out.
void Forwarder::lose(ForwardClient& client, bool fenced) {
  client.gone = true;
  client.fenced = client.fenced || fenced;
  client.waiting.clear();
  client.waiting_calls.clear();
  if (starving_ == client.peer) starving_ = 0;
}

// Forgets clients that are gone when nothing of them is under way, and cuts off those that do not fetch answers.
void Forwarder::forget_gone() {
  const Nanoseconds too_late = clock_.now() - options_.patience;
  std::vector<uint64_t> slow;
  for (const auto& [tag, work] : works_) {
    if (work->answering && *work->answering <= too_late) slow.push_back(work->client);
  }
  for (const auto& [tag, text] : texts_) {
    if (text.since <= too_late) slow.push_back(text.client);
  }
  for (const uint64_t name : slow) {
    if (ForwardClient* client = present(name)) {
      distrust(*client,
               fmt::format("it has not fetched an answer within {} s", options_.patience.count() / 1'000'000'000));
    }
  }
  for (auto it = clients_.begin(); it != clients_.end();) {
    ForwardClient& client = it->second;
    if (!client.gone || client.under_way > 0 || client.calls > 0) {
      ++it;
      continue;
    }
    it = calls_.release(client) ? clients_.erase(it) : std::next(it);
  }
}

}  // namespace tailrace::impl
