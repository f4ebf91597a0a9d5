// Secret: 32 bytes that nobody else may learn, such as a key; and the ways to make one from another.
//
// Everything in this folder uses two constructions of libsodium for this: crypto_kdf for a key of its own for each
// use, and keyed BLAKE2b for the secret that both ends of a handshake have in common, and for tags. docs/security.md
// has the tree of all keys. A secret never gets into a message or a log.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
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

// Returns BLAKE2b, keyed with `key`, of all parts, one behind the other. Callers keep the lengths fixed, so that the
// bytes can be cut in one way only.
Secret keyed_hash(const Secret& key, std::initializer_list<std::span<const std::byte>> parts);

// Compares in a time that does not depend on the contents.
bool equal(std::span<const std::byte> one, std::span<const std::byte> other);

inline std::span<const std::byte> bytes_of(const Secret& secret) { return std::as_bytes(std::span(secret.bytes)); }

}  // namespace tailrace::impl
