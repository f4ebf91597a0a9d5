// RawConnection: a connection by hand, for tests that play who breaks the rules. RawPeer: one with TLS and frames.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <span>
#include <string>

#include "base/net/socket_address.hpp"
#include "base/os/file_descriptor.hpp"
#include "transport/tcp/frame_wire.hpp"
#include "transport/tcp/tls.hpp"
#include "transport_rig.hpp"

namespace tailrace::impl {

// It does not block once it is there.
class RawConnection {
 public:
  explicit RawConnection(const std::string& address) {
    const Result<SocketAddress> where = resolve_address(address, AF_INET);
    TAILRACE_REQUIRE(where.ok());
    socket_ = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    is_connected_ = ::connect(socket_.get(), where.value().get(), where.value().size) == 0;
    ::fcntl(socket_.get(), F_SETFL, O_NONBLOCK);
  }
  bool is_connected() const { return is_connected_; }
  int socket() const { return socket_.get(); }
  void send(std::span<const std::byte> bytes) {
    (void)::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  bool is_closed() {
    std::byte byte{};
    ssize_t got = 0;
    while ((got = ::recv(socket_.get(), &byte, 1, MSG_DONTWAIT)) > 0) {
    }
    return got == 0 || errno != EAGAIN;
  }

 private:
  FileDescriptor socket_;
  bool is_connected_ = false;
};

// Has the key. Shakes hands with the listener of a rig, whose transports go on meanwhile.
class RawPeer {
 public:
  explicit RawPeer(TransportRig& rig, bool further = false)
      : rig_(rig),
        raw_(rig.address),
        stream_(std::shared_ptr<const Tls>(Tls::create({test_key()}).value()), raw_.socket(), true, further) {
    EXPECT_TRUE(rig_.run_until([&] {
      const Result<bool> done = stream_.shake_hands();
      return done.ok() && done.value();
    }));
  }

  void send(const FrameHead& head, std::span<const std::byte> body = {}) {
    Bytes all(sizeof head + body.size());
    std::memcpy(all.data(), &head, sizeof head);
    std::copy(body.begin(), body.end(), all.begin() + sizeof head);
    size_t done = 0;
    EXPECT_TRUE(rig_.run_until([&] {
      const Result<size_t> wrote = stream_.write(std::span(all).subspan(done));
      done += wrote.ok() ? wrote.value() : 0;
      return !wrote.ok() || !stream_.flush().ok() || (done == all.size() && stream_.flush().value());
    }));
  }
  // Takes the next frame of this kind, which must come.
  FrameHead next(FrameKind kind) {
    FrameHead head{.kind = FrameKind{0}};
    while (head.kind != kind) {
      if (!read(std::as_writable_bytes(std::span(&head, 1)))) return {};
      const bool is_piece = head.kind == FrameKind::bulk;
      body.resize((is_piece ? 0 : head.head) + (is_piece || head.kind == FrameKind::whole ? head.bulk : 0));
      if (!read(body)) return {};
    }
    return head;
  }
  bool is_closed() {
    std::byte byte{};
    return !stream_.read({&byte, 1}).ok();
  }
  // Ends in order, with what has been sent.
  void say_goodbye() {
    stream_.say_goodbye();
    EXPECT_TRUE(stream_.flush().ok());
  }
  // Ends without a word.
  void drop() { ::shutdown(raw_.socket(), SHUT_RDWR); }

  Bytes body;  // of the frame that came last

 private:
  bool read(std::span<std::byte> into) {
    size_t done = 0;
    const bool is_there = rig_.run_until([&] {
      while (done < into.size()) {
        const Result<size_t> got = stream_.read(into.subspan(done));
        if (!got.ok()) return true;
        if (got.value() == 0) break;
        done += got.value();
      }
      return done == into.size();
    });
    EXPECT_TRUE(is_there && done == into.size()) << "no frame came";
    return is_there && done == into.size();
  }

  TransportRig& rig_;
  RawConnection raw_;
  TlsStream stream_;
};

}  // namespace tailrace::impl
