#include "model/wire/forward_wire.hpp"

#include <algorithm>
#include <cstring>

#include "model/extents.hpp"

namespace tailrace::impl {
namespace {

void append_bytes(std::vector<std::byte>& to, const void* from, size_t size) {
  const size_t at = to.size();
  to.resize(at + size);
  if (size > 0) std::memcpy(to.data() + at, from, size);
}

template <class Record>
void append(std::vector<std::byte>& to, const Record& record) {
  static_assert(std::is_trivially_copyable_v<Record>);
  append_bytes(to, &record, sizeof record);
}

void append(std::vector<std::byte>& to, const std::string& text) { append_bytes(to, text.data(), text.size()); }

std::vector<std::byte> begin(ForwardKind kind, uint64_t number, size_t count = 0) {
  std::vector<std::byte> body;
  append(body, ForwardHead{kind, static_cast<uint32_t>(count), number});
  return body;
}

// Reads a body from its beginning to its end. Once something is missing, all that follows is zero and complete()
// returns false.
class Reader {
 public:
  Reader(std::span<const std::byte> body, ForwardKind kind) : left_(body) {
    head_ = take<ForwardHead>();
    if (head_.kind != kind) whole_ = false;
  }

  uint32_t count() const { return head_.count; }

  template <class Record>
  Record take() {
    Record record{};
    if (left_.size() < sizeof record) {
      whole_ = false;
      return record;
    }
    std::memcpy(&record, left_.data(), sizeof record);
    left_ = left_.subspan(sizeof record);
    return record;
  }

  std::string text(uint32_t size) {
    if (size > kMostForwardText || size > left_.size()) {
      whole_ = false;
      return {};
    }
    std::string text(reinterpret_cast<const char*>(left_.data()), size);
    left_ = left_.subspan(size);
    if (text.find('\0') != std::string::npos) whole_ = false;
    return text;
  }

  // Returns true if `count` records of this size are exactly what is left.
  bool holds(uint32_t count, size_t size) const { return whole_ && left_.size() == count * size; }
  bool complete() const { return whole_ && left_.empty(); }

