#include "transport/tcp/tls.hpp"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "transport/tcp/frame_wire.hpp"

namespace tailrace::impl {
namespace {

// Returns true if the listener's last alert is one of those by which it says that it does not know the caller's key.
bool is_another_key() {
  switch (ERR_GET_REASON(ERR_peek_last_error())) {
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
    case SSL_R_TLSV1_ALERT_UNKNOWN_PSK_IDENTITY:
    case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
    case SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER: return true;
    default: return false;
  }
}

constexpr std::array<unsigned char, 2> kCipher{0x13, 0x01};  // TLS_AES_128_GCM_SHA256: its hash is that of the key
constexpr const char* kCiphers = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256";
constexpr size_t kRecord = 16384;        // bytes of a TLS record
constexpr size_t kRoomOfRecord = 17408;  // bytes that it may take, encrypted
constexpr size_t kReadAhead = size_t{64} << 10;

std::string last_error_of_openssl() {
  std::array<char, 256> text{};
  const unsigned long code = ERR_peek_last_error();
  if (code == 0) return "no reason given";
  if (const char* reason = ERR_reason_error_string(code)) return reason;
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

Status no_tls(const char* step) {
  return Status(TAILRACE_UNSUPPORTED,
                fmt::format("TLS 1.3 cannot be used here: {} failed: {}", step, last_error_of_openssl()));
}

// The names of the protocols, each behind its length, as ALPN has them: of both, or of one.
std::string protocols(bool first, bool further) {
  std::string names;
  for (const std::string_view name : {first ? kProtocol : "", further ? kFurtherProtocol : ""}) {
    if (!name.empty()) names += static_cast<char>(name.size()) + std::string(name);
  }
  return names;
}

const unsigned char* unsigned_bytes(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                    unsigned in_size, void*) {
  static const std::string own = protocols(true, true);
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, unsigned_bytes(own), static_cast<unsigned>(own.size()), in, in_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

SSL_SESSION* session_of(SSL* ssl, const PreSharedKey& key) {
  const SSL_CIPHER* const cipher = SSL_CIPHER_find(ssl, kCipher.data());
  SSL_SESSION* const session = SSL_SESSION_new();
  if (session != nullptr && cipher != nullptr &&
      SSL_SESSION_set1_master_key(session, key.secret.data(), key.secret.size()) == 1 &&
      SSL_SESSION_set_cipher(session, cipher) == 1 &&
      SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1) {
    return session;
  }
  SSL_SESSION_free(session);
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<Tls>> Tls::create(std::vector<PreSharedKey> keys) {
  TAILRACE_REQUIRE(!keys.empty());
  std::unique_ptr<Tls> made(new Tls(std::move(keys)));
  ERR_clear_error();
  made->context_.reset(SSL_CTX_new(TLS_method()));
  SSL_CTX* const context = made->context_.get();
  if (context == nullptr) return no_tls("SSL_CTX_new");
  if (SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1) return no_tls("SSL_CTX_set_min_proto_version");
  if (SSL_CTX_set_ciphersuites(context, kCiphers) != 1) return no_tls("SSL_CTX_set_ciphersuites");
  if (SSL_CTX_set1_groups_list(context, "X25519") != 1) return no_tls("SSL_CTX_set1_groups_list");
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context,
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, kReadAhead);
  SSL_CTX_set_psk_use_session_callback(context, &TlsStream::use_session);
  SSL_CTX_set_psk_find_session_callback(context, &TlsStream::find_session);
  SSL_CTX_set_alpn_select_cb(context, &choose_protocol, nullptr);
  return made;
}

TlsStream::TlsStream(std::shared_ptr<const Tls> tls, int socket, bool calls, bool further)
    : tls_(std::move(tls)), socket_(socket), calls_(calls), ssl_(SSL_new(tls_->get())) {
  BIO* const bio = BIO_new(socket_method());
  TAILRACE_REQUIRE(ssl_ != nullptr && bio != nullptr);
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_app_data(ssl_.get(), this);
  if (calls) {
    const std::string own = protocols(!further, further);
    TAILRACE_REQUIRE(SSL_set_alpn_protos(ssl_.get(), unsigned_bytes(own), static_cast<unsigned>(own.size())) == 0);
    SSL_set_connect_state(ssl_.get());
    SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, nullptr);  // a certificate instead of the key is refused
  } else {
    SSL_set_accept_state(ssl_.get());
  }
}

// ---- keys --------------------------------------------------------------------------------------------------------

// OpenSSL asks again, with the hash of the cipher, if the listener wants another hello.
int TlsStream::use_session(SSL* ssl, const EVP_MD* hash, const unsigned char** identity, size_t* length,
                           SSL_SESSION** session) {
  const PreSharedKey& key = static_cast<const TlsStream*>(SSL_get_app_data(ssl))->tls_->keys().front();
  *session = nullptr;
  if (hash != nullptr && EVP_MD_get_type(hash) != NID_sha256) return 1;
  *session = session_of(ssl, key);
  *identity = reinterpret_cast<const unsigned char*>(key.identity.data());
  *length = key.identity.size();
  return *session != nullptr ? 1 : 0;
}

int TlsStream::find_session(SSL* ssl, const unsigned char* identity, size_t length, SSL_SESSION** session) {
  auto* const stream = static_cast<TlsStream*>(SSL_get_app_data(ssl));
  const std::string name(reinterpret_cast<const char*>(identity), length);
  *session = nullptr;
  for (const PreSharedKey& key : stream->tls_->keys()) {
    if (key.identity != name) continue;
    *session = session_of(ssl, key);
    return *session != nullptr ? 1 : 0;
  }
  // A stranger has chosen it, and it gets into the log.
  constexpr std::string_view kDigits = "0123456789abcdef-";
  const bool is_name = length < 40 && name.find_first_not_of(kDigits) == std::string::npos;
  stream->unknown_key_ = is_name ? name : "of a name that no key has";
  return 1;
}

// ---- the handshake -----------------------------------------------------------------------------------------------

Result<bool> TlsStream::shake_hands() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result != 1) {
    const int why = SSL_get_error(ssl_.get(), result);
    const Status failed = why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? Status() : failure(why);
    const Result<bool> flushed = flush();  // the other end hears why
    if (!failed.ok()) return failed;
    if (!flushed.ok()) return flushed;
    return false;
  }
  if (SSL_session_reused(ssl_.get()) != 1) {
    return Status(TAILRACE_IO_ERROR, "found a handshake without a key");  // cannot be: there are no certificates
  }
  if (const Result<bool> flushed = flush(); !flushed.ok()) return flushed;
  return true;
}

// ---- data --------------------------------------------------------------------------------------------------------

Result<size_t> TlsStream::read(std::span<std::byte> into) {
  size_t done = 0;
  ERR_clear_error();
  if (SSL_read_ex(ssl_.get(), into.data(), into.size(), &done) == 1) return done;
  const int why = SSL_get_error(ssl_.get(), 0);
  if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return size_t{0};
  return failure(why);
}

Result<size_t> TlsStream::write(std::span<const std::byte> bytes) {
  size_t done = 0;
  ERR_clear_error();
  while (done < bytes.size() && waiting_.size() - sent_ + kRoomOfRecord <= kMostWaiting) {
    size_t wrote = 0;
    const size_t size = std::min(kRecord, bytes.size() - done);
    if (SSL_write_ex(ssl_.get(), bytes.data() + done, size, &wrote) != 1) {
      const int why = SSL_get_error(ssl_.get(), 0);
      if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) break;
      return failure(why);
    }
    done += wrote;
  }
  return done;
}

