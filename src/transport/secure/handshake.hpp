// The handshake, by which a client and a forwarder (server) show each other that they have the same key, agree on a
// version, and get fresh keys for one session. Pure computation: the caller moves the messages.
//
//   client                                                  server
//     hello   versions, nonce, X25519 key, terms, tag   →     answer()
//     finish()   ← versions, nonce, X25519 key, terms, tag    (answer)
//     proof   tag                                       →     finish()
//
// The session's secret is BLAKE2b, keyed with a subkey of the ForwardKey, of crypto_kx's shared keys and of every
// byte of hello and answer. The tags of answer and proof, and the keys of both directions, are subkeys of it. So who
// lacks the key cannot make any message; a changed byte, or an old message sent again, makes different secrets at the
// two ends; and who steals the key later cannot read the session, because the X25519 keys are gone.
//
// A server computes no X25519 before the hello's size and tag are right, and keeps nothing of a hello but 200 bytes
// until the proof is there. Terms travel unencrypted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "transport/secure/forward_key.hpp"
#include "transport/secure/handshake_wire.hpp"
#include "transport/secure/random_bytes.hpp"
#include "transport/secure/secret.hpp"

namespace tailrace::impl {

// The versions of the caller's messages that an end speaks: 1 ≤ lowest ≤ highest.
struct Versions {
  uint16_t lowest = 1;
  uint16_t highest = 1;
};

// Facts that an end tells the other one, such as its name and its limits. The handshake does not read them.
using Terms = std::array<std::byte, 64>;

struct SessionKeys {
  uint16_t version = 0;  // the highest that both ends speak
  Secret to_server;      // for Sealer of the client and Opener of the server
  Secret to_client;
  Terms peer_terms = {};
};

// The client's side of one handshake.
class ClientHandshake {
 public:
  struct Finished {
    std::vector<std::byte> proof;  // to be sent before anything else
    SessionKeys keys;
  };

  ClientHandshake(const ForwardKey& key, Versions versions, const Terms& terms = {},
                  const RandomBytes& random = system_random());
  ClientHandshake(const ClientHandshake&) = delete;  // two sessions must never have the same keys
  ClientHandshake& operator=(const ClientHandshake&) = delete;

  std::vector<std::byte> hello() const;
  // Takes the server's answer, or its refusal, which becomes a failure that says why. Ends the handshake.
  Result<Finished> finish(std::span<const std::byte> answer);

 private:
  Status refused(std::span<const std::byte> bytes) const;

  ForwardKey key_;
  Versions versions_;
  Secret secret_key_;
  HandshakeHello hello_;
  bool has_ended_ = false;
};

// The server's side of one handshake.
class ServerHandshake {
 public:
  ServerHandshake(const ForwardKey& key, Versions versions, const Terms& terms = {},
                  const RandomBytes& random = system_random());
  ServerHandshake(const ServerHandshake&) = delete;
  ServerHandshake& operator=(const ServerHandshake&) = delete;

  // Takes the hello, once. It may be an old one, sent again by somebody: only the proof shows that the client is
  // there.
  Result<std::vector<std::byte>> answer(std::span<const std::byte> hello);
  // If answer() has failed since the two ends have different keys or versions: the message that tells the client so.
  // Else empty.
  const std::vector<std::byte>& refusal() const { return refusal_; }
  // Takes the proof, once, after answer() has succeeded.
  Result<SessionKeys> finish(std::span<const std::byte> proof);

 private:
  enum class State : uint8_t { waits_for_hello, waits_for_proof, ended };

  Status check(const HandshakeHello& hello);
  void refuse(const HandshakeHello& hello, HandshakeRefusal::Reason reason);

  ForwardKey key_;
  Versions versions_;
  Terms terms_;
  RandomBytes random_;
  State state_ = State::waits_for_hello;
  std::vector<std::byte> refusal_;
  Secret session_;
  uint16_t version_ = 0;
  Terms peer_terms_ = {};
};

}  // namespace tailrace::impl
