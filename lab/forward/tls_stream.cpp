// tls_stream: what TLS alone reaches between two processes of this machine, with nothing of tailrace: the peer of
// `tailrace bench forward`. It uses the cipher, the key exchange and the pre-shared key that the transport uses, and
// blocking sockets. Prints one JSON document. Exit codes: 0 success, 1 failure, 2 wrong command line.
//
//   tls_stream --what stream       the receiver drops the bytes
//   tls_stream --what file --dir D the receiver writes them to a file, past the page cache, by threads
//   tls_stream --what echo         the receiver sends each request back
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <future>
#include <string>
#include <vector>

#include "lab/pattern/clock.hpp"
#include "lab/pattern/command_line.hpp"
#include "lab/pattern/document_main.hpp"
#include "lab/pattern/json.hpp"

namespace bench {
namespace {

enum class What { stream, file, echo };
const Words<What> kWhat = {{"stream", What::stream}, {"file", What::file}, {"echo", What::echo}};

struct Options {
  What what = What::stream;
  std::string dir;
  uint64_t request = uint64_t{1} << 20;  // bytes
  uint64_t requests = 256;
  bool asked = false;
};

constexpr size_t kPage = 4096;
constexpr size_t kReadAhead = size_t{64} << 10;

[[noreturn]] void die(const char* step) { throw RunError(std::string(step) + " failed"); }

// ---- TLS ---------------------------------------------------------------------------------------------------------

SSL_SESSION* session_of(SSL* ssl) {
  constexpr std::array<unsigned char, 2> kCipher{0x13, 0x01};  // TLS_AES_128_GCM_SHA256
  constexpr std::array<unsigned char, 32> kKey{1};
  SSL_SESSION* const session = SSL_SESSION_new();
  SSL_SESSION_set1_master_key(session, kKey.data(), kKey.size());
  SSL_SESSION_set_cipher(session, SSL_CIPHER_find(ssl, kCipher.data()));
  SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION);
  return session;
}

int use_session(SSL* ssl, const EVP_MD*, const unsigned char** name, size_t* length, SSL_SESSION** session) {
  static const unsigned char kName[] = "bench";
  *name = kName;
  *length = sizeof kName - 1;
  *session = session_of(ssl);
  return 1;
}

int find_session(SSL* ssl, const unsigned char*, size_t, SSL_SESSION** session) {
  *session = session_of(ssl);
  return 1;
}

// One end, after its handshake. It lives until its process ends.
class End {
 public:
  End(int socket, bool calls) {
    SSL_CTX* const context = SSL_CTX_new(TLS_method());
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
    SSL_CTX_set1_groups_list(context, "X25519");
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, kReadAhead);
    SSL_CTX_set_psk_use_session_callback(context, &use_session);
    SSL_CTX_set_psk_find_session_callback(context, &find_session);
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ssl_ = SSL_new(context);
    SSL_set_fd(ssl_, socket);
    if ((calls ? SSL_connect(ssl_) : SSL_accept(ssl_)) != 1) die("the handshake");
  }

  // Returns false at the end of the stream.
  bool read(char* bytes, size_t size) {
    for (size_t done = 0; done < size;) {
      size_t got = 0;
      if (SSL_read_ex(ssl_, bytes + done, size - done, &got) != 1) return false;
      done += got;
    }
    return true;
  }
  void write(const char* bytes, size_t size) {
    size_t wrote = 0;
    if (SSL_write_ex(ssl_, bytes, size, &wrote) != 1) die("writing");
  }

 private:
  SSL* ssl_;
};

// ---- the receiver ------------------------------------------------------------------------------------------------

// Writes requests to a file, past the page cache, several at once: each by a thread of its own, while the next are
// read.
class Writer {
 public:
  explicit Writer(const Options& options) : size_(options.request) {
    const std::string name = options.dir + "/tls_stream.raw";
    file_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_DIRECT, 0600);
    if (file_ < 0) die("opening the file");
    memory_ = static_cast<char*>(std::aligned_alloc(kPage, kAtOnce * size_));
    if (memory_ == nullptr) die("memory");
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() {
    std::free(memory_);
    ::close(file_);
  }