 private:
  std::span<const std::byte> left_;
  ForwardHead head_;
  bool whole_ = true;
};

bool is_allowed(const TransferRecord& record) {
  if (record.kind > TransferRecord::Kind::sync || record.confirm > TransferRecord::Confirm::received) return false;
  if (record.kind == TransferRecord::Kind::sync) return record.length == 0;
  if (record.length == 0 || record.length > kMostForwarded) return false;
  return record.offset < kMostOffset && record.length <= kMostOffset - record.offset;
}

uint64_t bytes_of(std::span<const TransferRecord> records, TransferRecord::Kind kind) {
  uint64_t bytes = 0;
  for (const TransferRecord& record : records) bytes += record.kind == kind ? record.length : 0;
  return bytes;
}

}  // namespace

std::array<std::byte, sizeof(ForwardTerms)> encode_terms(ForwardTerms terms, std::string_view name) {
  std::memcpy(terms.name, name.data(), std::min(name.size(), sizeof terms.name - 1));
  std::array<std::byte, sizeof terms> bytes;
  std::memcpy(bytes.data(), &terms, sizeof terms);
  return bytes;
}

ForwardTerms decode_terms(const std::array<std::byte, sizeof(ForwardTerms)>& bytes) {
  ForwardTerms terms;
  std::memcpy(&terms, bytes.data(), sizeof terms);
  return terms;
}

uint64_t bytes_of_writes(std::span<const TransferRecord> records) {
  return bytes_of(records, TransferRecord::Kind::write);
}

uint64_t bytes_of_reads(std::span<const TransferRecord> records) {
  return bytes_of(records, TransferRecord::Kind::read);
}

std::vector<std::byte> encode_transfers(uint64_t number, std::span<const TransferRecord> records) {
  std::vector<std::byte> body = begin(ForwardKind::transfers, number, records.size());
  for (const TransferRecord& record : records) append(body, record);
  return body;
}

std::vector<std::byte> encode_call(uint64_t number, const ForwardCallMessage& call) {
  std::vector<std::byte> body = begin(ForwardKind::call, number);
  CallRecord record = call.record;
  record.text = static_cast<uint32_t>(call.text.size());
  record.second = static_cast<uint32_t>(call.second.size());
  append(body, record);
  append(body, call.text);
  append(body, call.second);
  return body;
}

std::vector<std::byte> encode_ends(uint64_t number, std::span<const int64_t> results) {
  std::vector<std::byte> body = begin(ForwardKind::ends, number, results.size());
  for (const int64_t result : results) append(body, result);
  return body;
}

std::vector<std::byte> encode_answer(uint64_t number, const ForwardAnswer& answer) {
  std::vector<std::byte> body = begin(ForwardKind::answer, number);
  const std::string text = answer.text.substr(0, kMostForwardText);
  AnswerRecord record = answer.record;
  record.text = static_cast<uint32_t>(text.size());
  record.servers = static_cast<uint32_t>(answer.servers.size());
  append(body, record);
  append(body, text);
  for (const uint32_t server : answer.servers) append(body, server);
  return body;
}

std::vector<std::byte> encode_loss(const LossRecord& loss) {
  std::vector<std::byte> body = begin(ForwardKind::lost, 0);
  append(body, loss);
  return body;
}

std::vector<std::byte> encode_plain(ForwardKind kind) { return begin(kind, 0); }

std::optional<ForwardHead> decode_head(std::span<const std::byte> body) {
  ForwardHead head;
  if (body.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, body.data(), sizeof head);
  if (head.kind < ForwardKind::transfers || head.kind > ForwardKind::lost) return std::nullopt;
  return head;
}

std::optional<std::vector<TransferRecord>> decode_transfers(std::span<const std::byte> body, uint64_t bulk) {
  Reader reader(body, ForwardKind::transfers);
  const uint32_t count = reader.count();
  if (count == 0 || count > kMostRecords || !reader.holds(count, sizeof(TransferRecord))) return std::nullopt;
  std::vector<TransferRecord> records;
  records.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    records.push_back(reader.take<TransferRecord>());
    if (!is_allowed(records.back())) return std::nullopt;
  }
  const uint64_t written = bytes_of_writes(records);
  if (written != bulk || written > kMostForwarded || bytes_of_reads(records) > kMostForwarded) return std::nullopt;
  return records;
}

std::optional<ForwardCallMessage> decode_forward_call(std::span<const std::byte> body) {
  Reader reader(body, ForwardKind::call);
  ForwardCallMessage message;
  message.record = reader.take<CallRecord>();
  message.text = reader.text(message.record.text);
  message.second = reader.text(message.record.second);
  if (!reader.complete()) return std::nullopt;
  if (message.record.call < ForwardCall::open || message.record.call > ForwardCall::join) return std::nullopt;
  return message;
}

std::optional<std::vector<int64_t>> decode_ends(std::span<const std::byte> body) {
  Reader reader(body, ForwardKind::ends);
  const uint32_t count = reader.count();
  if (count == 0 || count > kMostRecords || !reader.holds(count, sizeof(int64_t))) return std::nullopt;
  std::vector<int64_t> results;
  results.reserve(count);
  for (uint32_t i = 0; i < count; ++i) results.push_back(reader.take<int64_t>());
  return results;
}

std::optional<ForwardAnswer> decode_forward_answer(std::span<const std::byte> body) {
  Reader reader(body, ForwardKind::answer);
  ForwardAnswer answer;
  answer.record = reader.take<AnswerRecord>();
  answer.text = reader.text(answer.record.text);
  const uint32_t count = answer.record.servers;
  if (count > kMostServers || !reader.holds(count, sizeof(uint32_t))) return std::nullopt;
  answer.servers.reserve(count);
  for (uint32_t i = 0; i < count; ++i) answer.servers.push_back(reader.take<uint32_t>());
  return answer;
}

std::optional<LossRecord> decode_loss(std::span<const std::byte> body) {
  Reader reader(body, ForwardKind::lost);
  const LossRecord loss = reader.take<LossRecord>();
  return reader.complete() ? std::optional(loss) : std::nullopt;
}

}  // namespace tailrace::impl
