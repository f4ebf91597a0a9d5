// Secret: 32 bytes that must stay secret, such as a key; and the way to make one from another (libsodium's
// crypto_kdf). A secret never gets into a message or a log.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tailrace::impl {

struct Secret {
  Secret() = default;
  Secret(const Secret&) = default;  // a move is a copy: each object wipes its own bytes
  Secret& operator=(const Secret&) = default;
  ~Secret();

  std::array<unsigned char, 32> bytes = {};
};

// Prepares libsodium, and lets it choose the fastest code for this processor. Every entry to this folder calls it;
// only the first call does anything. Any thread.
void start_sodium();

// Returns the subkey `number` of `key`. `context` has eight letters, which differ for every key with subkeys.
Secret derive(const Secret& key, uint64_t number, const char (&context)[9]);

inline std::span<const std::byte> bytes_of(const Secret& secret) { return std::as_bytes(std::span(secret.bytes)); }

}  // namespace tailrace::impl
