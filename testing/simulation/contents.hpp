// Contents: the bytes of a block, generated from a number, so that a model need not store them.
//
// Two numbers give different bytes everywhere, except by chance; 0 stands for bytes that were never written, zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "testing/simulation/split_dice.hpp"

namespace tailrace::impl::simulation {

using Content = uint64_t;

// Returns bytes [from, from + 8) of `content`; `from` is a multiple of 8.
inline uint64_t word_of(Content content, uint64_t from) {
  return content == 0 ? 0 : (content * 0x9e3779b97f4a7c15u + from) * 0xd1342543de82ef95u ^ content << 7;
}

inline std::byte byte_of(Content content, uint64_t at) {
  return static_cast<std::byte>(word_of(content, at / 8 * 8) >> at % 8 * 8);
}

inline void fill(std::byte* memory, uint64_t bytes, Content content) {
  for (uint64_t at = 0; at < bytes; at += 8) {
    const uint64_t word = word_of(content, at);
    std::memcpy(memory + at, &word, bytes - at < 8 ? bytes - at : 8);
  }
}

// Returns the offset of the first wrong byte, or nothing.
inline std::optional<uint64_t> first_difference(const std::byte* memory, uint64_t bytes, Content content) {
  for (uint64_t at = 0; at < bytes; at += 8) {
    const uint64_t word = word_of(content, at);
    const uint64_t some = bytes - at < 8 ? bytes - at : 8;
    if (std::memcmp(memory + at, &word, some) == 0) continue;
    for (uint64_t i = 0; i < some; ++i) {
      if (memory[at + i] != byte_of(content, at + i)) return at + i;
    }
  }
  return std::nullopt;
}

}  // namespace tailrace::impl::simulation
