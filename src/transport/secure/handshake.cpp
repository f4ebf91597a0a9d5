#include "transport/secure/handshake.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

namespace tailrace::impl {
namespace {

static_assert(crypto_kx_PUBLICKEYBYTES == sizeof HandshakeHello::public_key);
static_assert(crypto_kx_SECRETKEYBYTES == sizeof(Secret) && crypto_kx_SEEDBYTES == sizeof(Secret));
static_assert(crypto_kx_SESSIONKEYBYTES == sizeof(Secret));

// The subkeys of a session's secret.
enum class SessionUse : uint64_t { answer = 1, proof = 2, to_server = 3, to_client = 4 };

Secret subkey_of(const Secret& session, SessionUse use) {
  return derive(session, static_cast<uint64_t>(use), "tr.sess1");
}

const char* name_of(HandshakeKind kind) {
  switch (kind) {
    case HandshakeKind::hello: return "a hello";
    case HandshakeKind::answer: return "an answer";
    case HandshakeKind::proof: return "a proof";
    case HandshakeKind::refusal: return "a refusal";
  }
  return "a message of unknown kind";
}

Status fail(int error, const std::string& message) {
  Fault fault;
  fault.code = error == EPROTONOSUPPORT ? TAILRACE_UNSUPPORTED : TAILRACE_IO_ERROR;
  fault.operation = "handshake";
  fault.system_errno = error;
  fault.message = "handshake: " + message;
  return Status(std::move(fault));
}

Status other_key(const KeyName& theirs, const KeyName& ours) {
  return fail(EKEYREJECTED,
              fmt::format("the other end's key is {}, this end's key is {}; expected the same key at both",
                          text_of(theirs), text_of(ours)));
}

Status no_common_version(Versions theirs, Versions ours) {
  return fail(EPROTONOSUPPORT, fmt::format("the other end speaks versions {} to {}, this end {} to {}; expected one "
                                           "that both speak",
                                           theirs.lowest, theirs.highest, ours.lowest, ours.highest));
}

Status has_ended() { return fail(EPROTO, "found a message behind its end"); }

bool is_range(Versions versions) { return versions.lowest >= 1 && versions.lowest <= versions.highest; }

// Returns the highest version that both speak; 0 if there is none.
uint16_t common_version(Versions one, Versions other) {
  if (!is_range(one) || !is_range(other)) return 0;
  const uint16_t highest = std::min(one.highest, other.highest);
  return highest >= std::max(one.lowest, other.lowest) ? highest : uint16_t{0};
}

template <class Message>
std::span<const std::byte> bytes_of(const Message& message) {
  return std::as_bytes(std::span(&message, 1));
}

// Returns the bytes before the tag, which is the last of every message.
template <class Message>
std::span<const std::byte> untagged(const Message& message) {
  static_assert(offsetof(Message, tag) + sizeof message.tag == sizeof message);
  return bytes_of(message).first(offsetof(Message, tag));
}

template <class Message>
std::span<const std::byte> tag_of(const Message& message) {
  return std::as_bytes(std::span(message.tag));
}

template <class Message>
void put_tag(Message& message, const Secret& tag) {
  static_assert(sizeof message.tag == sizeof tag);
  std::copy(tag.bytes.begin(), tag.bytes.end(), message.tag);
}

template <class Message>
Message message_of(Versions versions) {
  Message message;
  message.head.kind = Message::kKind;
  message.head.bytes = sizeof message;
  message.lowest = versions.lowest;
  message.highest = versions.highest;
  return message;
}

std::vector<std::byte> vector_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

// Returns why the bytes are no message of this kind. `own` is the kind that this end sends at this point.
Status check_head(std::span<const std::byte> bytes, HandshakeKind kind, size_t size, HandshakeKind own) {
  HandshakeHead head;
  if (bytes.size() < sizeof head) {
    return fail(EPROTO, fmt::format("found {} bytes, expected {} of {} bytes", bytes.size(), name_of(kind), size));
  }
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.magic != kHandshakeMagic) {
    return fail(EPROTO, fmt::format("found bytes that are no handshake of tailrace, expected {}", name_of(kind)));
  }
  if (head.format != kHandshakeFormat) {
    return fail(EPROTONOSUPPORT,
                fmt::format("found messages of format {}, expected format {}", head.format, kHandshakeFormat));
  }
  if (head.kind != kind) {
    return fail(EPROTO, fmt::format("found {}, expected {}{}", name_of(head.kind), name_of(kind),
                                    head.kind == own ? ": messages of this end come back to it" : ""));
  }
  if (bytes.size() != size || head.bytes != size) {
    return fail(EPROTO, fmt::format("found {} of {} bytes that says it has {}, expected {}", name_of(kind),
                                    bytes.size(), head.bytes, size));
  }
  return {};
}

template <class Message>
Result<Message> read_message(std::span<const std::byte> bytes, HandshakeKind own) {
  if (Status status = check_head(bytes, Message::kKind, sizeof(Message), own); !status.ok()) return status;
  Message message;
  std::memcpy(&message, bytes.data(), sizeof message);
  return message;
}

Secret make_secret(const RandomBytes& random) {
  Secret secret;
  random(std::as_writable_bytes(std::span(secret.bytes)));
  return secret;
}

// Fills in nonce and public key of a message; returns the secret key.
template <class Message>
Secret make_exchange(const RandomBytes& random, Message& message) {
  random(std::as_writable_bytes(std::span(message.nonce)));
  Secret secret;
  crypto_kx_seed_keypair(message.public_key, secret.bytes.data(), make_secret(random).bytes.data());
  return secret;
}

// The keys that crypto_kx computes from one end's secret key and the other end's public key.
struct SharedKeys {
  Secret to_server;
  Secret to_client;
};

// Returns the session's secret. `answer` lacks nothing but its tag.
Secret session_of(const ForwardKey& key, const SharedKeys& shared, const HandshakeHello& hello,
                  const HandshakeAnswer& answer) {
  return keyed_hash(subkey_of(key, KeyUse::transcript),
                    {bytes_of(shared.to_server), bytes_of(shared.to_client), bytes_of(hello), untagged(answer)});
}

SessionKeys keys_of(const Secret& session, uint16_t version, const Terms& peer_terms) {
  return {version, subkey_of(session, SessionUse::to_server), subkey_of(session, SessionUse::to_client), peer_terms};
}

template <class Message>
Terms terms_of(const Message& message) {
  static_assert(sizeof(Terms) == sizeof message.terms);
  Terms terms;
  std::memcpy(terms.data(), message.terms, sizeof message.terms);
  return terms;
}

KeyName key_name_in(const unsigned char (&bytes)[sizeof(KeyName)]) {
  KeyName name;
  std::copy(std::begin(bytes), std::end(bytes), name.begin());
  return name;
}

}  // namespace

