#include "damaris/ranks/lifelines.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "damaris/include/Damaris.h"
#include "damaris/ranks/failure.hpp"

namespace tailrace::damaris {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kStart = std::chrono::seconds(30);  // until all have met
constexpr size_t kMostStrangers = 64;              // connections that have not shown the token
constexpr rlim_t kOtherFiles = 256;                // that a process has open
// A node that is gone closes nothing. It is noticed after kIdle + kTries * kBetween seconds.
constexpr int kIdle = 10;
constexpr int kBetween = 5;
constexpr int kTries = 4;

// The first bytes of a connection, and all.
struct Hello {
  LifeToken token;
  Lifeline::Kind kind;
};
static_assert(sizeof(Hello) == 33);

std::string reason(int error) { return std::generic_category().message(error); }

// Returns false if the deadline has passed.
bool wait_for(std::vector<pollfd>& ends, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    const int ready = poll(ends.data(), ends.size(), static_cast<int>(left) + 1);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool set(int socket, int level, int option, int value) {
  return setsockopt(socket, level, option, &value, sizeof value) == 0;
}

// The limit on open files is that of small programs by default.
void make_room(size_t connections) {
  rlimit limit{};
  const rlim_t needed = connections + kMostStrangers + kOtherFiles;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  limit.rlim_cur = std::min(limit.rlim_max, needed);
  (void)setrlimit(RLIMIT_NOFILE, &limit);  // else a connection fails, and that is reported
}

// Returns true if the other end is closed, or its node gone.
bool has_closed(int socket) {
  char byte;
  const ssize_t got = recv(socket, &byte, 1, MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Lifeline::Lifeline(const std::string& host, int port, const LifeToken& token, Kind kind)
    : socket_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, host.c_str(), &place.sin_addr);
  int error = 0;
  if (connect(socket_.number(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) error = errno;
  if (error == EINPROGRESS) {
    std::vector<pollfd> end = {{socket_.number(), POLLOUT, 0}};
    socklen_t size = sizeof error;
    if (!wait_for(end, Clock::now() + kStart))
      error = ETIMEDOUT;
    else
      getsockopt(socket_.number(), SOL_SOCKET, SO_ERROR, &error, &size);
  }
  const Hello hello{token, kind};
  if (error == 0 && send(socket_.number(), &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) error = errno;
  if (error == 0) return;
  throw Failure(DAMARIS_INIT_ERROR, "the dedicated node at " + host + ":" + std::to_string(port) +
                                        " cannot be reached: " + reason(error));
}

void Lifeline::wait() {
  pollfd end{socket_.number(), POLLIN, 0};
  while (!has_closed(socket_.number())) (void)poll(&end, 1, -1);
}

Lifelines::Lifelines(const LifeToken& token, size_t expected)
    : token_(token), expected_(expected), listener_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
  make_room(expected);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_ANY);
  if (bind(listener_.number(), reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0 &&
      listen(listener_.number(), static_cast<int>(expected + kMostStrangers)) == 0) {
    return;
  }
  throw Failure(DAMARIS_INIT_ERROR, "a dedicated node cannot listen: " + reason(errno));
}

int Lifelines::port() const {
  sockaddr_in place{};
  socklen_t size = sizeof place;
  return getsockname(listener_.number(), reinterpret_cast<sockaddr*>(&place), &size) == 0 ? ntohs(place.sin_port) : 0;
}

void Lifelines::meet() {
  std::vector<Descriptor> strangers;
  const Clock::time_point deadline = Clock::now() + kStart;
  while (needing_.size() + waiting_.size() < expected_) {
    std::vector<pollfd> ends = {{listener_.number(), POLLIN, 0}};
    for (const Descriptor& one : strangers) ends.push_back({one.number(), POLLIN, 0});
    if (!wait_for(ends, deadline)) {
      throw Failure(DAMARIS_INIT_ERROR, "a dedicated node: found " +
                                            std::to_string(needing_.size() + waiting_.size()) +
                                            " ranks that reach it, expected " + std::to_string(expected_));
    }
    for (size_t i = ends.size() - 1; i > 0; --i) {
      if (ends[i].revents == 0) continue;
      admit(std::move(strangers[i - 1]));
      strangers.erase(strangers.begin() + static_cast<ptrdiff_t>(i) - 1);
    }
    if (ends[0].revents == 0) continue;
    Descriptor peer(accept4(listener_.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!peer.is_open() && errno == EMFILE) throw Failure(DAMARIS_INIT_ERROR, "a dedicated node: " + reason(EMFILE));
    // Readable is then a connection that has sent all of its hello, or is closed.
    if (!peer.is_open() || !set(peer.number(), SOL_SOCKET, SO_RCVLOWAT, sizeof(Hello))) continue;
    if (strangers.size() < kMostStrangers + expected_) strangers.push_back(std::move(peer));
  }
  listener_ = Descriptor();
}

// Closes it if it is none of this run.
void Lifelines::admit(Descriptor peer) {
  Hello hello{};
  if (recv(peer.number(), &hello, sizeof hello, MSG_DONTWAIT) != sizeof hello || hello.token != token_) return;
  const int socket = peer.number();
  const bool watched = set(socket, SOL_SOCKET, SO_KEEPALIVE, 1) && set(socket, IPPROTO_TCP, TCP_KEEPIDLE, kIdle) &&
                       set(socket, IPPROTO_TCP, TCP_KEEPINTVL, kBetween) &&
                       set(socket, IPPROTO_TCP, TCP_KEEPCNT, kTries);
  if (!watched) say("a dedicated node would not notice that another node is gone: " + reason(errno));
  (hello.kind == Lifeline::Kind::waits ? waiting_ : needing_).push_back(std::move(peer));
}

void Lifelines::wait() {
  std::vector<pollfd> ends;
  while (!needing_.empty()) {
    ends.clear();
    for (const Descriptor& one : needing_) ends.push_back({one.number(), POLLIN, 0});
    (void)poll(ends.data(), ends.size(), -1);
    for (size_t i = ends.size(); i-- > 0;) {
      if (ends[i].revents == 0 || !has_closed(ends[i].fd)) continue;
      std::swap(needing_[i], needing_.back());
      needing_.pop_back();
    }
  }
  waiting_.clear();
}

}  // namespace tailrace::damaris
