#include "recovery/ledger.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "recovery/thin_settings.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kUnpublishedKept = 4096;  // the latest iterations that are kept
constexpr size_t kStruckOutAtMost = 1024;  // most struck-out records in the store, beyond the number of kept ones

using Kind = LedgerRecord::Kind;

// Returns true for verbs of no iteration that need not be repeated once they are answered.
bool waits(Verb verb) { return verb == Verb::read || is_flush(verb) || is_of_file(verb); }

LedgerRecord of_failure(Kind kind, int group, int64_t iteration, const Status& why) {
  LedgerRecord record;
  record.kind = kind;
  record.client = group;
  record.iteration = iteration;
  record.failure = {};
  record.failure.code = why.fault().code;
  record.failure.system_errno = why.fault().system_errno;
  std::snprintf(record.failure.message, sizeof record.failure.message, "%s", why.fault().message.c_str());
  return record;
}

bool is_known(const LedgerRecord& record) { return record.kind >= Kind::accepted && record.kind <= Kind::given_up; }

}  // namespace

Result<Ledger> Ledger::open(std::unique_ptr<LedgerStore> store, Log& log) {
  Ledger ledger(std::move(store), log);
  if (Status status = ledger.read(); !status.ok()) return status;
  return ledger;
}

Ledger Ledger::of_nothing(Log& log) { return Ledger(nullptr, log); }

Status Ledger::read() {
  const Result<std::vector<LedgerRecord>> lines = store_->read();
  if (!lines.ok()) return lines.status();
  written_ = lines.value().size();
  for (const LedgerRecord& record : lines.value()) {
    if (!is_known(record)) {
      return Status(TAILRACE_INTERNAL, "'" + store_->name() + "': found a line that no server writes");
    }
    if (record.kind == Kind::left || record.kind == Kind::unpublished) {
      strike_out(record.client, record.iteration);
    }
    if (record.kind == Kind::given_up) is_whole_ = failure_of(record);
    if (record.kind != Kind::left) records_.add(record);
  }
  for (const LedgerRecord& record : records_) {
    uint64_t& last = last_of_earlier_[record.client];
    if (record.kind == Kind::accepted) last = std::max(last, record.descriptor.sequence);
  }
  return {};
}

Status Ledger::lost_with(const Status& why) {
  return Status(
      TAILRACE_SERVER_LOST,
      "the node's server has died, and before, it could not record what it had accepted: " + why.fault().message);
}

void Ledger::clear() {
  records_ = {};
  last_of_earlier_.clear();
  is_whole_ = {};
  write_anew();
}

uint64_t Ledger::last_sequence(int client) const {
  const auto found = last_of_earlier_.find(client);
  return found == last_of_earlier_.end() ? 0 : found->second;
}

void Ledger::accepted(int client, const Descriptor& descriptor) {
  LedgerRecord record;
  record.kind = Kind::accepted;
  record.client = client;
  record.iteration = descriptor.iteration;
  record.descriptor = descriptor;
  add(record);
}

void Ledger::placed(const Block& block, uint64_t index, const FilteredChunk& chunk, const Loss& loss) {
  LedgerRecord record;
  record.kind = Kind::placed;
  record.client = block.source;
  record.iteration = block.iteration;
  record.chunk = {.variable = block.variable,
                  .skipped = chunk.skipped,
                  .effort = static_cast<uint32_t>(chunk.effort),
                  .reserved = 0,
                  .index = index,
                  .bytes = chunk.bytes,
                  .largest_error = loss.largest_error,
                  .largest_relative_error = loss.largest_relative_error,
                  .overflowed = loss.overflowed};
  add(record);
}

Ledger::Placed Ledger::placed_by(const LedgerRecord& record) {
  const auto& of = record.chunk;
  return {.block = {of.variable, record.iteration, record.client, nullptr},
          .index = of.index,
          .chunk = {of.bytes, of.skipped, static_cast<Effort>(of.effort)},
          .loss = {of.largest_error, of.largest_relative_error, of.overflowed}};
}

void Ledger::failed(int group, int64_t iteration, const Status& why) { note(Kind::failed, group, iteration, why); }

void Ledger::unpublished(int group, int64_t iteration, const Status& why) {
  if (records_.count(Kind::unpublished) >= kUnpublishedKept) {
    records_.erase_first([](const LedgerRecord& of) { return of.kind == Kind::unpublished; });
  }
  strike_out(group, iteration);
  note(Kind::unpublished, group, iteration, why);
  shorten();
}

Status Ledger::failure_of(const LedgerRecord& record) {
  Fault fault;
  fault.code = static_cast<tailrace_status>(record.failure.code);
  fault.message = record.failure.message;
  fault.iteration = record.iteration;
  fault.system_errno = record.failure.system_errno;
  return Status(std::move(fault));
}

void Ledger::note(Kind kind, int group, int64_t iteration, const Status& why) {
  const LedgerRecord record = of_failure(kind, group, iteration, why);
  add(record);
}

