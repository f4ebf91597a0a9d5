#include "transport/secure/seal.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace tailrace::impl {
namespace {

static_assert(crypto_aead_chacha20poly1305_ietf_KEYBYTES == sizeof(Secret));
static_assert(crypto_aead_chacha20poly1305_ietf_ABYTES == kSealTag);

// The message's number as a nonce of 96 bits: four zeros, then the number, little-endian.
struct HeadNonce {
  explicit HeadNonce(uint64_t sequence) { std::memcpy(bytes + 4, &sequence, sizeof sequence); }
  unsigned char bytes[crypto_aead_chacha20poly1305_ietf_NPUBBYTES] = {};
};
static_assert(sizeof(HeadNonce) == 4 + sizeof(uint64_t));

unsigned char* chars(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
const unsigned char* chars(const std::byte* bytes) { return reinterpret_cast<const unsigned char*>(bytes); }
const unsigned char* chars(const SealHead& head) { return reinterpret_cast<const unsigned char*>(&head); }

uint64_t total(std::span<const iovec> segments) {
  uint64_t bytes = 0;
  for (const iovec& segment : segments) bytes += segment.iov_len;
  return bytes;
}

// The subkeys of a direction's key.
Secret head_key(const Secret& key) { return derive(key, 1, "tr.seal1"); }
Secret bulk_key(const Secret& key, bool encrypts_bulk) { return derive(key, encrypts_bulk ? 3 : 2, "tr.seal1"); }

void gather(std::span<const iovec> from, std::span<std::byte> into) {
  for (const iovec& segment : from) {
    const bool is_there = segment.iov_len == 0 || segment.iov_base == into.data();
    if (!is_there) std::memmove(into.data(), segment.iov_base, segment.iov_len);
    into = into.subspan(segment.iov_len);
  }
}

Status refuse_message(int error, std::string message) {
  Fault fault;
  fault.code = TAILRACE_IO_ERROR;
  fault.operation = "receive";
  fault.system_errno = error;
  fault.message = std::move(message);
  return Status(std::move(fault));
}

Status refuse_bulk(const BulkTag& tag) {
  return refuse_message(EBADMSG, fmt::format("the {} bytes of bulk data of message {} are not those that were sent: "
                                             "they were changed on the way, or at the sender after the call",
                                             tag.bytes, tag.sequence));
}

Status out_of_numbers() {
  return refuse_message(EOVERFLOW, "2^63 messages have been sent in this session; expected a new session before");
}

}  // namespace

Sealer::Sealer(const Secret& key, bool encrypts_bulk, uint64_t first)
    : head_key_(head_key(key)), bulk_(bulk_key(key, encrypts_bulk)), encrypts_bulk_(encrypts_bulk), next_(first) {
  start_sodium();
}

Status Sealer::check_number() const { return next_ < kSequenceLimit ? Status() : out_of_numbers(); }

// Makes the message and counts it. The plain text is encrypted where it lies.
void Sealer::put(std::span<const std::byte> body, uint64_t bulk, const BulkCipher::Tag& tag,
                 std::vector<std::byte>& message) {
  TAILRACE_REQUIRE(body.size() <= kMostSealedBody);
  SealHead head;
  head.flags = encrypts_bulk_ ? kBulkIsEncrypted : 0;
  head.sequence = next_++;
  head.bulk = bulk;
  message.resize(kSealOverhead + body.size());
  std::memcpy(message.data(), &head, sizeof head);
  std::byte* const text = message.data() + sizeof head;
  if (!body.empty()) std::memcpy(text, body.data(), body.size());
  std::memcpy(text + body.size(), tag.data(), tag.size());
  const HeadNonce nonce(head.sequence);
  crypto_aead_chacha20poly1305_ietf_encrypt(chars(text), nullptr, chars(text), body.size() + tag.size(), chars(head),
                                            sizeof head, nullptr, nonce.bytes, head_key_.bytes.data());
}

Status Sealer::seal(std::span<const std::byte> body, std::span<const iovec> bulk, std::vector<std::byte>& message) {
  const uint64_t bytes = total(bulk);
  TAILRACE_REQUIRE(bytes == 0 || !encrypts_bulk_);
  if (Status status = check_number(); !status.ok()) return status;
  put(body, bytes, bytes == 0 ? BulkCipher::Tag{} : bulk_.cover(next_, bulk), message);
  return {};
}

Status Sealer::seal_hidden(std::span<const std::byte> body, std::span<const iovec> bulk, std::span<std::byte> into,
                           std::vector<std::byte>& message) {
  TAILRACE_REQUIRE(encrypts_bulk_ && total(bulk) == into.size());
  if (Status status = check_number(); !status.ok()) return status;
  BulkCipher::Tag tag = {};
  if (!into.empty()) {
    gather(bulk, into);
    tag = bulk_.encrypt(next_, into);
  }
  put(body, into.size(), tag, message);
  return {};
}

Opener::Opener(const Secret& key, bool encrypts_bulk)
    : head_key_(head_key(key)), bulk_(bulk_key(key, encrypts_bulk)), encrypts_bulk_(encrypts_bulk) {
  start_sodium();
}

// Everything here can be a lie, until the tag is checked: the messages tell what the sender says.
Status Opener::check_head(const SealHead& head, uint64_t bulk_bytes) const {
  if (head.version != kSealVersion) {
    return refuse_message(
        EPROTO, fmt::format("found a sealed message of version {}, expected version {}", head.version, kSealVersion));
  }
  if (head.flags != (encrypts_bulk_ ? kBulkIsEncrypted : 0)) {
    return refuse_message(EPROTO, fmt::format("found a message with flags {}, expected {}: does one end encrypt bulk "
                                              "data, and the other not?",
                                              head.flags, encrypts_bulk_ ? kBulkIsEncrypted : 0));
  }
  if (head.sequence >= kSequenceLimit) {
    return refuse_message(EOVERFLOW, fmt::format("found message {}, expected a number below 2^63", head.sequence));
  }
  if (head.bulk != bulk_bytes) {
    return refuse_message(EBADMSG, fmt::format("message {} came with {} bytes of bulk data, expected {}",
                                               head.sequence, bulk_bytes, head.bulk));
  }
  switch (window_.judge(head.sequence)) {
    case ReplayWindow::Verdict::fresh: return {};
    case ReplayWindow::Verdict::seen:
      return refuse_message(EALREADY, fmt::format("message {} has come a second time", head.sequence));
    case ReplayWindow::Verdict::too_old: break;
  }
  return refuse_message(
      EALREADY, fmt::format("message {} has come after message {}, expected none more than {} behind", head.sequence,
                            window_.end() - 1, ReplayWindow::kSize - 1));
}

Result<Unsealed> Opener::open(std::span<const std::byte> message, uint64_t bulk_bytes) {
  if (message.size() < kSealOverhead || message.size() > kMostSealed) {
    return refuse_message(EPROTO, fmt::format("found a message of {} bytes, expected {} to {}", message.size(),
                                              kSealOverhead, kMostSealed));
  }
  SealHead head;
  std::memcpy(&head, message.data(), sizeof head);
  if (Status status = check_head(head, bulk_bytes); !status.ok()) return status;
  const std::span<const std::byte> text = message.subspan(sizeof head);
  Unsealed opened{std::vector<std::byte>(text.size() - kSealTag), {head.sequence, head.bulk, {}}};
  const HeadNonce nonce(head.sequence);
  if (crypto_aead_chacha20poly1305_ietf_decrypt(chars(opened.body.data()), nullptr, nullptr, chars(text.data()),
                                                text.size(), chars(head), sizeof head, nonce.bytes,
                                                head_key_.bytes.data()) != 0) {
    return refuse_message(EBADMSG,
                          fmt::format("message {} has a wrong tag: it was changed on the way, or is not from "
                                      "the other end of this session",
                                      head.sequence));
  }
  window_.note(head.sequence);
  const size_t body = opened.body.size() - kSealTag;
  std::memcpy(opened.bulk.tag.data(), opened.body.data() + body, kSealTag);
  opened.body.resize(body);
  return opened;
}

Status Opener::check_bulk(const BulkTag& tag, std::span<const iovec> bulk) {
  TAILRACE_REQUIRE(!encrypts_bulk_ && total(bulk) == tag.bytes);
  if (tag.bytes == 0) return {};
  const BulkCipher::Tag found = bulk_.cover(tag.sequence, bulk);
  return equal(std::as_bytes(std::span(found)), std::as_bytes(std::span(tag.tag))) ? Status() : refuse_bulk(tag);
}

Status Opener::open_bulk(const BulkTag& tag, std::span<std::byte> bulk) {
  if (!encrypts_bulk_) {
    const iovec whole{bulk.data(), bulk.size()};
    return check_bulk(tag, std::span(&whole, 1));
  }
  TAILRACE_REQUIRE(bulk.size() == tag.bytes);
  if (tag.bytes == 0) return {};
  return bulk_.decrypt(tag.sequence, bulk, tag.tag) ? Status() : refuse_bulk(tag);
}

}  // namespace tailrace::impl
