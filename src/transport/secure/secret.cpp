#include "transport/secure/secret.hpp"

#include <sodium.h>

#include "base/assert.hpp"

namespace tailrace::impl {

static_assert(sizeof(Secret) == crypto_kdf_KEYBYTES);
static_assert(sizeof(Secret) == crypto_generichash_BYTES && sizeof(Secret) == crypto_generichash_KEYBYTES);

Secret::~Secret() { sodium_memzero(bytes.data(), bytes.size()); }

void start_sodium() {
  const int started = sodium_init();  // 1: it was started before
  TAILRACE_ASSERT(started >= 0);
}

Secret derive(const Secret& key, uint64_t number, const char (&context)[9]) {
  static_assert(crypto_kdf_CONTEXTBYTES == sizeof context - 1);
  Secret subkey;
  crypto_kdf_derive_from_key(subkey.bytes.data(), subkey.bytes.size(), number, context, key.bytes.data());
  return subkey;
}

Secret keyed_hash(const Secret& key, std::initializer_list<std::span<const std::byte>> parts) {
  Secret hash;
  crypto_generichash_state state;
  crypto_generichash_init(&state, key.bytes.data(), key.bytes.size(), hash.bytes.size());
  for (const std::span<const std::byte> part : parts) {
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(part.data()), part.size());
  }
  crypto_generichash_final(&state, hash.bytes.data(), hash.bytes.size());
  sodium_memzero(&state, sizeof state);
  return hash;
}

bool equal(std::span<const std::byte> one, std::span<const std::byte> other) {
  return one.size() == other.size() && sodium_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace tailrace::impl