Result<bool> TlsStream::flush() {
  while (sent_ < waiting_.size()) {
    const ssize_t wrote =
        ::send(socket_, waiting_.data() + sent_, waiting_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (wrote < 0) {
      error_ = errno;
      return failure(SSL_ERROR_SYSCALL);
    }
    sent_ += static_cast<size_t>(wrote);
  }
  waiting_.clear();
  sent_ = 0;
  return true;
}

bool TlsStream::is_further() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return name != nullptr && std::string_view(reinterpret_cast<const char*>(name), size) == kFurtherProtocol;
}

void TlsStream::say_goodbye() {
  ERR_clear_error();
  SSL_set_quiet_shutdown(ssl_.get(), 0);
  (void)SSL_shutdown(ssl_.get());  // in a handshake it fails
  ERR_clear_error();
}

// ---- failures ----------------------------------------------------------------------------------------------------

// Says what the other end has told by an alert, or what has gone wrong here.
std::string TlsStream::reason_of_alert() const {
  const bool greets = SSL_is_init_finished(ssl_.get()) == 0;
  if (!calls_ && !unknown_key_.empty() && greets) {
    std::string own;
    for (const PreSharedKey& key : tls_->keys()) own += (own.empty() ? "" : ", ") + key.identity;
    return fmt::format("found the key {}, expected {}", unknown_key_, own);
  }
  if (!calls_ || !greets) return last_error_of_openssl();
  if (is_another_key()) {
    return fmt::format("it has another key than this end, whose key is {}; expected the same key at both",
                       tls_->keys().front().identity);
  }
  switch (ERR_GET_REASON(ERR_peek_last_error())) {
    case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: return "it is of another version of tailrace";
    case SSL_R_WRONG_VERSION_NUMBER: return "what listens there does not speak TLS: is it a forwarder?";
    default: return last_error_of_openssl();
  }
}

