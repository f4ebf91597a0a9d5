// Messages of the handshake. The first byte says which end gets what: the rest of the input as it is, a genuine
// message with changes, or one that somebody with the key has made up. Properties: an end accepts exactly the genuine
// message; whoever has the key gets no further than the rules allow; every refusal gives its reason in one line.
//
// Keys and randomness are those of tests/transport/known_answers.py, so that kept inputs can be genuine.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "target.hpp"
#include "transport/secure/handshake.hpp"

namespace tailrace::fuzz {
namespace {

using namespace impl;  // NOLINT: it is their test
using Bytes = std::vector<std::byte>;

constexpr Versions kOfClient{1, 3};
constexpr Versions kOfServer{2, 5};

RandomBytes counting_from(unsigned first) {
  return [next = first](std::span<std::byte> bytes) mutable {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(next++);
  };
}

Terms terms_of(char letter) {
  Terms terms;
  terms.fill(static_cast<std::byte>(letter));
  return terms;
}

ForwardKey make_key() {
  ForwardKey key;
  counting_from(0x40)(std::as_writable_bytes(std::span(key.secret.bytes)));
  return key;
}

struct Ends {
  ForwardKey key = make_key();
  ClientHandshake client{key, kOfClient, terms_of('c'), counting_from(0x00)};
  ServerHandshake server{key, kOfServer, terms_of('s'), counting_from(0x80)};
};

struct Genuine {
  Genuine() {
    Ends ends;
    hello = ends.client.hello();
    answer = ends.server.answer(hello).value();
    proof = ends.client.finish(answer).value().proof;
    TAILRACE_REQUIRE(ends.server.finish(proof).ok());
  }
  Bytes hello, answer, proof;
};

// Changes bytes: each three of the script are a place and a byte to put there.
Bytes changed(Bytes bytes, std::span<const std::byte> script) {
  for (size_t i = 0; i + 3 <= script.size() && i < 3 * 16; i += 3) {
    const size_t at =
        (std::to_integer<size_t>(script[i]) << 8 | std::to_integer<size_t>(script[i + 1])) % bytes.size();
    bytes[at] = script[i + 2];
  }
  return bytes;
}

// Puts the script behind the head of a message, and the tag that is right for it under the key.
template <class Message>
Bytes forged(const ForwardKey& key, KeyUse use, std::span<const std::byte> hello, Bytes message,
             std::span<const std::byte> script) {
  message.resize(sizeof(Message));
  const size_t tag = offsetof(Message, tag);
  const size_t count = std::min(script.size(), tag - sizeof(HandshakeHead));
  if (count > 0) std::memcpy(message.data() + sizeof(HandshakeHead), script.data(), count);
  const Secret right = keyed_hash(subkey_of(key, use), {hello, std::span<const std::byte>(message).first(tag)});
  std::memcpy(message.data() + tag, right.bytes.data(), right.bytes.size());
  return message;
}

void check(const Status& status, bool is_genuine) {
  TAILRACE_REQUIRE(status.ok() == is_genuine);
  if (!status.ok()) require_readable(status.fault().message);
}

void send_hello(const Genuine& genuine, const Bytes& hello) {
  Ends ends;
  check(ends.server.answer(hello).status(), hello == genuine.hello);
  const Bytes refusal = ends.server.refusal();
  if (!refusal.empty()) check(ends.client.finish(refusal).status(), false);
}

// Somebody with the key may send any terms, nonces and keys; and versions that overlap.
void send_forged_hello(const Genuine& genuine, std::span<const std::byte> script) {
  Ends ends;
  const Bytes bytes = forged<HandshakeHello>(ends.key, KeyUse::hello, {}, genuine.hello, script);
  HandshakeHello hello;
  std::memcpy(&hello, bytes.data(), sizeof hello);
  const bool overlaps = hello.lowest >= 1 && hello.lowest <= hello.highest && hello.highest >= kOfServer.lowest &&
                        hello.lowest <= kOfServer.highest;
  const Result<Bytes> answer = ends.server.answer(bytes);
  if (!answer.ok()) return require_readable(answer.status().fault().message);
  TAILRACE_REQUIRE(overlaps && answer.value().size() == sizeof(HandshakeAnswer));
  check(ends.server.finish(genuine.proof).status(), bytes == genuine.hello);
}

void send_forged_refusal(std::span<const std::byte> script) {
  Ends ends;
  ServerHandshake server(ends.key, {8, 9});
  TAILRACE_REQUIRE(!server.answer(ends.client.hello()).ok());
  const Bytes hello = ends.client.hello();
  check(ends.client.finish(forged<HandshakeRefusal>(ends.key, KeyUse::refusal, hello, server.refusal(), script))
            .status(),
        false);
}

void send_answer(const Genuine& genuine, const Bytes& answer) {
  Ends ends;
  check(ends.client.finish(answer).status(), answer == genuine.answer);
}

void send_proof(const Genuine& genuine, const Bytes& proof) {
  Ends ends;
  TAILRACE_REQUIRE(ends.server.answer(genuine.hello).ok());
  check(ends.server.finish(proof).status(), proof == genuine.proof);
}

void run(unsigned kind, std::span<const std::byte> rest) {
  static const Genuine genuine;
  const Bytes raw(rest.begin(), rest.end());
  switch (kind % 8) {
    case 0: return send_hello(genuine, raw);
    case 1: return send_hello(genuine, changed(genuine.hello, rest));
    case 2: return send_forged_hello(genuine, rest);
    case 3: return send_answer(genuine, raw);
    case 4: return send_answer(genuine, changed(genuine.answer, rest));
    case 5: return send_forged_refusal(rest);
    case 6: return send_proof(genuine, raw);
    default: return send_proof(genuine, changed(genuine.proof, rest));
  }
}

}  // namespace
}  // namespace tailrace::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0) tailrace::fuzz::run(data[0], std::as_bytes(std::span(data + 1, size - 1)));
  return 0;
}
