#include "place/core/runtime_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>

#include "base/os/file_mutex.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kClientBegin = "client_";
constexpr std::string_view kSegmentEnd = ".segment";
constexpr std::string_view kNoteEnd = ".json";
constexpr std::string_view kServerBegin = "server_";
constexpr std::string_view kLockEnd = ".lock";

// FNV-1a, 64 bits. All processes that share a directory compute it, so it must not change between versions.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

// Returns one form of a path, however it is written and whether or not the directory exists.
std::string canonical(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  fs::path found = fs::weakly_canonical(absolute, error);
  if (error) found = absolute.lexically_normal();
  if (!found.has_filename()) found = found.parent_path();  // "out/" is "out"
  return found.string();
}

// Returns the k of each "client_<k><end>", sorted.
std::vector<int> clients_with(const std::vector<std::string>& names, std::string_view end_of_name) {
  std::vector<int> clients;
  for (const std::string_view name : names) {
    if (!name.starts_with(kClientBegin) || !name.ends_with(end_of_name)) continue;
    if (name.size() <= kClientBegin.size() + end_of_name.size()) continue;
    const char* first = name.data() + kClientBegin.size();
    const char* last = name.data() + name.size() - end_of_name.size();
    int client = -1;
    const auto [end, error] = std::from_chars(first, last, client);
    const bool is_number = error == std::errc{} && end == last && client >= 0;
    if (is_number && name == fmt::format("{}{}{}", kClientBegin, client, end_of_name)) clients.push_back(client);
  }
  std::sort(clients.begin(), clients.end());
  return clients;
}

// Removes the lock of a server that was killed. Returns false if it is no such lock, or if a process holds it. A
// server that takes the lock meanwhile sees that its name is gone, and makes it again.
bool remove_lock_of_the_dead(const PrivateDirectory& directory, const std::string& name) {
  if (!name.starts_with(kServerBegin) || !name.ends_with(kLockEnd)) return false;
  Result<FileMutex> mutex = FileMutex::open_existing(directory, name);
  if (!mutex.ok()) return false;
  const Result<FileMutex::Held> held = mutex.value().lock(Nanoseconds::zero());
  if (held.ok()) mutex.value().remove();
  return held.ok();
}

}  // namespace

std::string RuntimeDirectory::default_root() {
  const char* given = std::getenv("TAILRACE_RUNTIME_DIR");
  if (given != nullptr && *given != '\0') return given;
  return fmt::format("/dev/shm/tailrace-{}", geteuid());
}

std::string RuntimeDirectory::job_name(const std::string& name, const std::string& output) {
  const uint64_t hash = hash_of(canonical(output) + '\0' + name);
  return fmt::format("{}-{:016x}", name, hash);
}

std::string RuntimeDirectory::server_lock(int server) { return fmt::format("server_{}.lock", server); }

std::string RuntimeDirectory::server_socket(int server) { return fmt::format("server_{}.sock", server); }

std::string RuntimeDirectory::server_ledger(int server) { return fmt::format("server_{}.ledger", server); }

std::string RuntimeDirectory::fresh_segment(int server) { return fmt::format("server_{}.segment", server); }

std::string RuntimeDirectory::client_segment(int client) {
  return fmt::format("{}{}{}", kClientBegin, client, kSegmentEnd);
}

std::string RuntimeDirectory::client_note(int client) {
  return fmt::format("{}{}{}", kClientBegin, client, kNoteEnd);
}

std::vector<int> RuntimeDirectory::clients_of(const std::vector<std::string>& names) {
  return clients_with(names, kSegmentEnd);
}

std::vector<int> RuntimeDirectory::noted_clients(const std::vector<std::string>& names) {
  return clients_with(names, kNoteEnd);
}

std::vector<int> RuntimeDirectory::servers_of(const std::vector<std::string>& names) {
  std::set<int> servers;
  for (const std::string& name : names) {
    if (!name.starts_with(kServerBegin)) continue;
    int server = -1;
    const char* const last = name.data() + name.size();
    const auto [end, error] = std::from_chars(name.data() + kServerBegin.size(), last, server);
    if (error == std::errc{} && end != last && *end == '.' && server >= 0) servers.insert(server);
  }
  return {servers.begin(), servers.end()};
}

Result<RuntimeDirectory> RuntimeDirectory::open(const std::string& root, const std::string& job) {
  return open(root, job, PrivateDirectory::Missing::create);
}

Result<RuntimeDirectory> RuntimeDirectory::open_existing(const std::string& root, const std::string& job) {
  return open(root, job, PrivateDirectory::Missing::refuse);
}

Result<RuntimeDirectory> RuntimeDirectory::open(const std::string& root, const std::string& job,
                                                PrivateDirectory::Missing missing) {
  TAILRACE_REQUIRE(!job.empty());
  TAILRACE_REQUIRE(job.find('/') == std::string::npos);
  std::error_code error;
  const fs::path absolute = fs::absolute(root, error);
  if (error) return Status::of_errno("find", root, error.value());
  Result<PrivateDirectory> parent = PrivateDirectory::open(absolute, missing);
  if (!parent.ok()) return parent.status();
  Result<PrivateDirectory> directory = parent.value().open_directory(job, missing);
  if (!directory.ok()) return directory.status();
  return RuntimeDirectory(std::move(parent).value(), std::move(directory).value(), job);
}

Result<std::vector<std::string>> RuntimeDirectory::jobs(const std::string& root) {
  const Result<PrivateDirectory> parent = PrivateDirectory::open(root, PrivateDirectory::Missing::refuse);
  if (parent.ok()) return parent.value().names();
  if (parent.status().fault().system_errno == ENOENT) return std::vector<std::string>();
  return parent.status();
}

Status RuntimeDirectory::make_again() {
  if (directory_.still_there()) return {};
  Result<PrivateDirectory> again = root_.open_directory(job_, PrivateDirectory::Missing::create);
  if (!again.ok()) return again.status();
  directory_ = std::move(again).value();
  return {};
}

Result<bool> RuntimeDirectory::remove_if_unused() {
  if (!directory_.still_there()) return true;
  Result<FileMutex> election = FileMutex::open(directory_, election_lock());
  if (!election.ok() && !directory_.still_there()) return true;  // another process was faster
  if (!election.ok()) return election.status();
  // Holds the election's lock, so that no process starts a server in a directory that is about to be removed.
  const Result<FileMutex::Held> held = election.value().lock(Nanoseconds::zero());
  if (!held.ok() && held.status().code() == TAILRACE_TIMEOUT) return false;
  if (!held.ok()) return held.status();
  const Result<std::vector<std::string>> names = directory_.names();
  if (!names.ok()) return names.status();
  for (const std::string& name : names.value()) {
    if (name != election_lock() && !remove_lock_of_the_dead(directory_, name)) return false;
  }
  election.value().remove();
  return root_.remove_directory(job_);
}

}  // namespace tailrace::impl
