// TLS 1.3 with an external pre-shared key (RFC 8446), by OpenSSL. A holder of the key may connect, and may listen;
// there are no certificates. The key's identity is its name, which is public.
//
// A fresh X25519 key of each end goes into every session, so that a key that is stolen later opens no recorded one.
// The ciphers are AES-128-GCM, and ChaCha20-Poly1305 for processors without instructions for AES.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "transport/transport_module.hpp"

namespace tailrace::impl {

// Tls: the keys and settings that all connections of a transport have in common.
class Tls {
 public:
  // The first key is the one that this end calls with; as a listener it takes any of them. At least one.
  static Result<std::unique_ptr<Tls>> create(std::vector<PreSharedKey> keys);

  SSL_CTX* get() const { return context_.get(); }
  const std::vector<PreSharedKey>& keys() const { return keys_; }

 private:
  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  explicit Tls(std::vector<PreSharedKey> keys) : keys_(std::move(keys)) {}

  std::vector<PreSharedKey> keys_;
  std::unique_ptr<SSL_CTX, Free> context_;
};

// One connection: bytes in order, both ways. Never waits: whatever cannot go on is tried again when the socket has
// something to read or room to write.
class TlsStream {
 public:
  static constexpr size_t kMostWaiting = size_t{256} << 10;  // encrypted bytes that wait for the socket

  // Borrows the socket, which does not block. `calls`: this end has connected; `further`: as a further connection of
  // a peer (kFurtherProtocol).
  TlsStream(std::shared_ptr<const Tls> tls, int socket, bool calls, bool further = false);
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // Moves the handshake on. Returns true when it has ended: then the other end has shown that it has the key.
  Result<bool> shake_hands();
  // Requires that the handshake has ended, as the next two. Returns how many bytes it has read; 0: there are none
  // now.
  Result<size_t> read(std::span<std::byte> into);
  // Encrypts as many of the bytes as there is room for; returns how many.
  Result<size_t> write(std::span<const std::byte> bytes);
  // Gives the socket what waits. Returns true if nothing waits any more.
  Result<bool> flush();
  // Returns true if the ends have agreed that this is a further connection of a peer; in the handshake, if the
  // listener has read so.
  bool is_further() const;
  // Returns true if the other end has told that no more will come, and a read has found that.
  bool is_left() const { return is_left_; }
  // Tells the other end that no more will come. May be called at any time.
  void say_goodbye();

 private:
  friend class Tls;
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  static int read_socket(BIO* bio, char* into, size_t size, size_t* done);
  static int write_socket(BIO* bio, const char* from, size_t size, size_t* done);
  static long control_socket(BIO* bio, int command, long, void*);
  static BIO_METHOD* socket_method();
  static int use_session(SSL* ssl, const EVP_MD* hash, const unsigned char** identity, size_t* length,
                         SSL_SESSION** session);
  static int find_session(SSL* ssl, const unsigned char* identity, size_t length, SSL_SESSION** session);
  Status failure(int result);
  std::string reason_of_alert() const;

  const std::shared_ptr<const Tls> tls_;
  const int socket_;
  const bool calls_;
  std::unique_ptr<SSL, Free> ssl_;
  std::vector<std::byte> waiting_;  // encrypted bytes; those from sent_ on wait for the socket
  size_t sent_ = 0;
  int error_ = 0;            // errno of the socket
  bool ended_ = false;       // the other end has closed
  bool is_left_ = false;     // it has said before that it would
  std::string unknown_key_;  // a listener: the identity of the caller's key, if it is none of ours
};

}  // namespace tailrace::impl
