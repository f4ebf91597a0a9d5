// Sealer and Opener: make and check the messages of one direction of a session. A message cannot be read, changed,
// made up, sent again, or sent back by anybody without the session's key. Pure computation on bytes.
//
// The key of the direction (SessionKeys) has three subkeys (crypto_kdf), and every message has a number n, which its
// Sealer gives out once, in order, and never again: a Sealer cannot be copied or moved, and ends at 2^63. So no key
// is used with one nonce twice:
//
// - head and body: ChaCha20-Poly1305 (IETF) under subkey 1 with nonce n. The head is covered, the body encrypted.
// - bulk data as they are (default): GMAC (AES-256-GCM that encrypts nothing) under subkey 2 with nonce n. Its tag is
//   in the encrypted part of the message, so a message and its bulk data cannot be separated.
// - encrypted bulk data: AES-256-GCM under subkey 3 with nonce n; its tag lies there, too.
//
// Both ends must have the same value of `encrypts_bulk`: else every message is refused.
//
// Lengths, numbers and times of messages are not hidden.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "transport/secure/bulk_cipher.hpp"
#include "transport/secure/replay_window.hpp"
#include "transport/secure/seal_wire.hpp"
#include "transport/secure/secret.hpp"

namespace tailrace::impl {

class Sealer {
 public:
  // `first` is the number of the first message: never other than 0 but in tests.
  Sealer(const Secret& key, bool encrypts_bulk, uint64_t first = 0);
  Sealer(const Sealer&) = delete;
  Sealer& operator=(const Sealer&) = delete;

  // Makes a message of `body`, at most kMostSealedBody bytes, for bulk data that travel as they are. They must not
  // change until they have been sent. Requires that there are none if this end encrypts bulk data. `message` is
  // replaced, and its memory used again; `body` must not lie in it. Fails when all numbers are used up: then a new
  // session is needed.
  Status seal(std::span<const std::byte> body, std::span<const iovec> bulk, std::vector<std::byte>& message);
  // Makes a message for bulk data that travel encrypted: encrypts them into `into`, which is as long as they are.
  // Requires that this end encrypts bulk data, and that each segment lies apart from `into`, or in it and not before
  // the place that it gets.
  Status seal_hidden(std::span<const std::byte> body, std::span<const iovec> bulk, std::span<std::byte> into,
                     std::vector<std::byte>& message);

 private:
  Status check_number() const;
  void put(std::span<const std::byte> body, uint64_t bulk, const BulkCipher::Tag& tag,
           std::vector<std::byte>& message);

  const Secret head_key_;
  BulkCipher bulk_;
  bool encrypts_bulk_;
  uint64_t next_;
};

// Identifies the bulk data of a message.
struct BulkTag {
  uint64_t sequence = 0;
  uint64_t bytes = 0;
  BulkCipher::Tag tag = {};
};

struct Unsealed {
  std::vector<std::byte> body;
  BulkTag bulk;
};

class Opener {
 public:
  Opener(const Secret& key, bool encrypts_bulk);
  Opener(const Opener&) = delete;  // a copy would accept old messages
  Opener& operator=(const Opener&) = delete;

  // Checks a message, which has come with `bulk_bytes` of bulk data. Messages may come out of order, but at most 1023
  // behind the newest; each is accepted once. A refused message changes nothing: the session may go on, though its
  // peer, or somebody between the two, breaks the rules.
  Result<Unsealed> open(std::span<const std::byte> message, uint64_t bulk_bytes);

  // Checks bulk data that have come as they are. `bulk` has as many bytes as the tag says. Requires that the ends do
  // not encrypt bulk data. May be called more than once.
  Status check_bulk(const BulkTag& tag, std::span<const iovec> bulk);
  // Checks bulk data in one piece; and if the ends encrypt bulk data, decrypts them in place, once. Wrong ones become
  // zeros then.
  Status open_bulk(const BulkTag& tag, std::span<std::byte> bulk);

 private:
  Status check_head(const SealHead& head, uint64_t bulk_bytes) const;

  const Secret head_key_;
  BulkCipher bulk_;
  bool encrypts_bulk_;
  ReplayWindow window_;
};

}  // namespace tailrace::impl
