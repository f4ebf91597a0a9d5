// Measures a transport between two processes of this machine: bandwidth of bulk data, and the round trip of a message
// with 4 KiB. That is the transport over TCP; with --ucx the one over UCX, and how to measure the same with UCX's own
// program.
//
//   transport_speed [--ucx] [--tls NAMES] [--segments N] [--eager BYTES] [--seconds S] [--announce] [--tiny]
//                   [--idle S] [--json] [--connections N]
//
// --tls tcp: of UCX, as between machines. --announce: registers the memory. --idle: measures instead what an
// unused connection costs. --json: prints one document for `tailrace bench forward`. Bulk data come from
// and go to 16 buffers in turn. --connections: of the peer, and threads of each process.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/sync/doorbell.hpp"
#include "transport/loader/load_transport.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kLargest = size_t{8} << 20;
constexpr size_t kAtOnce = 16;  // messages under way
constexpr size_t kRoundTrip = 4096;
constexpr size_t kOften = size_t{1} << 20;  // bytes of a message in --json

struct Settings {
  bool is_ucx = false;
  TransportOptions transport{.keys = {{"0123-4567-89ab-cdef", {1}}}};
  size_t segments = 1;
  double seconds = 0.5;  // of each measurement
  double idle = 0;
  bool announces = false;
  bool is_tiny = false;
  bool wants_json = false;
};

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void check(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "transport_speed: %s\n", status.fault().message.c_str());
  std::_Exit(1);
}

// One process: a transport, buffers, and the events not looked at yet.
class End {
 public:
  explicit End(const Settings& settings) : settings_(settings), memory_(kAtOnce * kLargest, std::byte{1}) {
    Result<std::unique_ptr<Transport>> loaded =
        settings.is_ucx ? load_transport(TransportKind::ucx, bell_, settings.transport, TEST_UCX)
                        : load_transport(TransportKind::tcp, bell_, settings.transport, TEST_TCP);
    check(loaded.status());
    transport_ = std::move(loaded).value();
    if (settings.announces) transport_->use_memory(memory_);
  }

  Transport& transport() { return *transport_; }
  Doorbell& bell() { return bell_; }
  std::span<std::byte> buffer(uint64_t number, size_t size) {
    return std::span(memory_).subspan(number % kAtOnce * kLargest, size);
  }

  // Polls until something has been reported.
  std::vector<TransportEvent>& next(bool spins) {
    events_.clear();
    for (;;) {
      transport_->poll(events_);
      if (!events_.empty()) break;
      if (!spins) transport_->wait(std::chrono::milliseconds(100));
    }
    for (const TransportEvent& event : events_) check(event.status);
    return events_;
  }

  void send(PeerId peer, uint64_t number, size_t size) {
    segments_.clear();
    const std::span<std::byte> all = buffer(number, size);
    const size_t piece = std::max<size_t>(1, size / settings_.segments);
    for (size_t at = 0; at < size; at += piece) {
      const bool is_last = segments_.size() + 1 == settings_.segments;
      const size_t length = is_last ? size - at : std::min(piece, size - at);
      segments_.push_back({all.data() + at, length});
      if (is_last) break;
    }
    transport_->send(peer, std::as_bytes(std::span(&number, 1)), segments_, number);
  }

 private:
  const Settings& settings_;
  std::vector<std::byte> memory_;
  Doorbell bell_;
  std::unique_ptr<Transport> transport_;
  std::vector<TransportEvent> events_;
  std::vector<iovec> segments_;
};

// Fetches what comes, and answers each message when its bulk data are there. Spins while the last message was odd.
[[noreturn]] void serve(const Settings& settings, int address_to) {
  End end(settings);
  const Result<std::string> address = end.transport().listen("127.0.0.1:0");
  check(address.status());
  if (::write(address_to, address.value().data(), address.value().size()) < 0) std::_Exit(1);
  ::close(address_to);
  PeerId peer = 0;
  bool spins = false;
  for (;;) {
    std::vector<TransportEvent> events;
    end.transport().poll(events);
    if (events.empty() && !spins) end.transport().wait(std::chrono::milliseconds(100));
    for (const TransportEvent& event : events) {
      if (event.kind == TransportEvent::Kind::lost) std::_Exit(0);
      if (event.kind == TransportEvent::Kind::accepted) peer = event.peer;
      if (event.kind == TransportEvent::Kind::received) end.transport().send(peer, {}, {}, 0);
      if (event.kind != TransportEvent::Kind::message) continue;
      uint64_t number = 0;
      std::memcpy(&number, event.head.data(), sizeof number);
      spins = number % 2 == 1;
      end.transport().receive(event.peer, event.arrival, end.buffer(number / 2, event.bulk), number);
    }
  }
}

class Client {
 public:
  Client(const Settings& settings, const std::string& address) : settings_(settings), end_(settings) {
    peer_ = end_.transport().connect(address);
    await(TransportEvent::Kind::connected, 1, false);
  }

  // Returns bytes a second.
  double bandwidth(size_t size, bool spins) {
    exchange(size, kAtOnce, spins);  // first touch, and making of the connection's lanes
    size_t bytes = 0;
    const double start = now();
    double passed = 0;
    while (passed < settings_.seconds) {
      const size_t count = std::max<size_t>(4 * kAtOnce, (size_t{16} << 20) / size);
      exchange(size, count, spins);
      bytes += count * size;
      passed = now() - start;
    }
    return static_cast<double>(bytes) / passed;
  }

