// Fixtures of the session's tests: a small configuration, and blocks whose bytes identify them.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "testing/sample_config.hpp"
#include "testing/scratch.hpp"
#include "testing/session_rig.hpp"

namespace tailrace::impl {

// Returns a configuration with variables a and b of a page each, and c of 100 bytes; the budget holds `pages` pages.
inline Config small_config(uint64_t pages, std::vector<std::string> paths = {"out"}) {
  Config config = sample_config(
      std::move(paths),
      {{"a", ElementType::float32, {32, 32}}, {"b", ElementType::int64, {512}}, {"c", ElementType::uint8, {100}}});
  config.memory.budget = 4096 * pages;
  return config;
}

inline std::vector<std::byte> block(uint64_t bytes, uint64_t number) {
  std::vector<std::byte> block(bytes);
  for (uint64_t i = 0; i < bytes; ++i) block[i] = static_cast<std::byte>((number * 37 + i + i / 200) & 0x3f);
  return block;
}

inline std::vector<std::byte> page(uint64_t number) { return block(4096, number); }

// Returns the code and the message of a status, for comparison and for messages.
inline std::string said(const Status& status) {
  return status.ok() ? "ok" : std::to_string(status.code()) + ": " + status.fault().message;
}

#define EXPECT_OK(expression) EXPECT_EQ(said(expression), "ok")
#define ASSERT_OK(expression) ASSERT_EQ(said(expression), "ok")

}  // namespace tailrace::impl
