#include "transport/key/secret.hpp"

#include <sodium.h>

#include "base/assert.hpp"

namespace tailrace::impl {

static_assert(sizeof(Secret) == crypto_kdf_KEYBYTES);

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

}  // namespace tailrace::impl
