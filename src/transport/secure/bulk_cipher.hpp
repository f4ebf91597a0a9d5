// BulkCipher: AES-256-GCM over the bulk data of one direction of a session, by libgcrypt.
//
// Bulk data are most of what travels, so their cipher is the fastest on processors with instructions for AES and
// carry-less multiplication: several times as fast as Poly1305. Each message has a number, which is the nonce (GCM
// allows no second use of a nonce; Sealer gives each number out once). Data that travel as they are are covered as
// GCM's associated data (this is GMAC); data that travel encrypted are its plain text. A key serves one of both ways.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "transport/secure/seal_wire.hpp"
#include "transport/secure/secret.hpp"

struct gcry_cipher_handle;

namespace tailrace::impl {

class BulkCipher {
 public:
  using Tag = std::array<unsigned char, kSealTag>;

  explicit BulkCipher(const Secret& key);

  // Returns the tag of data that travel as they are.
  Tag cover(uint64_t sequence, std::span<const iovec> bulk);
  // Encrypts in place, and returns the tag.
  Tag encrypt(uint64_t sequence, std::span<std::byte> bulk);
  // Decrypts in place. Returns false, and leaves zeros, if the tag is not theirs.
  bool decrypt(uint64_t sequence, std::span<std::byte> bulk, const Tag& tag);

 private:
  struct Close {
    void operator()(gcry_cipher_handle* cipher) const;
  };

  void begin(uint64_t sequence);
  Tag end();

  std::unique_ptr<gcry_cipher_handle, Close> cipher_;
};

}  // namespace tailrace::impl