ClientHandshake::ClientHandshake(const ForwardKey& key, Versions versions, const Terms& terms,
                                 const RandomBytes& random)
    : key_(key), versions_(versions), hello_(message_of<HandshakeHello>(versions)) {
  TAILRACE_REQUIRE(is_range(versions));
  start_sodium();
  const KeyName name = name_bytes(key);
  std::copy(name.begin(), name.end(), hello_.key_name);
  std::memcpy(hello_.terms, terms.data(), sizeof hello_.terms);
  secret_key_ = make_exchange(random, hello_);
  put_tag(hello_, keyed_hash(subkey_of(key_, KeyUse::hello), {untagged(hello_)}));
}

std::vector<std::byte> ClientHandshake::hello() const { return vector_of(bytes_of(hello_)); }

// A refusal of another key is believed without a tag: who can send it could as well cut the connection.
Status ClientHandshake::refused(std::span<const std::byte> bytes) const {
  const Result<HandshakeRefusal> read = read_message<HandshakeRefusal>(bytes, HandshakeKind::hello);
  if (!read.ok()) return read.status();
  const HandshakeRefusal& refusal = read.value();
  const KeyName theirs = key_name_in(refusal.key_name);
  if (theirs != name_bytes(key_)) return other_key(theirs, name_bytes(key_));
  const Secret tag = keyed_hash(subkey_of(key_, KeyUse::refusal), {bytes_of(hello_), untagged(refusal)});
  if (!equal(bytes_of(tag), tag_of(refusal))) {
    return fail(EBADMSG,
                "found a refusal with a wrong tag: a byte was changed on the way, or it refuses another hello");
  }
  const Versions versions{refusal.lowest, refusal.highest};
  if (refusal.reason == HandshakeRefusal::Reason::versions) return no_common_version(versions, versions_);
  return fail(EPROTO,
              fmt::format("the server refuses, for the unknown reason {}", static_cast<unsigned>(refusal.reason)));
}

