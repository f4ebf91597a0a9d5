#include "transport/secure/bulk_cipher.hpp"

#include <gcrypt.h>

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

// A program that uses libgcrypt itself may have initialised it already. Keys need no locked memory: they lie in
// ordinary memory all the same, in Secret.
void start_gcrypt() {
  static const bool started = [] {
    if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P) != 0) return true;
    if (gcry_check_version(GCRYPT_VERSION) == nullptr) return false;
    gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    return true;
  }();
  TAILRACE_ASSERT(started);  // the library is at least of the version of its header
}

// No call fails but for want of memory, or where the machine's policy (FIPS) forbids the nonces.
void require(gcry_error_t error) { TAILRACE_ASSERT(error == 0); }

}  // namespace

void BulkCipher::Close::operator()(gcry_cipher_handle* cipher) const { gcry_cipher_close(cipher); }

BulkCipher::BulkCipher(const Secret& key) {
  start_gcrypt();
  gcry_cipher_hd_t cipher = nullptr;
  require(gcry_cipher_open(&cipher, GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_GCM, 0));
  cipher_.reset(cipher);
  require(gcry_cipher_setkey(cipher, key.bytes.data(), key.bytes.size()));
}

// The nonce of 96 bits: four zeros, then the number, little-endian.
void BulkCipher::begin(uint64_t sequence) {
  std::array<unsigned char, 4 + sizeof sequence> nonce = {};
  std::memcpy(nonce.data() + 4, &sequence, sizeof sequence);
  require(gcry_cipher_setiv(cipher_.get(), nonce.data(), nonce.size()));
}

BulkCipher::Tag BulkCipher::end() {
  Tag tag;
  require(gcry_cipher_gettag(cipher_.get(), tag.data(), tag.size()));
  return tag;
}

BulkCipher::Tag BulkCipher::cover(uint64_t sequence, std::span<const iovec> bulk) {
  begin(sequence);
  for (const iovec& segment : bulk) {
    if (segment.iov_len > 0) require(gcry_cipher_authenticate(cipher_.get(), segment.iov_base, segment.iov_len));
  }
  return end();
}

BulkCipher::Tag BulkCipher::encrypt(uint64_t sequence, std::span<std::byte> bulk) {
  begin(sequence);
  if (!bulk.empty()) require(gcry_cipher_encrypt(cipher_.get(), bulk.data(), bulk.size(), nullptr, 0));
  return end();
}

bool BulkCipher::decrypt(uint64_t sequence, std::span<std::byte> bulk, const Tag& tag) {
  begin(sequence);
  if (!bulk.empty()) require(gcry_cipher_decrypt(cipher_.get(), bulk.data(), bulk.size(), nullptr, 0));
  const Tag found = end();
  if (equal(std::as_bytes(std::span(found)), std::as_bytes(std::span(tag)))) return true;
  std::fill(bulk.begin(), bulk.end(), std::byte{});
  return false;
}

}  // namespace tailrace::impl
