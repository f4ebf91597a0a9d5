// Handshake and seal beside known_answers.py, which computes the same from the description alone: so the bytes on the
// wire are those of docs/security.md, and stay so.
#include <gtest/gtest.h>

#include "known_answers.hpp"
#include "secure_rig.hpp"

namespace tailrace::impl {
namespace {

std::string hex(std::span<const std::byte> bytes) {
  std::string digits;
  for (const std::byte byte : bytes) {
    digits += "0123456789abcdef"[static_cast<unsigned>(byte) / 16];
    digits += "0123456789abcdef"[static_cast<unsigned>(byte) % 16];
  }
  return digits;
}

RandomBytes counting_from(unsigned first) {
  return [next = first](std::span<std::byte> bytes) mutable {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(next++);
  };
}

const ForwardKey kKey = key_of(0x40);
const Terms kClientTerms = terms_of(std::string(64, 'c'));
const Terms kServerTerms = terms_of(std::string(64, 's'));

TEST(KnownAnswer, HandshakeAndSeal) {
  ClientHandshake client(kKey, {1, 3}, kClientTerms, counting_from(0x00));
  ServerHandshake server(kKey, {2, 5}, kServerTerms, counting_from(0x80));
  EXPECT_EQ(hex(client.hello()), known::hello);
  const Result<Bytes> answer = server.answer(client.hello());
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(hex(answer.value()), known::answer);
  const Result<ClientHandshake::Finished> finished = client.finish(answer.value());
  ASSERT_TRUE(finished.ok());
  EXPECT_EQ(hex(finished.value().proof), known::proof);
  const Result<SessionKeys> keys = server.finish(finished.value().proof);
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ(hex(bytes_of(keys.value().to_server)), known::to_server);
  EXPECT_EQ(hex(bytes_of(keys.value().to_client)), known::to_client);

  Bytes bulk(256);
  for (size_t i = 0; i < bulk.size(); ++i) bulk[i] = static_cast<std::byte>(i);
  const std::vector<iovec> parts = {{bulk.data(), 100}, {nullptr, 0}, {bulk.data() + 100, 156}};
  Bytes message;
  Sealer to_server(keys.value().to_server, false);
  ASSERT_TRUE(to_server.seal(bytes_of("a body alone"), {}, message).ok());
  EXPECT_EQ(hex(message), known::message_0);
  ASSERT_TRUE(to_server.seal(bytes_of("a body with bulk data"), parts, message).ok());
  EXPECT_EQ(hex(message), known::message_1);

  Sealer to_client(keys.value().to_client, true);
  Bytes hidden(256);
  ASSERT_TRUE(to_client.seal_hidden({}, parts, hidden, message).ok());
  EXPECT_EQ(hex(message), known::hidden_message);
  EXPECT_EQ(hex(hidden), known::hidden_bulk);
}

TEST(KnownAnswer, NameAndRefusal) {
  const KeyName name = name_bytes(kKey);
  EXPECT_EQ(hex(std::as_bytes(std::span(name))), known::name);
  ClientHandshake client(kKey, {1, 3}, kClientTerms, counting_from(0x00));
  ServerHandshake server(kKey, {8, 9}, kServerTerms, counting_from(0x80));
  EXPECT_FALSE(server.answer(client.hello()).ok());
  EXPECT_EQ(hex(server.refusal()), known::refusal);
}

}  // namespace
}  // namespace tailrace::impl