Result<ClientHandshake::Finished> ClientHandshake::finish(std::span<const std::byte> bytes) {
  if (has_ended_) return has_ended();
  has_ended_ = true;
  const Secret own = std::exchange(secret_key_, {});
  if (check_head(bytes, HandshakeKind::refusal, sizeof(HandshakeRefusal), HandshakeKind::hello).ok())
    return refused(bytes);
  const Result<HandshakeAnswer> read = read_message<HandshakeAnswer>(bytes, HandshakeKind::hello);
  if (!read.ok()) return read.status();
  const HandshakeAnswer& answer = read.value();
  SharedKeys shared;
  if (crypto_kx_client_session_keys(shared.to_client.bytes.data(), shared.to_server.bytes.data(), hello_.public_key,
                                    own.bytes.data(), answer.public_key) != 0) {
    return fail(EBADMSG, "found an answer whose X25519 key is none");
  }
  const Secret session = session_of(key_, shared, hello_, answer);
  if (!equal(bytes_of(subkey_of(session, SessionUse::answer)), tag_of(answer))) {
    return fail(EBADMSG,
                "found an answer with a wrong tag: a byte was changed on the way, it answers another hello, "
                "or the other end lacks the key");
  }
  const Versions theirs{answer.lowest, answer.highest};
  const uint16_t version = common_version(theirs, versions_);
  if (version == 0 || answer.version != version) return no_common_version(theirs, versions_);
  HandshakeProof proof;
  proof.head.kind = HandshakeKind::proof;
  proof.head.bytes = sizeof proof;
  put_tag(proof, subkey_of(session, SessionUse::proof));
  return Finished{vector_of(bytes_of(proof)), keys_of(session, version, terms_of(answer))};
}

ServerHandshake::ServerHandshake(const ForwardKey& key, Versions versions, const Terms& terms,
                                 const RandomBytes& random)
    : key_(key), versions_(versions), terms_(terms), random_(random) {
  TAILRACE_REQUIRE(is_range(versions));
  start_sodium();
}

void ServerHandshake::refuse(const HandshakeHello& hello, HandshakeRefusal::Reason reason) {
  HandshakeRefusal refusal = message_of<HandshakeRefusal>(versions_);
  refusal.reason = reason;
  const KeyName name = name_bytes(key_);
  std::copy(name.begin(), name.end(), refusal.key_name);
  put_tag(refusal, keyed_hash(subkey_of(key_, KeyUse::refusal), {bytes_of(hello), untagged(refusal)}));
  refusal_ = vector_of(bytes_of(refusal));
}

// Returns why the hello is refused, and makes the refusal.
Status ServerHandshake::check(const HandshakeHello& hello) {
  const KeyName theirs = key_name_in(hello.key_name);
  if (theirs != name_bytes(key_)) {
    refuse(hello, HandshakeRefusal::Reason::key);
    return other_key(theirs, name_bytes(key_));
  }
  const Secret tag = keyed_hash(subkey_of(key_, KeyUse::hello), {untagged(hello)});
  if (!equal(bytes_of(tag), tag_of(hello))) {
    return fail(EBADMSG,
                "found a hello with a wrong tag: a byte was changed on the way, or the other end lacks the key");
  }
  const Versions versions{hello.lowest, hello.highest};
  version_ = common_version(versions, versions_);
  if (version_ != 0) return {};
  refuse(hello, HandshakeRefusal::Reason::versions);
  return no_common_version(versions, versions_);
}

Result<std::vector<std::byte>> ServerHandshake::answer(std::span<const std::byte> bytes) {
  if (state_ != State::waits_for_hello) return has_ended();
  state_ = State::ended;
  const Result<HandshakeHello> read = read_message<HandshakeHello>(bytes, HandshakeKind::answer);
  if (!read.ok()) return read.status();
  const HandshakeHello& hello = read.value();
  if (Status status = check(hello); !status.ok()) return status;
  HandshakeAnswer answer = message_of<HandshakeAnswer>(versions_);
  answer.version = version_;
  std::memcpy(answer.terms, terms_.data(), sizeof answer.terms);
  const Secret own = make_exchange(random_, answer);
  SharedKeys shared;
  if (crypto_kx_server_session_keys(shared.to_server.bytes.data(), shared.to_client.bytes.data(), answer.public_key,
                                    own.bytes.data(), hello.public_key) != 0) {
    return fail(EBADMSG, "found a hello whose X25519 key is none");
  }
  session_ = session_of(key_, shared, hello, answer);
  put_tag(answer, subkey_of(session_, SessionUse::answer));
  peer_terms_ = terms_of(hello);
  state_ = State::waits_for_proof;
  return vector_of(bytes_of(answer));
}

Result<SessionKeys> ServerHandshake::finish(std::span<const std::byte> bytes) {
  if (state_ != State::waits_for_proof) return has_ended();
  state_ = State::ended;
  const Secret session = std::exchange(session_, {});
  const Result<HandshakeProof> read = read_message<HandshakeProof>(bytes, HandshakeKind::answer);
  if (!read.ok()) return read.status();
  if (!equal(bytes_of(subkey_of(session, SessionUse::proof)), tag_of(read.value()))) {
    return fail(EBADMSG,
                "found a proof of another handshake: the hello was an old one, sent again, or a byte was "
                "changed on the way");
  }
  return keys_of(session, version_, peer_terms_);
}

}  // namespace tailrace::impl
