#include "hdf5_vol/process/process.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "hdf5_vol/process/seal.hpp"
#include "process_client/counted.hpp"

namespace tailrace::hdf5 {

using process::FileKey;

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

// Returns a path of what the name leads to from that directory.
std::string path_of(int directory, const std::string& name) {
  const bool is_path = directory == AT_FDCWD || name.starts_with('/');
  return is_path ? name : "/proc/self/fd/" + std::to_string(directory) + "/" + name;
}

}  // namespace

std::string hidden_name_of(const std::string& path) { return path + ".partial"; }

std::string not_whole(const std::string& path, const std::string& why) {
  return "'" + path + "' is incomplete, and cannot be opened: " + why;
}

void Detached::left(const std::string& path, tailrace_ticket ticket) {
  const std::lock_guard lock(mutex_);
  leaving_.push_back({path, FileKey::of(path), ticket});
  ++closed_;
  any_.store(true, std::memory_order_relaxed);
}

void Detached::broken(const std::string& path, const std::string& why) {
  const std::lock_guard lock(mutex_);
  broken_[FileKey::of(path)] = not_whole(path, why);
  any_broken_.store(true, std::memory_order_relaxed);
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
  broken_[leaving.file] = message;
  any_broken_.store(true, std::memory_order_relaxed);
  failures_[leaving.file] = message;
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
  const FileKey file = FileKey::of(name);
  const std::string path = place_of(name);
  std::erase_if(leaving_,
                [&](const Leaving& one) { return (one.file == file || one.path == path) && settle(one, -1); });
  any_.store(!leaving_.empty(), std::memory_order_relaxed);
  const auto found = broken_.find(file);
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

bool Detached::watch() {
  const auto set = reinterpret_cast<decltype(&tailrace_hdf5_watch)>(dlsym(RTLD_DEFAULT, "tailrace_hdf5_watch"));
  if (set == nullptr) return false;
  set([](tailrace_call call, int directory, const char* name) {
    return Process::instance().detached().before_call(call, directory, name);
  });
  return true;
}

// Calls of tailrace's own: within its calls, and on its threads, whose names begin so. (The first thread has the name
// of the program.)
bool Detached::is_own_call() const {
  if (client_.is_inside() || mutex_.is_mine()) return true;
  char name[16] = "";
  return ::syscall(SYS_gettid) != ::getpid() && ::prctl(PR_GET_NAME, name) == 0 &&
         std::strncmp(name, "tailrace", 8) == 0;
}

void Detached::wait_for(const FileKey& file) {
  const std::lock_guard lock(mutex_);
  std::erase_if(leaving_, [&](const Leaving& one) { return one.file == file && settle(one, -1); });
  any_.store(!leaving_.empty(), std::memory_order_relaxed);
}

int Detached::before_call(tailrace_call call, int directory, const char* name) {
  if (!any() && !any_broken_.load(std::memory_order_relaxed)) return 0;
  if (is_own_call()) return 0;
  struct stat info {};
  const bool exists = name != nullptr && ::fstatat(directory, name, &info, 0) == 0;
  const FileKey file = exists ? FileKey::of(info) : FileKey();
  if (call == TAILRACE_CALL_OPENS) {
    wait_for(file);
    return 0;
  }
  wait_for_all();
  if (call == TAILRACE_CALL_STARTS) return 0;
  const std::lock_guard lock(mutex_);
  // Another file may have its number now.
  const bool is_broken = broken_.contains(file) && lacks_seal(path_of(directory, name));
  if (is_broken && call == TAILRACE_CALL_REMOVES) return 0;
  if (is_broken) {
    failures_.erase(file);
    return EIO;
  }
  return std::exchange(failures_, {}).empty() ? 0 : EIO;
}

void Detached::look() {
  if (!any()) return;
  const std::lock_guard lock(mutex_);
  settle_all(0);
}

std::vector<std::string> Detached::take_failures() {
  look();
  const std::lock_guard lock(mutex_);
  std::vector<std::string> failures;
  for (const auto& [file, failure] : std::exchange(failures_, {})) failures.push_back(failure);
  return failures;
}

void Detached::finish() {
  const std::lock_guard lock(mutex_);
  settle_all(-1);
  if (failed_ == 0) return;
  std::fprintf(stderr, "tailrace: %llu of %s that the program closed without waiting %s incomplete\n",
               static_cast<unsigned long long>(failed_), process::counted(closed_, "HDF5 file").c_str(),
               failed_ == 1 ? "is" : "are");
  failed_ = 0;
}

void Detached::before_fork() {
  wait_for_all();
  mutex_.lock();
}

// The files belong to the parent.
void Detached::after_fork_in_child() {
  any_.store(false, std::memory_order_relaxed);
  any_broken_.store(false, std::memory_order_relaxed);
  closed_ = failed_ = 0;
  leaving_.clear();
  broken_.clear();
  failures_.clear();
  mutex_.unlock();
}

}  // namespace tailrace::hdf5
