// The messages of the handshake between a client and a forwarder: hello → answer → proof, or hello → refusal. Bytes
// that travel between nodes: fixed width, little-endian, versioned. handshake.hpp says what they achieve.
//
// A message is exactly one of these structs. Each ends with a tag, over everything before it and more.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tailrace::impl {

static_assert(std::endian::native == std::endian::little, "the handshake's numbers are little-endian");

inline constexpr uint64_t kHandshakeMagic = 0x65636172'6c696174;  // "tailrace"
inline constexpr uint16_t kHandshakeFormat = 1;  // of these structs; the versions are what they carry

enum class HandshakeKind : uint16_t { hello = 1, answer = 2, proof = 3, refusal = 4 };

struct HandshakeHead {
  uint64_t magic = kHandshakeMagic;
  uint16_t format = kHandshakeFormat;
  HandshakeKind kind = HandshakeKind::hello;
  uint32_t bytes = 0;  // of the whole message
};
static_assert(sizeof(HandshakeHead) == 16);
static_assert(offsetof(HandshakeHead, format) == 8);
static_assert(offsetof(HandshakeHead, kind) == 10);
static_assert(offsetof(HandshakeHead, bytes) == 12);

// client → server
struct HandshakeHello {
  static constexpr HandshakeKind kKind = HandshakeKind::hello;
  HandshakeHead head = {};
  uint16_t lowest = 0;  // the versions that the client speaks
  uint16_t highest = 0;
  uint32_t reserved = 0;
  unsigned char key_name[8] = {};
  unsigned char nonce[32] = {};
  unsigned char public_key[32] = {};  // X25519, of this handshake only
  unsigned char terms[64] = {};       // the caller's
  unsigned char tag[32] = {};         // keyed with the subkey `hello`
};
static_assert(sizeof(HandshakeHello) == 192);
static_assert(offsetof(HandshakeHello, lowest) == 16);
static_assert(offsetof(HandshakeHello, highest) == 18);
static_assert(offsetof(HandshakeHello, key_name) == 24);
static_assert(offsetof(HandshakeHello, nonce) == 32);
static_assert(offsetof(HandshakeHello, public_key) == 64);
static_assert(offsetof(HandshakeHello, terms) == 96);
static_assert(offsetof(HandshakeHello, tag) == 160);
static_assert(std::is_trivially_copyable_v<HandshakeHello>);

// server → client
struct HandshakeAnswer {
  static constexpr HandshakeKind kKind = HandshakeKind::answer;
  HandshakeHead head = {};
  uint16_t lowest = 0;  // the versions that the server speaks
  uint16_t highest = 0;
  uint16_t version = 0;  // the one of this session: the highest that both speak
  uint16_t reserved = 0;
  unsigned char nonce[32] = {};
  unsigned char public_key[32] = {};
  unsigned char terms[64] = {};
  unsigned char tag[32] = {};  // a subkey of the session, which only a holder of the key can know
};
static_assert(sizeof(HandshakeAnswer) == 184);
static_assert(offsetof(HandshakeAnswer, lowest) == 16);
static_assert(offsetof(HandshakeAnswer, highest) == 18);
static_assert(offsetof(HandshakeAnswer, version) == 20);
static_assert(offsetof(HandshakeAnswer, nonce) == 24);
static_assert(offsetof(HandshakeAnswer, public_key) == 56);
static_assert(offsetof(HandshakeAnswer, terms) == 88);
static_assert(offsetof(HandshakeAnswer, tag) == 152);
static_assert(std::is_trivially_copyable_v<HandshakeAnswer>);

// client → server
struct HandshakeProof {
  static constexpr HandshakeKind kKind = HandshakeKind::proof;
  HandshakeHead head = {};
  unsigned char tag[32] = {};  // another subkey of the session
};
static_assert(sizeof(HandshakeProof) == 48);
static_assert(offsetof(HandshakeProof, tag) == 16);
static_assert(std::is_trivially_copyable_v<HandshakeProof>);

// server → client, instead of an answer: for the message that the client's user gets.
struct HandshakeRefusal {
  enum class Reason : uint16_t { key = 1, versions = 2 };
  static constexpr HandshakeKind kKind = HandshakeKind::refusal;
  HandshakeHead head = {};
  Reason reason = Reason::key;
  uint16_t lowest = 0;  // the versions that the server speaks
  uint16_t highest = 0;
  uint16_t reserved = 0;
  unsigned char key_name[8] = {};  // of the server's key
  unsigned char tag[32] = {};      // keyed with the subkey `refusal` of the server's key; covers the hello, too
};
static_assert(sizeof(HandshakeRefusal) == 64);
static_assert(offsetof(HandshakeRefusal, reason) == 16);
static_assert(offsetof(HandshakeRefusal, lowest) == 18);
static_assert(offsetof(HandshakeRefusal, highest) == 20);
static_assert(offsetof(HandshakeRefusal, key_name) == 24);
static_assert(offsetof(HandshakeRefusal, tag) == 32);
static_assert(std::is_trivially_copyable_v<HandshakeRefusal>);

}  // namespace tailrace::impl
