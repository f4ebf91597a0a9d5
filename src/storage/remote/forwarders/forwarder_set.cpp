#include "storage/remote/forwarders/forwarder_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/names/counted.hpp"

namespace tailrace::impl {
namespace {

static_assert(Links::Options().version == kForwardVersion);

constexpr Nanoseconds kNap = std::chrono::milliseconds(200);  // longest sleep before another look at the links
constexpr Nanoseconds kGoodbye = std::chrono::seconds(1);     // limit for forwarders to close their links
constexpr int kClockError = 100;  // no clock runs slower than another by more than a hundredth

// Returns the addresses in one text, whose end is a number that stands for the rest if they are many.
std::string list_of(std::vector<std::string> addresses) {
  constexpr size_t kMost = 3000;  // bytes, so that an error can name two lists
  std::sort(addresses.begin(), addresses.end());
  std::string all = fmt::format("{}", fmt::join(addresses, ", "));
  if (all.size() <= kMost) return all;
  return fmt::format("{} ... ({} forwarders, hash {:x})", all.substr(0, kMost), addresses.size(), hash_of(all));
}

}  // namespace

// FNV-1a.
uint64_t hash_of(const std::string& text) {
  uint64_t hash = 14695981039346656037u;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211u;
  return hash ^ (hash >> 32);
}

ForwarderSet::ForwarderSet(Links& links, const Clock& clock, Doorbell& doorbell, Log& log, Options options)
    : links_(links), clock_(clock), doorbell_(doorbell), log_(log), options_(std::move(options)) {
  for (const std::string& address : options_.addresses) forwarders_.push_back({.address = address});
}

bool ForwarderSet::is_usable(size_t forwarder) const {
  const State state = forwarders_[forwarder].state;
  return state != State::lost && state != State::leaving;
}

bool ForwarderSet::refuses_key(size_t forwarder) const {
  const Forwarder& of = forwarders_[forwarder];
  return of.state == State::lost && !of.why.ok() && of.why.fault().system_errno == EKEYREJECTED;
}

Status ForwarderSet::gone(size_t forwarder) const {
  const Forwarder& of = forwarders_[forwarder];
  return Status(TAILRACE_SERVER_LOST, fmt::format("the forwarder {} is lost: {}", of.address,
                                                  of.why.ok() ? "it is leaving" : of.why.fault().message));
}

void ForwarderSet::connect(size_t forwarder) {
  Forwarder& to = forwarders_[forwarder];
  if ((to.state != State::idle && to.state != State::lost) || !refusal_.ok()) return;
  to.peer = links_.connect(to.address);
  to.state = State::connecting;
  to.joining = 0;
  to.leaves = false;
  to.said_goodbye = false;
  to.why = {};
}

Status ForwarderSet::connected(size_t forwarder) const {
  if (answers(forwarder)) return {};
  return refusal_.ok() ? gone(forwarder) : refusal_;
}

Status ForwarderSet::reach_all() {
  for (size_t i = 0; i < size(); ++i) connect(i);
  bool any = false;
  std::string all;
  for (size_t i = 0; i < size(); ++i) {
    const Status reached = reach(i);
    if (!refusal_.ok()) return refusal_;
    any = any || reached.ok();
    if (!reached.ok()) all += (all.empty() ? "" : "; ") + reached.fault().message;
  }
  if (!any) return Status(TAILRACE_SERVER_LOST, std::move(all));
  for (Forwarder& of : forwarders_) {
    if (of.state == State::lost) of.state = State::idle;
  }
  return {};
}

Status ForwarderSet::reach(size_t forwarder) {
  connect(forwarder);
  while (is_connecting(forwarder)) {  // the link's own limit ends this, and that of the first call
    pump(kNap);
    end_late_calls();
  }
  return connected(forwarder);
}

// Tells a forwarder the whole list. Nodes with other lists would use other forwarders for the same path.
void ForwarderSet::join(Forwarder& of) {
  ForwardCallMessage message{{}, list_of(options_.addresses), options_.output.substr(0, kMostForwardText)};
  message.record.call = ForwardCall::join;
  of.joining = send_call(of, message, false);
}

void ForwarderSet::end_joining(size_t forwarder, const ForwardAnswer& answer) {
  Forwarder& of = forwarders_[forwarder];
  of.joining = 0;
  const Status joined = status_of(answer, "join", options_.output);
  if (joined.ok()) {
    of.state = of.leaves ? State::leaving : State::ready;
  } else {
    refusal_ = joined;
    give_up(forwarder);
  }
}

// ---- calls ----------------------------------------------------------------------------------------------------

Result<ForwardAnswer> ForwarderSet::call(size_t forwarder, const ForwardCallMessage& message,
                                         std::vector<std::byte>& bulk) {
  if (Status status = reach(forwarder); !status.ok()) return status;
  const uint64_t number = begin_call(forwarder, message, true);
  for (;; pump(kNap), end_late_calls()) {
    const auto end = std::find_if(events_.begin(), events_.end(), [number](const ForwarderEvent& event) {
      return event.kind == ForwarderEvent::Kind::answered && event.number == number;
    });
    if (end == events_.end()) continue;
    const ForwarderEvent event = std::move(*end);
    events_.erase(end);
    if (!events_.empty()) doorbell_.wake();  // others wait for what has come meanwhile
    if (!event.answer) return gone(forwarder);
    bulk = event.bytes;
    return *event.answer;
  }
}

uint64_t ForwarderSet::begin_call(size_t forwarder, const ForwardCallMessage& message, bool bulk) {
  TAILRACE_REQUIRE(answers(forwarder));
  return send_call(forwarders_[forwarder], message, bulk);
}

uint64_t ForwarderSet::send_call(Forwarder& of, const ForwardCallMessage& message, bool bulk) {
  const uint64_t number = next_number_++;
  // A renaming waits for all that was confirmed of its file, however slow the storage is.
  const bool has_limit = message.record.call != ForwardCall::rename;
  of.calls[number].wants_bulk = bulk;
  of.queued.push_back({number, has_limit, encode_call(number, message)});
  send_queued(of);
  return number;
}

// Sends calls until as many are unanswered as the forwarder takes of one client.
void ForwarderSet::send_queued(Forwarder& of) {
  while (!of.queued.empty() && of.calls.size() - of.queued.size() < of.window) {
    const QueuedCall call = std::move(of.queued.front());
    of.queued.pop_front();
    if (call.has_limit) of.calls.at(call.number).until = clock_.now() + options_.answer;
    links_.send(of.peer, call.body, {}, call.number);
  }
}

// Reports the answer to a call; none: there is none.
void ForwarderSet::end_call(size_t forwarder, uint64_t number, std::optional<ForwardAnswer> answer,
                            std::vector<std::byte> bytes) {
  forwarders_[forwarder].calls.erase(number);
  send_queued(forwarders_[forwarder]);
  events_.push_back({.kind = ForwarderEvent::Kind::answered,
                     .forwarder = forwarder,
                     .number = number,
                     .answer = std::move(answer),
                     .bytes = std::move(bytes)});
}

void ForwarderSet::says_nothing(size_t forwarder) {
  misbehaves(forwarder, fmt::format("a call was not answered within {} s", options_.answer.count() / 1'000'000'000));
}

// A link ends if a call on it is not answered in time.
void ForwarderSet::end_late_calls() {
  for (size_t i = 0; i < forwarders_.size(); ++i) {
    if (clock_.now() >= answer_due(forwarders_[i])) says_nothing(i);
  }
}

// Returns when the next call must be answered.
Nanoseconds ForwarderSet::answer_due(const Forwarder& of) {
  Nanoseconds due = Nanoseconds::max();
  for (const auto& [number, call] : of.calls) due = std::min(due, call.until);
  return due;
}

// Reports the calls of a link that is gone.
void ForwarderSet::forget_calls(size_t forwarder) {
  Forwarder& of = forwarders_[forwarder];
  of.queued.clear();
  const uint64_t joining = std::exchange(of.joining, 0);
  of.calls.erase(joining);
  for (auto& [number, call] : std::exchange(of.calls, {})) {
    if (call.answer) abandoned_.push_back(std::move(call.bulk));  // the transport may still write there
    end_call(forwarder, number, std::nullopt, {});
  }
}

std::optional<Nanoseconds> ForwarderSet::due() const {
  std::optional<Nanoseconds> due = links_.due();
  for (const Forwarder& of : forwarders_) {
    const Nanoseconds answer = answer_due(of);
    if (answer != Nanoseconds::max()) due = std::min(due.value_or(Nanoseconds::max()), answer);
  }
  return due;
}

// ---- transfers -------------------------------------------------------------------------------------------------

bool ForwarderSet::has_room(size_t forwarder) const {
  const Forwarder& of = forwarders_[forwarder];
  return of.state == State::ready && of.unanswered.size() < of.window;
}

uint64_t ForwarderSet::send(size_t forwarder, std::span<const TransferRecord> records, std::span<const iovec> bulk) {
  TAILRACE_REQUIRE(has_room(forwarder));
  const uint64_t number = next_number_++;
  Forwarder& of = forwarders_[forwarder];
  of.unanswered.emplace(number, static_cast<uint32_t>(records.size()));
  links_.send(of.peer, encode_transfers(number, records), bulk, number);
  return number;
}

void ForwarderSet::receive(size_t forwarder, uint64_t link, uint64_t arrival, std::span<std::byte> into,
                           uint64_t tag) {
  TAILRACE_REQUIRE(tag < kCallTag);
  if (links_.is_ready(link)) return links_.receive(link, arrival, into, tag);
  events_.push_back(
      {.kind = ForwarderEvent::Kind::received, .forwarder = forwarder, .number = tag, .status = gone(forwarder)});
}

void ForwarderSet::give_up(size_t forwarder) {
  Forwarder& of = forwarders_[forwarder];
  if (of.state == State::idle || of.state == State::lost) return;
  links_.close(of.peer);
  note_loss(of, clock_.now());
  former_[of.peer] = forwarder;
  of.unanswered.clear();
  of.state = State::lost;
  forget_calls(forwarder);
}

void ForwarderSet::leave() {
  for (Forwarder& of : forwarders_) {
    if (of.state != State::ready && of.state != State::leaving) continue;
    links_.send(of.peer, encode_plain(ForwardKind::leave), {}, next_number_++);
  }
  const Nanoseconds until = clock_.now() + kGoodbye;
  const auto any = [this] {
    return std::any_of(forwarders_.begin(), forwarders_.end(),
                       [](const Forwarder& of) { return of.state == State::ready || of.state == State::leaving; });
  };
  while (any() && clock_.now() < until) pump(kNap);
}

void ForwarderSet::leave_leaving(size_t forwarder) {
  Forwarder& of = forwarders_[forwarder];
  if (of.state != State::leaving || of.said_goodbye || is_busy(forwarder)) return;
  of.said_goodbye = true;
  links_.send(of.peer, encode_plain(ForwardKind::leave), {}, next_number_++);
}

// ---- events ---------------------------------------------------------------------------------------------------

void ForwarderSet::poll(std::vector<ForwarderEvent>& events) {
  pump(Nanoseconds::zero());
  end_late_calls();
  std::move(events_.begin(), events_.end(), std::back_inserter(events));
  events_.clear();
}

// Takes what the links have; if that is nothing, sleeps for `limit` at most.
void ForwarderSet::pump(Nanoseconds limit) {
  heard_.clear();
  links_.poll(heard_);
  if (heard_.empty() && limit > Nanoseconds::zero()) {
    links_.wait(limit);
    links_.poll(heard_);
  }
  for (LinkEvent& event : heard_) take(event);
}

void ForwarderSet::pause(Nanoseconds time) {
  const Nanoseconds until = clock_.now() + time;
  for (Nanoseconds now = clock_.now(); now < until; now = clock_.now()) pump(until - now);
}

std::optional<size_t> ForwarderSet::forwarder_of(PeerId peer) const {
  for (size_t i = 0; i < forwarders_.size(); ++i) {
    if (forwarders_[i].peer == peer && forwarders_[i].state != State::lost) return i;
  }
  return std::nullopt;
}

void ForwarderSet::take(LinkEvent& event) {
  const std::optional<size_t> current = forwarder_of(event.peer);
  switch (event.kind) {
    case LinkEvent::Kind::ready: {
      if (!current) return;
      const ForwardTerms terms = decode_terms(event.terms);
      if (terms.role != ForwardTerms::Role::forwarder || terms.window == 0) {
        return misbehaves(*current, "it is not a forwarder");
      }
      forwarders_[*current].window = terms.window;
      forwarders_[*current].lease = std::chrono::microseconds(terms.lease);
      if (!options_.output.empty()) return join(forwarders_[*current]);
      forwarders_[*current].state = State::ready;
      return;
    }
    case LinkEvent::Kind::message:
      if (current) take_message(*current, event);
      return;
    case LinkEvent::Kind::sent:
    case LinkEvent::Kind::received: {
      if (event.kind == LinkEvent::Kind::received && event.tag >= kCallTag) {
        if (!current || !event.status.ok()) return;  // its call has ended, or is about to
        const auto call = forwarders_[*current].calls.find(event.tag - kCallTag);
        if (call == forwarders_[*current].calls.end()) return;
        auto [answer, bytes] = std::pair(std::move(call->second.answer), std::move(call->second.bulk));
        return end_call(*current, event.tag - kCallTag, std::move(answer), std::move(bytes));
      }
      const auto kind =
          event.kind == LinkEvent::Kind::sent ? ForwarderEvent::Kind::sent : ForwarderEvent::Kind::received;
      const auto former = former_.find(event.peer);
      const size_t forwarder = current ? *current : former != former_.end() ? former->second : 0;
      events_.push_back({.kind = kind, .forwarder = forwarder, .number = event.tag, .status = event.status});
      return;
    }
    case LinkEvent::Kind::lost:
      if (current) lose(*current, event);
      return;
  }
}

void ForwarderSet::lose(size_t forwarder, const LinkEvent& end) {
  Forwarder& of = forwarders_[forwarder];
  const bool was_there = of.state != State::connecting;
  const bool is_idle = of.state == State::ready && of.unanswered.empty() && of.calls.empty();
  of.state = is_idle ? State::idle : State::lost;
  of.why = end.status;
  of.unanswered.clear();
  former_[of.peer] = forwarder;
  if (was_there) {
    note_loss(of, end.heard);
    events_.push_back(
        {.kind = ForwarderEvent::Kind::lost, .forwarder = forwarder, .number = of.peer, .status = end.status});
  }
  if (end.refused) of.acts_until = {};  // its process has ended
  if (is_idle) of.peer = 0;
  forget_calls(forwarder);
}

// Notes that a link is gone whose last message came at `heard`: this end has answered nothing later.
void ForwarderSet::note_loss(Forwarder& of, Nanoseconds heard) const {
  const Nanoseconds lease = of.lease + of.lease / kClockError;
  of.acts_until = std::max(of.acts_until, heard + lease + options_.grace);
}

void ForwarderSet::misbehaves(size_t forwarder, const std::string& how) {
  Forwarder& of = forwarders_[forwarder];
  log_.error("forwarder {}: {}", of.address, how);
  links_.close(of.peer);
  lose(forwarder, {.status = Status(TAILRACE_IO_ERROR, how), .heard = clock_.now()});
}

void ForwarderSet::take_message(size_t forwarder, LinkEvent& event) {
  const std::optional<ForwardHead> head = decode_head(event.body);
  if (!head) return misbehaves(forwarder, "it sent a message that cannot be read");
  switch (head->kind) {
    case ForwardKind::ends: return take_ends(forwarder, *head, event);
    case ForwardKind::answer: return take_answer(forwarder, *head, event);
    case ForwardKind::leaving:
      forwarders_[forwarder].leaves = true;
      if (forwarders_[forwarder].state == State::ready) forwarders_[forwarder].state = State::leaving;
      events_.push_back({.kind = ForwarderEvent::Kind::leaving, .forwarder = forwarder});
      return;
    case ForwardKind::lost: {
      const std::optional<LossRecord> loss = decode_loss(event.body);
      if (!loss) return misbehaves(forwarder, "it sent a message that cannot be read");
      events_.push_back(
          {.kind = ForwarderEvent::Kind::failed, .forwarder = forwarder, .number = event.peer, .loss = *loss});
      return;
    }
    case ForwardKind::transfers:
    case ForwardKind::call:
    case ForwardKind::leave: return misbehaves(forwarder, "it sent a message of a client");
  }
}

void ForwarderSet::take_ends(size_t forwarder, const ForwardHead& head, LinkEvent& event) {
  std::optional<std::vector<int64_t>> results = decode_ends(event.body);
  const auto asked = forwarders_[forwarder].unanswered.find(head.number);
  if (!results || asked == forwarders_[forwarder].unanswered.end() || results->size() != asked->second) {
    return misbehaves(forwarder, "it answered transfers that were not asked of it");
  }
  forwarders_[forwarder].unanswered.erase(asked);
  events_.push_back({.kind = ForwarderEvent::Kind::ended,
                     .forwarder = forwarder,
                     .number = head.number,
                     .results = std::move(*results),
                     .bulk = event.bulk,
                     .arrival = event.arrival});
}

void ForwarderSet::take_answer(size_t forwarder, const ForwardHead& head, LinkEvent& event) {
  Forwarder& of = forwarders_[forwarder];
  std::optional<ForwardAnswer> answer = decode_forward_answer(event.body);
  const auto found = of.calls.find(head.number);
  if (!answer || found == of.calls.end() || found->second.answer) {
    return misbehaves(forwarder, "it answered a call that was not made");
  }
  Call& call = found->second;
  if (event.bulk > 0 && (!call.wants_bulk || event.bulk > kMostListed)) {
    return misbehaves(forwarder, fmt::format("it answered with {} of data", counted(event.bulk, "byte")));
  }
  if (head.number == of.joining) {
    of.calls.erase(found);
    return end_joining(forwarder, *answer);
  }
  if (event.bulk == 0) return end_call(forwarder, head.number, std::move(answer), {});
  call.answer = std::move(answer);
  call.bulk.resize(event.bulk);
  links_.receive(of.peer, event.arrival, call.bulk, kCallTag + head.number);
}

}  // namespace tailrace::impl