  // Returns the memory of a request, when it has been written.
  char* buffer(uint64_t number) {
    std::future<void>& before = under_way_[number % kAtOnce];
    if (before.valid()) before.get();
    return memory_ + number % kAtOnce * size_;
  }
  void write(uint64_t number) {
    under_way_[number % kAtOnce] =
        std::async(std::launch::async, [bytes = buffer(number), size = size_, file = file_, number] {
          const auto offset = static_cast<off_t>(number * size);
          if (::pwrite(file, bytes, size, offset) != static_cast<ssize_t>(size)) die("writing a file");
        });
  }
  void wait() {
    for (size_t i = 0; i < kAtOnce; ++i) (void)buffer(i);
  }

 private:
  static constexpr size_t kAtOnce = 8;
  const uint64_t size_;
  int file_ = -1;
  char* memory_ = nullptr;
  std::array<std::future<void>, kAtOnce> under_way_;
};

void write_stream(End& end, const Options& options) {
  Writer writer(options);
  for (uint64_t i = 0; i < options.requests; ++i) {
    if (!end.read(writer.buffer(i), options.request)) die("reading");
    writer.write(i);
  }
  writer.wait();
}

[[noreturn]] void serve(int listener, const Options& options) {
  try {
    End end(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC), false);
    std::vector<char> bytes(options.request);
    // Twice: the first time is the warming up.
    for (int pass = 0; pass < 2; ++pass) {
      if (options.what == What::file) {
        write_stream(end, options);
      } else {
        for (uint64_t i = 0; i < options.requests; ++i) {
          if (!end.read(bytes.data(), bytes.size())) die("reading");
          if (options.what == What::echo) end.write(bytes.data(), bytes.size());
        }
      }
      if (options.what != What::echo) end.write("", 1);
    }
    std::_Exit(0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tls_stream: the receiver: %s\n", error.what());
  }
  std::_Exit(1);
}

// ---- the sender --------------------------------------------------------------------------------------------------

struct Times {
  double whole = 0;    // seconds for all requests
  double latency = 0;  // the median of an echo
};

Times send_all(End& end, const Options& options) {
  std::vector<char> bytes(options.request, 'x');
  std::vector<double> latencies;
  const double begun = now();
  for (uint64_t i = 0; i < options.requests; ++i) {
    const double sent = now();
    end.write(bytes.data(), bytes.size());
    if (options.what != What::echo) continue;
    if (!end.read(bytes.data(), bytes.size())) die("reading");
    latencies.push_back(now() - sent);
  }
  char answer = 0;
  if (options.what != What::echo && !end.read(&answer, 1)) die("reading");
  Times times{.whole = now() - begun};
  std::sort(latencies.begin(), latencies.end());
  if (!latencies.empty()) times.latency = latencies[latencies.size() / 2];
  return times;
}

Times measure(const Options& options) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, generic, size) != 0 || ::listen(listener, 1) != 0) die("listening");
  if (::getsockname(listener, generic, &size) != 0) die("listening");
  const pid_t receiver = ::fork();
  if (receiver == 0) serve(listener, options);
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(socket, generic, size) != 0) die("connecting");
  End end(socket, true);
  (void)send_all(end, options);
  const Times times = send_all(end, options);
  int status = 0;
  ::waitpid(receiver, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) die("the receiver");
  return times;
}

Options parse_options(int argc, char** argv) {
  CLI::App app{"TLS alone between two processes. Prints one JSON document.", "tls_stream"};
  Options options;
  add_words(app, "--what", options.what, kWhat, "echo: each request is sent back, and waited for");
  app.add_option("--dir", options.dir, "the directory of the file, for --what file");
  app.add_option("--request", options.request, "bytes of a request; of a file, a multiple of 4096")
      ->check(CLI::Range(1ul, 1ul << 30));
  app.add_option("--requests", options.requests, "how many")->check(CLI::Range(1, 1 << 24));
  options.asked = parse(app, argc, argv);
  return options;
}

std::string run(const Options& options) {
  const Times times = measure(options);
  return text_of({{"tls_stream", 1},
                  {"what", word_for(kWhat, options.what)},
                  {"bytes", options.request * options.requests},
                  {"whole", times.whole},
                  {"latency", times.latency}});
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::document_main("tls_stream", [&] {
    const bench::Options options = bench::parse_options(argc, argv);
    return options.asked ? bench::run(options) : "";
  });
}
