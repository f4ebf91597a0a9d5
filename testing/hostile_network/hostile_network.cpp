// hostile_network: makes connections to a forwarder as no honest end does, one after the other, from many addresses
// of 127.0.0.0/8. tests/python/forward/test_forward_hostile.py looks whether others notice.
//
//   hostile_network --address HOST:PORT --key FILE --connections N [--seed S]
//
// Without the key: silence, garbage, hellos that are cut off, doubled or come a byte at a time, another key. With it:
// frames that cannot be, frames that are cut off, greetings and messages of garbage, transfers of files that are not
// open, calls without end whose answers nobody reads. Prints one JSON document. Exit codes: 0 success, 1 failure, 2
// wrong command line.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "base/net/socket_address.hpp"
#include "base/os/file_descriptor.hpp"
#include "model/wire/forward_wire.hpp"
#include "testing/dice.hpp"
#include "transport/key/key_file.hpp"
#include "transport/link/link_wire.hpp"
#include "transport/tcp/frame_wire.hpp"
#include "transport/tcp/tls.hpp"

namespace tailrace::impl {
namespace {

using Bytes = std::vector<std::byte>;

constexpr size_t kMostOpen = 200;  // connections that are left open, the oldest ones are closed
constexpr int kPatience = 5000;    // milliseconds for a connection, and for each step of a handshake

struct Options {
  std::string address;
  std::string key;
  uint64_t connections = 1000;
  uint64_t seed = 1;
};

struct Counts {
  uint64_t unconnected = 0;  // within the patience
  uint64_t handshakes = 0;   // that ended
};

// A connection, with or without TLS. Its end is a reset or an orderly one.
class Attacker {
 public:
  Attacker(FileDescriptor socket, bool resets) : socket_(std::move(socket)) {
    const linger now{resets ? 1 : 0, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    const int on = 1;
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  void send(std::span<const std::byte> bytes) {
    (void)::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  // Returns true if the listener has taken the key.
  bool shake_hands(std::shared_ptr<const Tls> tls) {
    stream_ = std::make_unique<TlsStream>(std::move(tls), socket_.get(), true);
    for (;;) {
      const Result<bool> done = stream_->shake_hands();
      if (!done.ok()) return false;
      if (done.value()) return true;
      pollfd ready{socket_.get(), POLLIN, 0};
      if (::poll(&ready, 1, kPatience) <= 0) return false;
    }
  }
  // Requires that shake_hands() has succeeded. Leaves out what there is no room for.
  void say(std::span<const std::byte> bytes) {
    const Result<size_t> wrote = stream_->write(bytes);
    if (wrote.ok()) (void)stream_->flush();
  }
  void say_message(std::span<const std::byte> body) {
    const FrameHead head{.kind = FrameKind::message, .head = static_cast<uint32_t>(body.size())};
    Bytes frame(sizeof head);
    std::memcpy(frame.data(), &head, sizeof head);
    frame.insert(frame.end(), body.begin(), body.end());
    say(frame);
  }
  // Bytes that go one at a time, one at each drip().
  void say_slowly(Bytes bytes) { slow_ = std::deque<std::byte>(bytes.begin(), bytes.end()); }
  void drip() {
    if (slow_.empty()) return;
    send({&slow_.front(), 1});
    slow_.pop_front();
  }

 private:
  FileDescriptor socket_;
  std::unique_ptr<TlsStream> stream_;
  std::deque<std::byte> slow_;
};

Bytes random_bytes(Dice& dice, size_t size) {
  Bytes bytes(size);
  for (std::byte& one : bytes) one = static_cast<std::byte>(dice.below(256));
  return bytes;
}

// Returns the first message of an honest client.
Bytes hello_of(const std::shared_ptr<const Tls>& tls) {
  std::array<int, 2> ends{};
  TAILRACE_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
  const FileDescriptor own(ends[0]);
  const FileDescriptor its(ends[1]);
  TlsStream stream(tls, own.get(), true);
  (void)stream.shake_hands();
  Bytes hello(4096);
  const ssize_t size = ::recv(its.get(), hello.data(), hello.size(), 0);
  TAILRACE_REQUIRE(size > 0);
  hello.resize(static_cast<size_t>(size));
  return hello;
}

class Attack {
 public:
  Attack(const Options& options, const SocketAddress& where, PreSharedKey key)
      : where_(where), dice_(options.seed), tls_(Tls::create({key}).value()) {
    key.secret.fill(9);
    same_name_ = Tls::create({key}).value();
    key.identity = "0000-1111-2222-3333";
    other_ = Tls::create({key}).value();
    hello_ = hello_of(tls_);
  }

  Counts run(uint64_t connections) {
    for (uint64_t i = 0; i < connections; ++i) {
      for (auto& one : open_) one->drip();
      FileDescriptor socket = connect();
      if (!socket.is_open()) {
        ++counts_.unconnected;
        continue;
      }
      auto one = std::make_unique<Attacker>(std::move(socket), dice_.chance(50));
      if (dice_.chance(50)) {
        attack_without_key(*one);
      } else if (one->shake_hands(tls_)) {
        ++counts_.handshakes;
        attack_with_key(*one);
      }
      if (dice_.chance(70)) continue;  // it ends at once
      open_.push_back(std::move(one));
      if (open_.size() > kMostOpen) open_.pop_front();
    }
    return counts_;
  }

 private:
  FileDescriptor connect() {
    FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in from{};
    from.sin_family = AF_INET;
    from.sin_addr.s_addr = htonl(static_cast<uint32_t>((127u << 24) + 256 + dice_.below(1u << 20)));
    (void)::bind(socket.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from);
    (void)::connect(socket.get(), where_.get(), where_.size);
    pollfd ready{socket.get(), POLLOUT, 0};
    int error = 0;
    socklen_t size = sizeof error;
    const bool is_there = ::poll(&ready, 1, kPatience) > 0 &&
                          ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
    return is_there ? std::move(socket) : FileDescriptor();
  }

  void attack_without_key(Attacker& one) {
    switch (dice_.below(7)) {
      case 0: return;  // silence
      case 1: return one.send(random_bytes(dice_, dice_.between(1, 5000)));
      case 2: return one.send(std::span(hello_).first(dice_.between(1, hello_.size())));
      case 3: one.send(hello_); return one.send(hello_);
      case 4: return one.say_slowly(hello_);
      case 5: return void(one.shake_hands(other_));
      default: return void(one.shake_hands(same_name_));
    }
  }

  void attack_with_key(Attacker& one) {
    switch (dice_.below(6)) {
      case 0: return;  // silence
      case 1: return one.say(random_bytes(dice_, dice_.between(1, 300)));
      case 2: {
        FrameHead head{.kind = static_cast<FrameKind>(dice_.below(10))};
        head.head = static_cast<uint32_t>(dice_.below(2000));
        head.bulk = dice_.below(3) == 0 ? UINT64_MAX - dice_.below(9) : dice_.below(100'000);
        head.number = dice_.below(4);
        return one.say(std::as_bytes(std::span(&head, 1)));
      }
      case 3: return one.say_message(random_bytes(dice_, dice_.between(1, 300)));
      case 4: greet(one); return attack_as_client(one);
      default: greet(one); return one.say_message(random_bytes(dice_, dice_.between(1, 300)));
    }
  }

  static void greet(Attacker& one) {
    const LinkGreeting greeting{.version = kForwardVersion,
                                .terms = encode_terms(ForwardTerms::Role::client, "hostile")};
    one.say_message(std::as_bytes(std::span(&greeting, 1)));
    const LinkHead beat{1, 0};
    one.say_message(std::as_bytes(std::span(&beat, 1)));
  }

  void attack_as_client(Attacker& one) {
    const uint64_t messages = dice_.chance(10) ? 3000 : dice_.between(1, 5);
    for (uint64_t i = 0; i < messages; ++i) {
      const LinkHead head{2, 0};
      Bytes body(sizeof head);
      std::memcpy(body.data(), &head, sizeof head);
      const Bytes message = messages > 5 ? status(i) : something(i);
      body.insert(body.end(), message.begin(), message.end());
      one.say_message(body);
    }
  }

  static Bytes status(uint64_t number) {
    ForwardCallMessage call;
    call.record.call = ForwardCall::status;
    return encode_call(number, call);
  }

  Bytes something(uint64_t number) {
    if (dice_.chance(50)) {
      TransferRecord record;
      record.file = static_cast<uint32_t>(dice_.below(4));
      record.offset = dice_.below(2) == 0 ? UINT64_MAX - 5 : 7;
      record.length = uint64_t{1} << dice_.below(63);
      record.kind = static_cast<TransferRecord::Kind>(dice_.below(3));
      const std::vector<TransferRecord> records(dice_.between(1, 256), record);
      return encode_transfers(dice_.below(2) * number, records);
    }
    ForwardCallMessage call;
    call.record.call = static_cast<ForwardCall>(dice_.below(18));
    call.record.file = static_cast<uint32_t>(dice_.below(4));
    call.record.mode = static_cast<uint32_t>(dice_.below(9));
    call.text = dice_.chance(50) ? "/etc/passwd" : std::string(dice_.below(5000), '/');
    return encode_call(number, call);
  }

  const SocketAddress where_;
  Dice dice_;
  const std::shared_ptr<const Tls> tls_;
  std::shared_ptr<const Tls> same_name_;
  std::shared_ptr<const Tls> other_;
  Bytes hello_;
  std::deque<std::unique_ptr<Attacker>> open_;
  Counts counts_;
};

int fail(const Status& status) {
  std::fprintf(stderr, "hostile_network: %s\n", status.fault().message.c_str());
  return 1;
}

int run(int count, char** arguments) {
  CLI::App app{"Makes hostile connections to a forwarder. Prints one JSON document.", "hostile_network"};
  Options options;
  app.add_option("--address", options.address, "the forwarder's")->required();
  app.add_option("--key", options.key, "its key file")->required();
  app.add_option("--connections", options.connections, "how many");
  app.add_option("--seed", options.seed, "of all choices");
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const Result<SocketAddress> where = resolve_address(options.address, AF_INET);
  if (!where.ok()) return fail(where.status());
  const Result<ForwardKey> key = read_key(options.key);
  if (!key.ok()) return fail(key.status());
  const Counts counts = Attack(options, where.value(), pre_shared(key.value())).run(options.connections);
  std::printf("{\"hostile_network\": 1, \"connections\": %llu, \"unconnected\": %llu, \"handshakes\": %llu}\n",
              static_cast<unsigned long long>(options.connections),
              static_cast<unsigned long long>(counts.unconnected),
              static_cast<unsigned long long>(counts.handshakes));
  return 0;
}

}  // namespace
}  // namespace tailrace::impl

int main(int count, char** arguments) { return tailrace::impl::run(count, arguments); }
