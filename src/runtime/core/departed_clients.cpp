#include "runtime/core/departed_clients.hpp"

#include <fmt/format.h>
#include <time.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include "base/os/process.hpp"
#include "place/core/rendezvous.hpp"
#include "place/core/runtime_directory.hpp"
#include "place/core/server_executable.hpp"
#include "runtime/core/client_message.hpp"
#include "runtime/core/client_note.hpp"

namespace tailrace::impl {
namespace {

constexpr timespec kBetweenLooks{0, 200'000};
constexpr Nanoseconds kStart = std::chrono::seconds(30);

bool has_ended(const ClientNote& note) { return !note.alive() || process_is_ending(note.process); }

// Returns the configuration of a client with raw files and no variables.
Result<Config> raw_files_of(const ClientNote& note) {
  const Result<ClientMessage> message = decode_client(note.message);
  if (!message.ok()) return message.status();
  Result<Config> config = config_of(message.value());
  const bool is_raw = config.ok() && config.value().variables.empty() && !config.value().storage.files.empty();
  return is_raw || !config.ok() ? std::move(config) : Status(TAILRACE_NOT_FOUND, "it has variables");
}

// Starts a server that takes over from the one that served the client. A server of the node drains those that were
// their own (see OwnServer).
Status replace_server(RuntimeDirectory& job, const ClientNote& note, const Config& config) {
  const Result<std::string> program = find_server_executable(config.place.server);
  if (!program.ok()) return program.status();
  const int server = note.server < RuntimeDirectory::kFirstOwnServer ? note.server : 0;
  StartOptions start;
  start.executable = program.value();
  start.arguments = {"--root", job.root(), "--job", job.job(), "--server", std::to_string(server),
                     "--wait", "1",        "--log", "error",   "--started"};
  start.limit = kStart;
  return meet(job, server, start).status();
}

// Waits until the client's server has dismissed it.
Status wait_for(RuntimeDirectory& job, int client, const ClientNote& left, const Deadline& deadline) {
  const Result<Config> config = raw_files_of(left);
  if (!config.ok()) return {};
  for (;;) {
    const Result<ClientNote> note = ClientNote::read(job.directory(), client);
    // Another process may have come as this client by now.
    if (!note.ok() || note.value().process != left.process || note.value().began != left.began) return {};
    if (!ServerLock::is_taken(job, note.value().server)) {
      const Status replaced = replace_server(job, note.value(), config.value());
      if (!replaced.ok()) return replaced;
    }
    if (deadline.left() == Nanoseconds::zero()) {
      return Status(
          TAILRACE_TIMEOUT,
          fmt::format("process {} has ended, and its data of job '{}' are not written yet", left.process, job.job()));
    }
    nanosleep(&kBetweenLooks, nullptr);
  }
}

Status wait_in(RuntimeDirectory& job, const Deadline& deadline) {
  const Result<std::vector<std::string>> names = job.directory().names();
  if (!names.ok()) return {};
  for (const int client : RuntimeDirectory::noted_clients(names.value())) {
    const Result<ClientNote> note = ClientNote::read(job.directory(), client);
    if (!note.ok() || !has_ended(note.value())) continue;
    if (Status waited = wait_for(job, client, note.value(), deadline); !waited.ok()) return waited;
  }
  return {};
}

}  // namespace

Status wait_for_departed_clients(const Deadline& deadline) {
  const std::string root = RuntimeDirectory::default_root();
  const Result<std::vector<std::string>> jobs = RuntimeDirectory::jobs(root);
  if (!jobs.ok()) return {};
  for (const std::string& name : jobs.value()) {
    Result<RuntimeDirectory> job = RuntimeDirectory::open_existing(root, name);
    if (!job.ok()) continue;  // its server has removed it
    if (Status waited = wait_in(job.value(), deadline); !waited.ok()) return waited;
  }
  return {};
}

}  // namespace tailrace::impl
