#include "hdf5_vol/process/process.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "hdf5_vol/process/seal.hpp"

namespace tailrace::hdf5 {
namespace {

// Returns the absolute path where a file of this name is, or would be, with no links on the way; "" if that cannot be
// found out.
std::string place_of(const std::string& name) {
  const auto real_path = [](const std::string& of) {
    char path[PATH_MAX] = "";
    return std::string(realpath(of.c_str(), path) != nullptr ? path : "");
  };
  const std::string path = real_path(name);
  if (!path.empty()) return path;
  const size_t slash = name.rfind('/');
  const std::string directory = real_path(slash == std::string::npos ? "." : name.substr(0, slash + 1));
  if (directory.empty()) return "";
  return (directory == "/" ? "" : directory) + "/" + (slash == std::string::npos ? name : name.substr(slash + 1));
}

}  // namespace

std::string hidden_name_of(const std::string& path) { return path + ".partial"; }

std::string not_whole(const std::string& path, const std::string& why) {
  return "'" + path + "' is not whole, and cannot be opened: " + why;
}

Detached::Identity Detached::identity_of(const std::string& name) {
  struct stat info {};
  return ::stat(name.c_str(), &info) == 0 ? Identity(info.st_dev, info.st_ino) : Identity();
}

void Detached::left(const std::string& path, tailrace_ticket ticket) {
  const std::lock_guard lock(mutex_);
  leaving_.push_back({path, identity_of(path), ticket});
  ++closed_;
  any_.store(true, std::memory_order_relaxed);
}

void Detached::broken(const std::string& path, const std::string& why) {
  const std::lock_guard lock(mutex_);
  broken_[identity_of(path)] = not_whole(path, why);
  ++closed_;
  ++failed_;
}

bool Detached::settle(const Leaving& leaving, int64_t milliseconds) {
  const process::ProcessClient::Refusal end = client_.wait(leaving.ticket, milliseconds, leaving.path);
  if (end.status == TAILRACE_TIMEOUT) return false;
  client_.take_failures(leaving.path);  // they have the same cause
  if (end.status == TAILRACE_OK) return true;
  const std::string message = not_whole(leaving.path, end.message);
  std::fprintf(stderr, "tailrace: %s\n", message.c_str());
  broken_[leaving.identity] = message;
  failures_.push_back(message);
  ++failed_;
  return true;
}

void Detached::settle_all(int64_t milliseconds) {
  std::erase_if(leaving_, [&](const Leaving& one) { return settle(one, milliseconds); });
  any_.store(!leaving_.empty(), std::memory_order_relaxed);
}

// Compares places, too: if the program removes or renames the file and creates another there, tailrace sees the same
// name.
std::string Detached::wait(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (leaving_.empty() && broken_.empty()) return "";
  const Identity identity = identity_of(name);
  const std::string path = place_of(name);
  std::erase_if(leaving_, [&](const Leaving& one) {
    return (one.identity == identity || one.path == path) && settle(one, -1);
  });
  any_.store(!leaving_.empty(), std::memory_order_relaxed);
  const auto found = broken_.find(identity);
  if (found == broken_.end()) return "";
  if (lacks_seal(name)) return found->second;
  broken_.erase(found);  // it was created again, or is another file
  return "";
}

void Detached::wait_for_all() {
  if (!any()) return;
  const std::lock_guard lock(mutex_);
  settle_all(-1);
}

void Detached::look() {
  if (!any()) return;
  const std::lock_guard lock(mutex_);
  settle_all(0);
}

std::vector<std::string> Detached::take_failures() {
  look();
  const std::lock_guard lock(mutex_);
  return std::exchange(failures_, {});
}

void Detached::finish() {
  const std::lock_guard lock(mutex_);
  settle_all(-1);
  if (failed_ == 0) return;
  std::fprintf(stderr, "tailrace: %llu of %llu HDF5 files that were closed without waiting are not whole\n",
               static_cast<unsigned long long>(failed_), static_cast<unsigned long long>(closed_));
  failed_ = 0;
}

void Detached::before_fork() {
  wait_for_all();
  mutex_.lock();
}

// The files belong to the parent.
void Detached::after_fork_in_child() {
  any_.store(false, std::memory_order_relaxed);
  closed_ = failed_ = 0;
  leaving_.clear();
  broken_.clear();
  failures_.clear();
  mutex_.unlock();
}

}  // namespace tailrace::hdf5
