// RuntimeDirectory: the place where the processes of a job on one node meet, and the names of all files there.
//
//   /dev/shm/tailrace-1000/            the root: one user's, mode 0700 (TAILRACE_RUNTIME_DIR names another)
//     cm1-0f3a…/                       a job: its name, and a hash of its output directory
//       election.lock                  its holder may start a server (rendezvous)
//       server_0.lock, server_0.sock   lock and socket of the running server
//       server_0.ledger                requests that it has accepted and not yet published
//       server_0.segment, server_0.new files that it is making, before they get their final names
//       client_3.json                  the client's process, server and configuration; made first, removed last
//       client_3.segment               memory that client 3 and its server share
//
// The contents of the files are not defined here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/os/private_directory.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

class RuntimeDirectory {
 public:
  // Returns TAILRACE_RUNTIME_DIR if it is set, else `/dev/shm/tailrace-<user>`.
  static std::string default_root();
  // Returns the directory of the job `name` that writes to `output` (its first output directory, relative or
  // absolute).
  static std::string job_name(const std::string& name, const std::string& output);
  // Returns the `name` of a job.
  static std::string_view name_in(std::string_view job) { return job.substr(0, job.rfind('-')); }

  static std::string election_lock() { return "election.lock"; }
  // Servers of a node are 0, 1, …. A client whose server has died may become one itself, with this number.
  static constexpr int kFirstOwnServer = 1000;
  static int own_server(int client) { return kFirstOwnServer + client; }

  static std::string server_lock(int server);
  static std::string server_socket(int server);
  static std::string server_ledger(int server);
  // Returns the name of a new client's segment before the server serves the client.
  static std::string fresh_segment(int server);
  static std::string client_segment(int client);
  // Returns the name of the file in which the server records a client: its process and its configuration.
  static std::string client_note(int client);
  // Return the clients that have a segment, and those that are recorded, sorted.
  static std::vector<int> clients_of(const std::vector<std::string>& names);
  static std::vector<int> noted_clients(const std::vector<std::string>& names);
  // Returns the servers that have files other than logs, sorted.
  static std::vector<int> servers_of(const std::vector<std::string>& names);

  // Opens the root and the job's directory, and creates missing ones. `job` is a result of job_name().
  static Result<RuntimeDirectory> open(const std::string& root, const std::string& job);
  // Opens existing ones. Fails with ENOENT if they are missing.
  static Result<RuntimeDirectory> open_existing(const std::string& root, const std::string& job);
  // Returns the jobs that have a directory in `root`; none if there is no root.
  static Result<std::vector<std::string>> jobs(const std::string& root);

  const PrivateDirectory& directory() const { return directory_; }
  const std::string& root() const { return root_.path(); }
  const std::string& job() const { return job_; }

  // Makes the job's directory again if a server removed it meanwhile, at its end.
  Status make_again();
  // Removes the job's directory if it contains only locks that are free, and no process holds an election.
  // Returns true if it is gone. The root stays.
  Result<bool> remove_if_unused();

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
