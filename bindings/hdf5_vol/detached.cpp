#include "detached.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "carrier.hpp"

namespace tailrace::hdf5 {
namespace {

std::string real_path(const std::string& name) {
  char path[PATH_MAX] = "";
  return realpath(name.c_str(), path) != nullptr ? path : "";
}

}  // namespace

bool is_link(const std::string& name) {
  struct stat info {};
  return ::lstat(name.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

std::string partial_of(const std::string& path) { return path + ".partial"; }

std::string left_as_partial(const std::string& path, const std::string& why) {
  return "'" + path + "' is not whole, and is left as '" + partial_of(path) + "': " + why;
}

std::string place_of(const std::string& name) {
  struct stat info {};
  if (::stat(name.c_str(), &info) == 0) return S_ISREG(info.st_mode) ? real_path(name) : "";
  if (is_link(name)) return "";
  const size_t slash = name.rfind('/');
  const std::string base = slash == std::string::npos ? name : name.substr(slash + 1);
  const std::string directory = real_path(slash == std::string::npos ? "." : name.substr(0, slash + 1));
  if (directory.empty() || base.empty()) return "";
  return (directory == "/" ? "" : directory) + "/" + base;
}

Detached& Detached::instance() {
  static Detached* const only = new Detached;  // never destroyed
  return *only;
}

// Beside what a link leads to, not beside the link: it is renamed.
std::string Detached::begin(const std::string& path, const std::string& name) {
  [[maybe_unused]] static const int at_exit = std::atexit([] { instance().finish(); });
  const std::lock_guard lock(mutex_);
  const std::string below = partial_of(is_link(name) ? path : name);
  open_[path][below] = name;
  return below;
}

std::string Detached::open_as(const std::string& path, const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(path);
  if (found == open_.end()) return "";
  const std::string below = partial_of(is_link(name) ? path : name);
  found->second[below] = name;
  return below;
}

void Detached::forget(const std::string& path) {
  const std::lock_guard lock(mutex_);
  open_.erase(path);
}

std::string Detached::name_of(const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (const auto& [path, names] : open_) {
    const auto found = names.find(name);
    if (found != names.end()) return found->second;
  }
  return name;
}

void Detached::left(const std::string& path, std::optional<tailrace_ticket> ticket, const std::string& why,
                    bool told) {
  const std::lock_guard lock(mutex_);
  if (open_.erase(path) == 0) return;
  if (ticket) {
    if (!why.empty() && !told) add_failure(path, why);
    leaving_[path] = {*ticket, told || !why.empty()};
  } else if (!why.empty()) {
    if (!told) add_failure(path, why);
  } else if (std::rename(partial_of(path).c_str(), path.c_str()) != 0) {
    add_failure(path, std::string("it could not be renamed: ") + std::strerror(errno));
  }
}

void Detached::add_failure(const std::string& path, const std::string& why) {
  const std::string message = left_as_partial(path, why);
  if (ending_) {
    std::fprintf(stderr, "tailrace: %s\n", message.c_str());
  } else {
    failures_[path] = message;
  }
}

bool Detached::settle(const std::string& path, const Leaving& leaving, int64_t milliseconds) {
  const Carrier::Refusal end = Carrier::instance().wait(leaving.ticket, milliseconds, path);
  if (end.status == TAILRACE_TIMEOUT) return false;
  Carrier::instance().take_failures(path);  // of the same cause
  if (end.status != TAILRACE_OK && !leaving.told) add_failure(path, end.message);
  return true;
}

std::string Detached::wait(const std::string& path) {
  outwait(path);
  const std::lock_guard lock(mutex_);
  const auto failed = failures_.extract(path);
  return failed.empty() ? "" : failed.mapped();
}

void Detached::outwait(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = leaving_.find(path);
  if (found == leaving_.end()) return;
  settle(path, found->second, -1);
  leaving_.erase(found);
}

std::vector<std::string> Detached::take_failures() {
  const std::lock_guard lock(mutex_);
  std::erase_if(leaving_, [this](const auto& one) { return settle(one.first, one.second, 0); });
  std::vector<std::string> all;
  for (auto& [path, message] : failures_) all.push_back(std::move(message));
  failures_.clear();
  return all;
}

void Detached::finish() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
  for (const auto& [path, leaving] : leaving_) settle(path, leaving, -1);
  leaving_.clear();
  for (const auto& [path, message] : failures_) std::fprintf(stderr, "tailrace: %s\n", message.c_str());
  failures_.clear();
}

void Detached::after_fork_in_child() {
  open_.clear();
  leaving_.clear();
  failures_.clear();
  mutex_.unlock();
}

}  // namespace tailrace::hdf5
