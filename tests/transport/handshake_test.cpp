// The handshake between honest ends, and with everything that can be sent instead of its messages.
#include "transport/secure/handshake.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "secure_rig.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

const ForwardKey kKey = key_of(1);

bool same(const Secret& one, const Secret& other) { return one.bytes == other.bytes; }

// A server that has answered `hello`.
struct Answered {
  explicit Answered(const Bytes& hello, uint64_t seed = 3)
      : server(kKey, {}, terms_of("the server"), random_of(seed)), answer(server.answer(hello).value()) {}
  ServerHandshake server;
  Bytes answer;
};

ClientHandshake client_of(uint64_t seed) { return {kKey, {}, terms_of("the client"), random_of(seed)}; }

Status answer_to(const Bytes& hello) { return ServerHandshake(kKey, {}).answer(hello).status(); }

// The status of the client of meet(kKey) on another answer.
Status finish_with(const Bytes& answer) { return client_of(2).finish(answer).status(); }

// The status of the server of meet(kKey) on another proof.
Status prove_with(const Met& met, const Bytes& proof) { return Answered(met.hello).server.finish(proof).status(); }

TEST(Handshake, GivesBothEndsTheSameKeysAndEachTheTermsOfTheOther) {
  const Met met = meet(kKey);
  EXPECT_TRUE(same(met.client.to_server, met.server.to_server));
  EXPECT_TRUE(same(met.client.to_client, met.server.to_client));
  EXPECT_FALSE(same(met.client.to_client, met.client.to_server));
  EXPECT_EQ(met.client.peer_terms, terms_of("the server"));
  EXPECT_EQ(met.server.peer_terms, terms_of("the client"));
}

TEST(Handshake, TheRigRepeatsItself) {
  const Met met = meet(kKey);
  EXPECT_TRUE(answer_to(met.hello).ok());
  EXPECT_TRUE(finish_with(met.answer).ok());
  EXPECT_TRUE(prove_with(met, met.proof).ok());
}

TEST(Handshake, EverySessionHasItsOwnKeys) {
  ClientHandshake first(kKey, {});
  ClientHandshake second(kKey, {});
  EXPECT_NE(first.hello(), second.hello());
  // With the client's secrets repeated, the server's alone make other keys.
  const Met met = meet(kKey);
  Answered other(met.hello, 77);
  ClientHandshake client = client_of(2);
  const Result<ClientHandshake::Finished> finished = client.finish(other.answer);
  ASSERT_TRUE(finished.ok());
  EXPECT_FALSE(same(finished.value().keys.to_server, met.client.to_server));
  EXPECT_FALSE(same(finished.value().keys.to_client, met.client.to_client));
}

TEST(Handshake, TakesTheHighestVersionThatBothSpeak) {
  struct Case {
    Versions client, server;
    uint16_t version;
  };
  for (const Case& one : {Case{{1, 1}, {1, 1}, 1}, Case{{1, 4}, {2, 3}, 3}, Case{{2, 3}, {1, 4}, 3},
                          Case{{1, 2}, {2, 9}, 2}, Case{{2, 9}, {1, 2}, 2}, Case{{1, 65535}, {7, 65535}, 65535}}) {
    const Met met = meet(kKey, one.client, one.server);
    EXPECT_EQ(met.client.version, one.version);
    EXPECT_EQ(met.server.version, one.version);
  }
}

TEST(Handshake, RangesWithoutACommonVersionAreNamedAtBothEnds) {
  for (const bool client_is_newer : {false, true}) {
    const Versions newer{4, 6};
    const Versions older{2, 3};
    ClientHandshake client(kKey, client_is_newer ? newer : older);
    ServerHandshake server(kKey, client_is_newer ? older : newer);
    const Status refused = server.answer(client.hello()).status();
    expect_refused(refused, EPROTONOSUPPORT, {"4 to 6", "2 to 3"});
    EXPECT_EQ(refused.code(), TAILRACE_UNSUPPORTED);
    const Status told = client.finish(server.refusal()).status();
    expect_refused(told, EPROTONOSUPPORT, {"4 to 6", "2 to 3"});
    EXPECT_NE(message_of(told), message_of(refused)) << "each end names itself";
  }
}

