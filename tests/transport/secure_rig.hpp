// For tests of transport/secure: keys and random bytes that repeat, whole handshakes, and ways to damage a message.
#pragma once

#include <gtest/gtest.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "testing/dice.hpp"
#include "transport/secure/handshake.hpp"
#include "transport/secure/seal.hpp"

namespace tailrace::impl {

using Bytes = std::vector<std::byte>;

inline ForwardKey key_of(unsigned char first) {
  ForwardKey key;
  for (unsigned char& byte : key.secret.bytes) byte = first++;
  return key;
}

inline RandomBytes random_of(uint64_t seed) {
  return [dice = std::make_shared<Dice>(seed)](std::span<std::byte> bytes) {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(dice->below(256));
  };
}

inline Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline Bytes random_bytes(Dice& dice, size_t size) {
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(dice.below(256));
  return bytes;
}

inline Terms terms_of(std::string_view text) {
  Terms terms = {};
  for (size_t i = 0; i < text.size(); ++i) terms[i] = static_cast<std::byte>(text[i]);
  return terms;
}

inline std::string message_of(const Status& status) { return status.ok() ? "" : status.fault().message; }

// Expects a failure with this errno, whose message has each of the words.
inline void expect_refused(const Status& status, int error, std::initializer_list<std::string> words = {}) {
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.fault().system_errno, error) << status.fault().message;
  for (const std::string& word : words) {
    EXPECT_NE(status.fault().message.find(word), std::string::npos) << status.fault().message << "\nlacks " << word;
  }
}

// The messages and both ends' keys of one handshake that succeeds.
struct Met {
  Bytes hello, answer, proof;
  SessionKeys client, server;
};

inline Met meet(const ForwardKey& key, Versions of_client = {}, Versions of_server = {}, uint64_t seed = 1) {
  Met met;
  ClientHandshake client(key, of_client, terms_of("the client"), random_of(2 * seed));
  ServerHandshake server(key, of_server, terms_of("the server"), random_of(2 * seed + 1));
  met.hello = client.hello();
  Result<Bytes> answer = server.answer(met.hello);
  TAILRACE_REQUIRE(answer.ok());
  met.answer = answer.value();
  Result<ClientHandshake::Finished> finished = client.finish(met.answer);
  TAILRACE_REQUIRE(finished.ok());
  met.proof = finished.value().proof;
  met.client = finished.value().keys;
  Result<SessionKeys> keys = server.finish(met.proof);
  TAILRACE_REQUIRE(keys.ok());
  met.server = keys.value();
  return met;
}

// Changes a message at random: bits, bytes, its length, a part from another place; or replaces it. May return the
// same bytes.
inline Bytes damaged(Dice& dice, Bytes bytes) {
  for (uint64_t edits = dice.between(1, 3); edits > 0; --edits) {
    const size_t at = bytes.empty() ? 0 : dice.below(bytes.size());
    switch (dice.below(bytes.empty() ? 1 : 6)) {
      case 0: bytes = random_bytes(dice, dice.below(300)); break;
      case 1: bytes[at] ^= static_cast<std::byte>(1u << dice.below(8)); break;
      case 2: bytes[at] = static_cast<std::byte>(dice.below(256)); break;
      case 3: bytes.resize(at); break;
      case 4: bytes.resize(bytes.size() + dice.between(1, 40)); break;
      default: {
        const size_t from = dice.below(bytes.size());
        const size_t count = std::min(bytes.size() - std::max(at, from), dice.between(1, 32));
        std::memmove(bytes.data() + at, bytes.data() + from, count);
      }
    }
  }
  return bytes;
}

}  // namespace tailrace::impl