void Ledger::left(int group, int64_t iteration) {
  LedgerRecord record;
  record.kind = Kind::left;
  record.client = group;
  record.iteration = iteration;
  append(record);
  strike_out(group, iteration);
  shorten();
}

void Ledger::gone(int client, const RunTimes& run) {
  LedgerRecord record;
  record.kind = Kind::gone;
  record.client = client;
  record.iteration = kNone;
  record.run = run;
  add(record);
}

void Ledger::absent(const RunTimes& run) {
  LedgerRecord record;
  record.kind = Kind::absent;
  record.client = kNode;
  record.iteration = kNone;
  record.run = run;
  append(record);
  records_.erase_of(kNone, kNode, [](const LedgerRecord& of) { return of.kind == Kind::absent; });
  keep(record);
}

void Ledger::begin_run() {
  if (records_.count(Kind::accepted) > 0) return;  // it waits for a server
  const size_t forgotten =
      records_.erase_if([](const LedgerRecord& of) { return of.client == kNode || of.kind == Kind::gone; });
  if (forgotten > 0) write_anew();
}

void Ledger::journaled(int group, uint64_t end) {
  LedgerRecord record;
  record.kind = Kind::journaled;
  record.client = group;
  record.iteration = kNone;
  record.journal_end = std::max(end, journal_end(group));  // lines may be written in any order
  append(record);
  records_.erase_of(kNone, group, [](const LedgerRecord& of) { return of.kind == Kind::journaled; });
  keep(record);
}

uint64_t Ledger::journal_end(int group) const {
  uint64_t end = 0;
  records_.visit_of(kNone, group, [&end](const LedgerRecord& of) {
    if (of.kind == Kind::journaled) end = std::max(end, of.journal_end);
  });
  return end;
}

void Ledger::strike_out(int group, int64_t iteration) {
  const auto goes = [group](const LedgerRecord& of) {
    if (of.kind == Kind::unpublished) return false;
    if (of.kind == Kind::placed) return true;
    if (of.kind != Kind::accepted) return of.client == group;
    return !waits(of.descriptor.verb);
  };
  if (group == kNode) return records_.erase_of_all(iteration, goes);
  records_.erase_of(iteration, group, goes);
}

void Ledger::settle(FunctionRef<bool(int client, const Descriptor& verb)> answered) {
  records_.erase_if([&](const LedgerRecord& of) {
    if (of.kind != Kind::accepted) return false;
    return waits(of.descriptor.verb) && answered(of.client, of.descriptor);
  });
  if (std::any_of(records_.begin(), records_.end(), is_setting)) records_.replace(thin_settings(records_.copy()));
  shorten();
}

void Ledger::forget(int client) {
  records_.erase_if([&](const LedgerRecord& of) { return of.client == client && of.kind != Kind::gone; });
  write_anew();
}

void Ledger::keep_only(const std::set<int>& clients) {
  const size_t forgotten = records_.erase_if([&](const LedgerRecord& of) {
    return of.client != kNode && of.kind != Kind::gone && !clients.contains(of.client);
  });
  if (forgotten > 0) write_anew();
}

void Ledger::add(const LedgerRecord& record) {
  append(record);
  keep(record);
}

void Ledger::keep(const LedgerRecord& record) {
  if (store_ != nullptr) records_.add(record);
}

void Ledger::append(const LedgerRecord& record) {
  if (given_up_ || store_ == nullptr) return;
  if (const Status status = store_->append(record); !status.ok()) return give_up(status);
  ++written_;
}

// Struck-out records do no harm. So if the store cannot be shortened, it stays as it is until it is twice as long.
// A ledger that was given up becomes whole again if its records, which are fewer now, can be written.
void Ledger::shorten() {
  const size_t most = std::max(2 * records_.size() + kStruckOutAtMost, 2 * shortened_from_);
  if (store_ == nullptr || (!given_up_ && written_ <= most)) return;
  const Status status = store_->replace(records_.copy());
  if (!status.ok()) {
    shortened_from_ = written_;
    return;
  }
  if (given_up_) log_->warning("the ledger can be written again");
  has_written_all();
}

// The store must not keep the old records.
void Ledger::write_anew() {
  if (store_ == nullptr) return;
  if (const Status status = store_->replace(records_.copy()); !status.ok()) return give_up(status);
  has_written_all();
}

void Ledger::has_written_all() {
  written_ = records_.size();
  shortened_from_ = 0;
  given_up_ = false;
}

// The data still reach their files. But the store is not true any more, and must say so: if the server dies, its
// successor would lose data without a word.
void Ledger::give_up(const Status& why) {
  if (std::exchange(given_up_, true)) return;
  log_->error("the ledger cannot be written, so no server can continue if this one dies now: {}",
              why.fault().message);
  store_->append_last(of_failure(Kind::given_up, kNode, kNone, why));
}

void Ledger::remove() {
  store_->remove();
  store_.reset();
}

}  // namespace tailrace::impl