  // Returns the median of seconds.
  double round_trip(size_t size, bool spins) {
    std::vector<double> times;
    for (const double start = now(); now() - start < settings_.seconds;) {
      const double sent = now();
      exchange(size, 1, spins);
      times.push_back(now() - sent);
    }
    std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
  }

  // Sleeps on the bell as an engine does. Returns the share of a processor that this process used.
  double idle() {
    const double start = now();
    rusage before{};
    getrusage(RUSAGE_SELF, &before);
    while (now() - start < settings_.idle) {
      std::vector<TransportEvent> events;
      end_.bell().prepare();
      end_.transport().poll(events);
      end_.bell().sleep(std::chrono::seconds(1));
    }
    rusage after{};
    getrusage(RUSAGE_SELF, &after);
    return (seconds_of(after) - seconds_of(before)) / (now() - start);
  }

 private:
  static double seconds_of(const rusage& usage) {
    const auto seconds = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
    return seconds + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  }

  // Sends `count` messages, kAtOnce at a time, and waits for all answers.
  void exchange(size_t size, size_t count, bool spins) {
    size_t begun = 0;
    size_t sent = 0;
    size_t answered = 0;
    while (answered < count || sent < count) {
      for (; begun < count && begun < std::min(sent, answered) + kAtOnce; ++begun) {
        end_.send(peer_, ++number_ * 2 + (spins ? 1 : 0), size);
      }
      for (const TransportEvent& event : end_.next(spins)) {
        sent += event.kind == TransportEvent::Kind::sent ? 1 : 0;
        answered += event.kind == TransportEvent::Kind::message ? 1 : 0;
      }
    }
  }

  void await(TransportEvent::Kind kind, size_t count, bool spins) {
    while (count > 0) {
      for (const TransportEvent& event : end_.next(spins)) count -= event.kind == kind ? 1 : 0;
    }
  }

  const Settings& settings_;
  End end_;
  PeerId peer_ = 0;
  uint64_t number_ = 0;
};

void print_speeds(Client& client, bool is_tiny) {
  std::printf("%10s %16s %16s\n", "bulk data", "MB/s, sleeping", "MB/s, spinning");
  for (size_t size = 4096; size <= kLargest; size *= is_tiny ? 2048 : 4) {
    const double sleeping = client.bandwidth(size, false);
    std::printf("%6zu KiB %16.0f %16.0f\n", size >> 10, 1e-6 * sleeping, 1e-6 * client.bandwidth(size, true));
  }
  const double sleeping = client.round_trip(kRoundTrip, false);
  std::printf("round trip of 4 KiB: %.1f us sleeping, %.1f us spinning\n", 1e6 * sleeping,
              1e6 * client.round_trip(kRoundTrip, true));
}

void print_json(Client& client) {
  const double bandwidth = client.bandwidth(kOften, false);
  std::printf("{\"transport_speed\": 1, \"bandwidth\": %.0f, \"latency\": %.9f}\n", bandwidth,
              client.round_trip(kRoundTrip, false));
}

void print_comparison(const std::string& transports) {
  const std::string tls = transports.empty() ? "" : "UCX_TLS=" + transports + " ";
  std::printf(
      "\nUCX's own program (Debian package ucx-utils), which spins, in two shells:\n"
      "  %sucx_perftest\n"
      "  %sucx_perftest 127.0.0.1 -t ucp_am_bw -s 1048576 -n 2000\n"
      "(-t ucp_am_lat -s 4096 -n 20000: prints half of a round trip with 4 KiB both ways)\n",
      tls.c_str(), tls.c_str());
}

Settings read(int count, char** arguments) {
  Settings settings;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const auto value = [&] { return std::string(i + 1 < count ? arguments[++i] : ""); };
    if (word == "--ucx") settings.is_ucx = true;
    if (word == "--tls") settings.transport.transports = value();
    if (word == "--segments") settings.segments = std::strtoul(value().c_str(), nullptr, 10);
    if (word == "--eager") settings.transport.most_eager = std::strtoul(value().c_str(), nullptr, 10);
    if (word == "--seconds") settings.seconds = std::strtod(value().c_str(), nullptr);
    if (word == "--connections") settings.transport.connections = std::strtoul(value().c_str(), nullptr, 10);
    if (word == "--announce") settings.announces = true;
    if (word == "--idle") settings.idle = std::strtod(value().c_str(), nullptr);
    if (word == "--json") settings.wants_json = true;
    if (word == "--tiny") settings.is_tiny = true;
  }
  if (settings.is_tiny) settings.seconds = 0.01;
  settings.segments = std::clamp<size_t>(settings.segments, 1, Transport::kMostSegments);
  return settings;
}

int run(int count, char** arguments) {
  const Settings settings = read(count, arguments);
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return 1;
  const pid_t listener = ::fork();  // before there is any UCX
  if (listener == 0) serve(settings, ends[1]);
  ::close(ends[1]);
  std::array<char, 64> address{};
  const ssize_t size = ::read(ends[0], address.data(), address.size());
  if (size <= 0) return 1;
  {
    Client client(settings, std::string(address.data(), static_cast<size_t>(size)));
    if (settings.idle > 0) {
      std::printf("an idle connection uses %.3f %% of a processor\n", 100 * client.idle());
    } else if (settings.wants_json) {
      print_json(client);
    } else {
      print_speeds(client, settings.is_tiny);
      if (settings.is_ucx && !settings.is_tiny) print_comparison(settings.transport.transports);
    }
  }
  int status = 0;
  ::waitpid(listener, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace
}  // namespace tailrace::impl

int main(int count, char** arguments) { return tailrace::impl::run(count, arguments); }
