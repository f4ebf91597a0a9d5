// core_flood CONFIGURATION DIRECTORY NAME CLIENT TIMES nonsense | refused | goes | drops | sits: a client of place
// `core` that makes the server log something, TIMES times, in the job NAME that writes to DIRECTORY.
//
// nonsense: connects, sends something that is not a greeting, and closes. refused: greets with a long text that is
// not a configuration. goes: comes as client CLIENT, CLIENT + 1, …, and goes without goodbye. drops: comes once, and
// drops TIMES iterations. sits: comes, prints a byte, and waits to be killed.
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>

#include "place/core/runtime_directory.hpp"
#include "raw_client.hpp"
#include "runtime/core/client_message.hpp"

namespace {

using namespace tailrace::impl;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "core_flood: %s\n", what.c_str());
  std::exit(1);
}

UnixSocket connect(const RuntimeDirectory& job) {
  Result<UnixSocket> socket = UnixSocket::connect(job.directory(), RuntimeDirectory::server_socket(0), test::kAnswer);
  if (!socket.ok()) fail(socket.status().fault().message);
  return std::move(socket).value();
}

void say_hello(UnixSocket& socket, int client, const std::string& text) {
  Hello hello;
  hello.client = client;
  hello.configuration = text.size();
  const FileDescriptor file = test::file_of(text);
  const int descriptor = file.get();
  if (!socket.send(std::as_bytes(std::span(&hello, 1)), {&descriptor, 1}, test::kAnswer).ok()) fail("no greeting");
}

void wait_for_close(const UnixSocket& socket) {
  if (wait_for_events(socket.fd(), POLLIN, test::kAnswer) == 0) fail("the server does not answer");
}

void say_nonsense(const RuntimeDirectory& job) {
  UnixSocket socket = connect(job);
  const char text[] = "hello, server";
  if (!socket.send(std::as_bytes(std::span(text)), {}, test::kAnswer).ok()) fail("nobody listens");
  wait_for_close(socket);
}

void be_refused(const RuntimeDirectory& job, int client) {
  UnixSocket socket = connect(job);
  say_hello(socket, client, std::string(100000, 'x'));
  wait_for_close(socket);
}

test::Attached attach(const RuntimeDirectory& job, const ConfigInput& input) {
  const Result<std::string> said = encode_client(input);
  if (!said.ok()) fail(said.status().fault().message);
  UnixSocket socket = connect(job);
  say_hello(socket, input.client, said.value());
  std::optional<test::Attached> attached = test::welcomed(std::move(socket), 0);
  if (!attached) fail("is refused");
  return std::move(*attached);
}

void drop_iterations(test::Attached& at, int times) {
  const uint64_t one = 1;
  const auto ring_bell = [&] {
    if (::write(at.bell.get(), &one, sizeof one) < 0) fail("the bell is gone");
    sched_yield();
  };
  Descriptor verb;
  verb.verb = Verb::drop_iteration;
  for (verb.iteration = 0; verb.iteration < times; ++verb.iteration) {
    verb.sequence = ++at.sequence;
    while (!at.channel().ring.push(verb)) ring_bell();
  }
  while (!at.channel().ring.empty()) ring_bell();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  const int times = std::atoi(argv[5]);
  const std::string kind = argv[6];
  const Result<RuntimeDirectory> job =
      RuntimeDirectory::open(RuntimeDirectory::default_root(), RuntimeDirectory::job_name(argv[3], argv[2]));
  if (!job.ok()) fail(job.status().fault().message);
  ConfigInput input;
  input.file = argv[1];
  input.path_override = argv[2];
  input.client = std::atoi(argv[4]);
  if (kind == "drops" || kind == "sits") {
    test::Attached attached = attach(job.value(), input);
    if (kind == "drops") drop_iterations(attached, times);
    if (::write(STDOUT_FILENO, ".", 1) != 1) return 1;
    while (kind == "sits") pause();
    return 0;
  }
  for (int time = 0; time < times; ++time) {
    if (kind == "nonsense") say_nonsense(job.value());
    if (kind == "refused") be_refused(job.value(), input.client);
    if (kind == "goes") attach(job.value(), input);
    if (kind == "goes") ++input.client;
  }
  return 0;
}
