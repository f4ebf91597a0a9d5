#include "runtime/core/departed_clients.hpp"

#include <fmt/format.h>
#include <time.h>

#include <string>
#include <vector>

#include "base/os/process.hpp"
#include "place/core/rendezvous.hpp"
#include "place/core/runtime_directory.hpp"
#include "runtime/core/client_note.hpp"

namespace tailrace::impl {
namespace {

constexpr timespec kBetweenLooks{0, 1'000'000};

// Returns true if the client is one of the process, which has ended, and a server that lives still writes for it.
bool is_written_for(const RuntimeDirectory& job, int client, pid_t process) {
  const Result<ClientNote> note = ClientNote::read(job.directory(), client);
  if (!note.ok() || note.value().process != process) return false;
  const bool has_ended = !note.value().alive() || process_is_ending(process);
  return has_ended && ServerLock::is_taken(job, note.value().server);
}

Status wait_in(const RuntimeDirectory& job, pid_t process, const Deadline& deadline) {
  const Result<std::vector<std::string>> names = job.directory().names();
  if (!names.ok()) return {};
  for (const int client : RuntimeDirectory::noted_clients(names.value())) {
    while (is_written_for(job, client, process)) {
      if (deadline.left() == Nanoseconds::zero()) {
        return Status(TAILRACE_TIMEOUT,
                      fmt::format("process {} has ended, and the server of job '{}' has not written "
                                  "all of its data yet",
                                  process, job.job()));
      }
      nanosleep(&kBetweenLooks, nullptr);
    }
  }
  return {};
}

}  // namespace

Status wait_for_departed_client(pid_t process, const Deadline& deadline) {
  const std::string root = RuntimeDirectory::default_root();
  const Result<std::vector<std::string>> jobs = RuntimeDirectory::jobs(root);
  if (!jobs.ok()) return {};
  for (const std::string& name : jobs.value()) {
    const Result<RuntimeDirectory> job = RuntimeDirectory::open_existing(root, name);
    if (!job.ok()) continue;  // its server has removed it
    if (Status waited = wait_in(job.value(), process, deadline); !waited.ok()) return waited;
  }
  return {};
}

}  // namespace tailrace::impl
