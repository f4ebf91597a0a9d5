#include "openfoam/preload/tell.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "openfoam/preload/looks.hpp"

namespace tailrace::openfoam {
namespace {

struct Listener {
  TailraceFoamLook look;
  pid_t process;
};

Listener listener{};
// Set once, when `listener` is; its release store pairs with the acquire load in told().
std::atomic<bool> listens{false};

// tailrace's threads have names that begin so, and a thread gets the name of the one that starts it.
bool is_of_tailrace() {
  static constexpr char kOwn[] = "tailrace";
  thread_local const bool is = [] {
    char name[16] = {};
    return pthread_getname_np(pthread_self(), name, sizeof name) == 0 &&
           std::strncmp(name, kOwn, sizeof kOwn - 1) == 0;
  }();
  return is;
}

// The thread prints its stack.
thread_local bool is_failing = false;

// A child of fork() or vfork() has nothing on its way: all was finished before.
void told(const char* path, bool below) noexcept {
  if (!listens.load(std::memory_order_acquire) || is_of_tailrace() || is_failing) return;
  const int before = errno;
  if (getpid() == listener.process) listener.look(path, below);
  errno = before;
}

// Returns the path as seen from the working directory.
std::string from_here(int directory, const char* path) {
  if (path == nullptr) return {};
  if (directory == AT_FDCWD || path[0] == '/') return path;
  char link[32];
  char target[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
  static const auto next = reinterpret_cast<ssize_t (*)(const char*, char*, size_t)>(next_of("readlink"));
  const ssize_t length = next(link, target, sizeof target);
  return length <= 0 ? std::string() : std::string(target, static_cast<size_t>(length)) + "/" + path;
}

bool is_name(const char* path) { return path != nullptr && path[0] != '\0'; }

}  // namespace

void tell(const char* path) noexcept {
  if (is_name(path)) told(path, false);
}

void tell_below(const char* path) noexcept {
  if (is_name(path)) told(path, true);
}

void tell_new(const char* path) noexcept {
  if (!is_name(path) || !listens.load(std::memory_order_acquire)) return;
  const std::string name = path;
  const size_t slash = name.find_last_not_of('/') == std::string::npos ? std::string::npos
                                                                       : name.rfind('/', name.find_last_not_of('/'));
  told(slash == std::string::npos ? "." : name.substr(0, slash + 1).c_str(), false);
  told(path, false);
}

void tell_all() noexcept { told(nullptr, true); }

void tell_at(int directory, const char* path) noexcept { tell(from_here(directory, path).c_str()); }
void tell_below_at(int directory, const char* path) noexcept { tell_below(from_here(directory, path).c_str()); }
void tell_new_at(int directory, const char* path) noexcept { tell_new(from_here(directory, path).c_str()); }

void tell_nothing(bool nothing) noexcept { is_failing = nothing; }

void* next_of(const char* function) noexcept { return dlsym(RTLD_NEXT, function); }

}  // namespace tailrace::openfoam

extern "C" __attribute__((visibility("default"))) void tailrace_foam_tell_looks(TailraceFoamLook look) {
  using namespace tailrace::openfoam;
  if (listens.load(std::memory_order_acquire)) return;
  listener = {look, getpid()};
  listens.store(true, std::memory_order_release);
  // The child of fork() looks at files with functions of its own.
  pthread_atfork(tell_all, nullptr, nullptr);
}