TEST(Handshake, AnotherKeyIsNamedAtBothEnds) {
  const ForwardKey other = key_of(2);
  ClientHandshake client(kKey, {});
  ServerHandshake server(other, {});
  expect_refused(server.answer(client.hello()).status(), EKEYREJECTED,
                 {"other end's key is " + name_of(kKey), "this end's key is " + name_of(other)});
  expect_refused(client.finish(server.refusal()).status(), EKEYREJECTED,
                 {"other end's key is " + name_of(other), "this end's key is " + name_of(kKey)});
}

// Someone who has read the name of the key on the wire, and uses a key of his own.
TEST(Handshake, TheNameOfTheKeyIsNotEnough) {
  ClientHandshake honest(kKey, {});
  ClientHandshake stranger(key_of(2), {});
  Bytes hello = stranger.hello();
  const Bytes right = honest.hello();
  std::copy_n(right.begin() + offsetof(HandshakeHello, key_name), 8,
              hello.begin() + offsetof(HandshakeHello, key_name));
  ServerHandshake server(kKey, {});
  expect_refused(server.answer(hello).status(), EBADMSG, {"hello with a wrong tag"});
  EXPECT_TRUE(server.refusal().empty());

  ServerHandshake false_server(key_of(2), {});
  const Bytes answer = false_server.answer(stranger.hello()).value();
  expect_refused(honest.finish(answer).status(), EBADMSG, {"answer with a wrong tag"});
}

template <class Check>
void expect_every_change_refused(const Bytes& message, Check check) {
  for (size_t at = 0; at < message.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes changed = message;
      changed[at] ^= static_cast<std::byte>(1 << bit);
      const Status status = check(changed);
      ASSERT_FALSE(status.ok()) << "byte " << at << ", bit " << bit;
      ASSERT_TRUE(status.fault().message.starts_with("handshake: ")) << status.fault().message;
    }
  }
}

TEST(Handshake, EveryChangedBitIsRefused) {
  const Met met = meet(kKey);
  expect_every_change_refused(met.hello, answer_to);
  expect_every_change_refused(met.answer, finish_with);
  expect_every_change_refused(met.proof, [&](const Bytes& proof) { return prove_with(met, proof); });
}

TEST(Handshake, EveryChangedBitOfARefusalIsRefused) {
  ServerHandshake server(kKey, {8, 9});
  EXPECT_FALSE(server.answer(client_of(2).hello()).ok());
  const Bytes refusal = server.refusal();
  expect_refused(finish_with(refusal), EPROTONOSUPPORT);
  for (size_t at = 0; at < refusal.size(); ++at) {
    Bytes changed = refusal;
    changed[at] ^= std::byte{1};
    const Status status = finish_with(changed);
    ASSERT_FALSE(status.ok());
    // Only a changed range would mislead.
    EXPECT_EQ(message_of(status).find("speaks versions"), std::string::npos) << at << ": " << message_of(status);
  }
}

TEST(Handshake, EveryOtherLengthIsRefused) {
  const Met met = meet(kKey);
  for (const auto& [message, check] : std::vector<std::pair<Bytes, std::function<Status(const Bytes&)>>>{
           {met.hello, answer_to}, {met.answer, finish_with}, {met.proof, [&](const Bytes& proof) {
                                                                 return prove_with(met, proof);
                                                               }}}) {
    for (size_t size = 0; size <= 2 * message.size(); ++size) {
      if (size == message.size()) continue;
      Bytes other = message;
      other.resize(size);
      expect_refused(check(other), EPROTO, {std::to_string(size) + " bytes", std::to_string(message.size())});
    }
    expect_refused(check(Bytes(1 << 20)), EPROTO);
  }
}

TEST(Handshake, AnOldHelloGetsAnAnswerButNoSession) {
  const Met met = meet(kKey);
  Answered again(met.hello, 99);
  EXPECT_NE(again.answer, met.answer);
  expect_refused(again.server.finish(met.proof).status(), EBADMSG, {"hello was an old one, sent again"});
}

TEST(Handshake, AnOldAnswerIsRefused) {
  const Met met = meet(kKey);
  expect_refused(client_of(50).finish(met.answer).status(), EBADMSG, {"answers another hello"});
  ServerHandshake server(kKey, {8, 9});
  EXPECT_FALSE(server.answer(met.hello).ok());
  expect_refused(client_of(50).finish(server.refusal()).status(), EBADMSG, {"refuses another hello"});
}