Status TlsStream::failure(int why) {
  const bool greets = SSL_is_init_finished(ssl_.get()) == 0;
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  Fault fault;
  fault.code = TAILRACE_IO_ERROR;
  is_left_ = is_left_ || why == SSL_ERROR_ZERO_RETURN;
  if (error_ != 0) {
    fault.system_errno = error_;
    fault.message = std::strerror(error_);
  } else if (why == SSL_ERROR_ZERO_RETURN ||
             (ended_ && (reason == 0 || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING))) {
    fault.message = std::string("the other end has closed the connection") + (greets ? " in the handshake" : "");
  } else {
    fault.message = (greets ? "the handshake has failed: " : "the connection is broken: ") + reason_of_alert();
    if (greets && calls_ && is_another_key()) fault.system_errno = EKEYREJECTED;
  }
  ERR_clear_error();
  return Status(std::move(fault));
}

// ---- the socket, as OpenSSL sees it ------------------------------------------------------------------------------

BIO_METHOD* TlsStream::socket_method() {
  static BIO_METHOD* const only = [] {
    BIO_METHOD* const method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "tailrace");
    TAILRACE_REQUIRE(method != nullptr);
    BIO_meth_set_read_ex(method, &TlsStream::read_socket);
    BIO_meth_set_write_ex(method, &TlsStream::write_socket);
    BIO_meth_set_ctrl(method, &TlsStream::control_socket);
    return method;
  }();
  return only;
}

int TlsStream::read_socket(BIO* bio, char* into, size_t size, size_t* done) {
  auto* const stream = static_cast<TlsStream*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  ssize_t got = 0;
  do {
    got = ::recv(stream->socket_, into, size, MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  *done = got > 0 ? static_cast<size_t>(got) : 0;
  if (got > 0) return 1;
  if (got == 0) {
    stream->ended_ = true;
  } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
    BIO_set_retry_read(bio);
  } else {
    stream->error_ = errno;
  }
  return 0;
}

// Keeps the bytes, so that one call of the system sends many records. write() leaves room for a record before it asks
// OpenSSL for one.
int TlsStream::write_socket(BIO* bio, const char* from, size_t size, size_t* done) {
  auto* const stream = static_cast<TlsStream*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (stream->sent_ >= kMostWaiting || stream->sent_ == stream->waiting_.size()) {
    stream->waiting_.erase(stream->waiting_.begin(),
                           stream->waiting_.begin() + static_cast<ptrdiff_t>(stream->sent_));
    stream->sent_ = 0;
  }
  const auto* const bytes = reinterpret_cast<const std::byte*>(from);
  stream->waiting_.insert(stream->waiting_.end(), bytes, bytes + size);
  *done = size;
  return 1;
}

long TlsStream::control_socket(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

}  // namespace tailrace::impl
