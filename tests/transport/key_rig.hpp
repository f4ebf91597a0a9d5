// For tests of transport/key: keys and random bytes that repeat.
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
#include "transport/key/forward_key.hpp"
#include "transport/key/random_bytes.hpp"

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

inline std::string message_of(const Status& status) { return status.ok() ? "" : status.fault().message; }

// Expects a failure with this errno, whose message has each of the words.
inline void expect_refused(const Status& status, int error, std::initializer_list<std::string> words = {}) {
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.fault().system_errno, error) << status.fault().message;
  for (const std::string& word : words) {
    EXPECT_NE(status.fault().message.find(word), std::string::npos) << status.fault().message << "\nlacks " << word;
  }
}

}  // namespace tailrace::impl