TEST(Handshake, OnesOwnMessagesAreRefused) {
  const Met met = meet(kKey);
  expect_refused(finish_with(met.hello), EPROTO, {"found a hello, expected an answer", "come back"});
  expect_refused(prove_with(met, met.answer), EPROTO, {"found an answer, expected a proof", "come back"});
  expect_refused(answer_to(met.answer), EPROTO, {"found an answer, expected a hello", "come back"});
  expect_refused(answer_to(met.proof), EPROTO, {"found a proof, expected a hello"});
  expect_refused(finish_with(met.proof), EPROTO, {"found a proof, expected an answer"});
  expect_refused(prove_with(met, met.hello), EPROTO, {"found a hello, expected a proof"});
}

TEST(Handshake, AMessageBehindTheEndIsRefused) {
  const Met met = meet(kKey);
  ClientHandshake client = client_of(2);
  EXPECT_TRUE(client.finish(met.answer).ok());
  expect_refused(client.finish(met.answer).status(), EPROTO, {"behind its end"});
  Answered answered(met.hello);
  expect_refused(answered.server.answer(met.hello).status(), EPROTO, {"behind its end"});
  EXPECT_TRUE(answered.server.finish(met.proof).ok());
  expect_refused(answered.server.finish(met.proof).status(), EPROTO, {"behind its end"});
  // A wrong message ends a handshake, too: nobody may try again and again.
  ServerHandshake server(kKey, {});
  expect_refused(server.finish(met.proof).status(), EPROTO);
  EXPECT_FALSE(server.answer(met.proof).ok());
  expect_refused(server.answer(met.hello).status(), EPROTO, {"behind its end"});
}

TEST(Handshake, AnotherProgramOrFormatIsNamed) {
  expect_refused(answer_to(bytes_of("GET / HTTP/1.1\r\nHost: io1\r\n\r\n")), EPROTO, {"no handshake of tailrace"});
  Bytes hello = meet(kKey).hello;
  hello[offsetof(HandshakeHead, format)] = std::byte{2};
  expect_refused(answer_to(hello), EPROTONOSUPPORT, {"format 2, expected format 1"});
}

// Someone who has the key but breaks the rules.
TEST(Handshake, AKeyOfSmallOrderAndAWrongRangeAreRefused) {
  const Bytes genuine = meet(kKey).hello;
  const auto forged = [&](size_t at, const Bytes& with) {
    Bytes hello = genuine;
    std::copy(with.begin(), with.end(), hello.begin() + static_cast<std::ptrdiff_t>(at));
    const size_t tag = offsetof(HandshakeHello, tag);
    const Secret right = keyed_hash(subkey_of(kKey, KeyUse::hello), {std::span(hello).first(tag)});
    std::memcpy(hello.data() + tag, right.bytes.data(), right.bytes.size());
    return hello;
  };
  EXPECT_TRUE(answer_to(forged(offsetof(HandshakeHello, terms), bytes_of("others"))).ok());
  expect_refused(answer_to(forged(offsetof(HandshakeHello, public_key), Bytes(32))), EBADMSG, {"X25519"});
  Bytes one(32);
  one[0] = std::byte{1};
  expect_refused(answer_to(forged(offsetof(HandshakeHello, public_key), one)), EBADMSG, {"X25519"});
  expect_refused(answer_to(forged(offsetof(HandshakeHello, lowest), Bytes(2))), EPROTONOSUPPORT, {"0 to 1"});
  expect_refused(answer_to(forged(offsetof(HandshakeHello, lowest), Bytes(2, std::byte{9}))), EPROTONOSUPPORT,
                 {"2313 to 1"});
}

void send_hostile_messages(uint64_t seed) {
  Dice dice(seed);
  const Met met = meet(kKey);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t kind = dice.below(20);  // hellos mostly: they cost least
    const Bytes& genuine = kind == 0 ? met.answer : kind == 1 ? met.proof : met.hello;
    const Bytes& base = dice.chance(10) ? met.answer : genuine;
    const Bytes sent = damaged(dice, base);
    const Status status = kind == 0 ? finish_with(sent) : kind == 1 ? prove_with(met, sent) : answer_to(sent);
    ASSERT_EQ(status.ok(), sent == genuine);
    ASSERT_TRUE(status.ok() || message_of(status).starts_with("handshake: "));
  }
}

TEST(Handshake, FiftyThousandHostileMessagesAreRefused) { for_seeds(50, send_hostile_messages); }

}  // namespace
}  // namespace tailrace::impl
