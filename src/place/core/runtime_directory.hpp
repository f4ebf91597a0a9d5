// RuntimeDirectory: where the processes of a job on one node find each other, and the names of all files there.
//
//   /dev/shm/tailrace-1000/            the root: of one user, mode 0700 (TAILRACE_RUNTIME_DIR names another)
//     cm1-0f3a…/                       a job's: its name and a hash of where it writes
//       election.lock                  who may start a server (rendezvous)
//       server_0.lock, server_0.sock   of the server that runs
//       server_0.log                   what it, or the system for it, had to say on stderr
//       server_0.ledger                what it has accepted and not yet published
//       server_0.segment, server_0.new, what it is just making, before it gets its name
//       client_3.json                  who that client is, its server, and its configuration; first there, last to go
//       client_3.segment               memory that client 3 and its server share
//
// What the files hold is not known here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/os/private_directory.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

class RuntimeDirectory {
 public:
  // TAILRACE_RUNTIME_DIR if it is set, else `/dev/shm/tailrace-<user>`.
  static std::string default_root();
  // The directory of the job `name` that writes to `output` (its first output directory, relative or absolute).
  static std::string job_name(const std::string& name, const std::string& output);

  static std::string election_lock() { return "election.lock"; }
  // Servers of a node are 0, 1, …; a client whose server has died may be one itself, of this number.
  static constexpr int kFirstOwnServer = 1000;
  static int own_server(int client) { return kFirstOwnServer + client; }

  static std::string server_lock(int server);
  static std::string server_socket(int server);
  static std::string server_log(int server);
  static std::string server_ledger(int server);
  // Returns the name of the segment of a client that the server is about to take in.
  static std::string fresh_segment(int server);
  static std::string client_segment(int client);
  // Returns the name of the file in which the server notes a client: its process and its configuration.
  static std::string client_note(int client);
  // The clients that have a segment, sorted; those that are written down.
  static std::vector<int> clients_of(const std::vector<std::string>& names);
  static std::vector<int> noted_clients(const std::vector<std::string>& names);
  // The servers that have files beside logs, sorted.
  static std::vector<int> servers_of(const std::vector<std::string>& names);

  // Makes root and job directory if they are missing. `job` is what job_name() gave.
  static Result<RuntimeDirectory> open(const std::string& root, const std::string& job);
  // Fails with ENOENT if they are missing.
  static Result<RuntimeDirectory> open_existing(const std::string& root, const std::string& job);
  // The jobs that have a directory in `root`; none if there is no root.
  static Result<std::vector<std::string>> jobs(const std::string& root);

  const PrivateDirectory& directory() const { return directory_; }
  const std::string& root() const { return root_.path(); }
  const std::string& job() const { return job_; }

  // Makes the job's directory again if a server that ended has removed it in the meantime.
  Status make_again();
  // Removes the job's directory if nothing but the election's lock and empty logs are left in it and nobody is
  // electing; true if it is gone. The root stays.
  Result<bool> remove_if_unused();
  // TAILRACE_OUT_OF_MEMORY if less than `bytes` can be had for segments.
  Status check_free(uint64_t bytes) const;

 private:
  static Result<RuntimeDirectory> open(const std::string& root, const std::string& job,
                                       PrivateDirectory::Missing missing);
  RuntimeDirectory(PrivateDirectory root, PrivateDirectory directory, std::string job)
      : root_(std::move(root)), directory_(std::move(directory)), job_(std::move(job)) {}

  PrivateDirectory root_;
  PrivateDirectory directory_;
  std::string job_;
};

}  // namespace tailrace::impl
