// A server's program for the tests of the rendezvous, good or bad: rendezvous_server MODE ROOT JOB NUMBER NEWS.
//
// Each that runs as a server adds a line with its number to the file NEWS. A good one answers each message with its
// process id, and ends when its last client has gone.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/os/process.hpp"
#include "base/os/unix_socket.hpp"
#include "place/core/rendezvous.hpp"

using namespace tailrace::impl;
using namespace std::chrono_literals;

namespace {

void tell(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  const std::string line = std::to_string(getpid()) + "\n";
  if (write(file.get(), line.data(), line.size()) < 0) _exit(99);
}

// Waits until the process that started this one has gone.
void wait_for_starter() { (void)wait_for_events(kInheritedDescriptor, POLLRDHUP, 24h); }

void serve(UnixListener& listener) {
  std::vector<UnixSocket> clients;
  bool had_one = false;
  while (!had_one || !clients.empty()) {
    std::vector<pollfd> waits = {{listener.fd(), POLLIN, 0}};
    for (const UnixSocket& client : clients) waits.push_back({client.fd(), POLLIN, 0});
    poll(waits.data(), waits.size(), -1);
    for (size_t i = clients.size(); i > 0; --i) {
      if (waits[i].revents == 0) continue;
      std::array<std::byte, 64> bytes;
      const pid_t self = getpid();
      UnixSocket& client = clients[i - 1];
      const bool stays =
          client.receive(bytes, 0, 0s).ok() && client.send(std::as_bytes(std::span(&self, 1)), {}, 0s).ok();
      if (!stays) clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(i) - 1);
    }
    Result<std::optional<UnixSocket>> client = listener.accept();
    if (!client.ok() || !client.value()) continue;
    clients.push_back(std::move(*client.value()));
    had_one = true;
  }
}

int run(const RuntimeDirectory& job, int number, const std::string& news) {
  const Result<ServerLock> lock = ServerLock::take(job, number, 100ms);
  if (!lock.ok()) {
    announce_failure(kInheritedDescriptor, lock.status());
    return 1;
  }
  Result<UnixListener> listener = UnixListener::listen(job.directory(), RuntimeDirectory::server_socket(number));
  if (!listener.ok()) {
    announce_failure(kInheritedDescriptor, listener.status());
    return 1;
  }
  tell(news);
  announce_ready(kInheritedDescriptor);
  serve(listener.value());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 6) return 98;
  const std::string mode = arguments[1];
  const std::string news = arguments[5];
  if (mode == "ends_at_once") return 7;
  if (mode == "stays") {
    announce_ready(kInheritedDescriptor);
    pause();
  }
  if (!detach().ok()) return 97;
  if (mode == "crashes") {
    std::fprintf(stderr, "first line\nit hurts\n");
    raise(SIGKILL);
  }
  if (mode == "silent") {
    tell(news);
    wait_for_starter();
    return 0;
  }
  if (mode == "babbles") {
    Result<UnixSocket> starter = UnixSocket::adopt(FileDescriptor(kInheritedDescriptor), "starter");
    return starter.ok() && starter.value().send(std::as_bytes(std::span("hm?", 3)), {}, 0s).ok() ? 0 : 96;
  }
  if (mode == "refuses") {
    announce_failure(kInheritedDescriptor, Status(TAILRACE_INVALID_CONFIG, "sim.yaml:3: no such thing"));
    return 1;
  }
  const Result<RuntimeDirectory> job = RuntimeDirectory::open(arguments[2], arguments[3]);
  if (!job.ok()) {
    announce_failure(kInheritedDescriptor, job.status());
    return 1;
  }
  return run(job.value(), std::stoi(arguments[4]), news);
}
