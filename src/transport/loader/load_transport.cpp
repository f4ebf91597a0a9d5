#include "transport/loader/load_transport.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>

#include "base/os/process.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;

// Takes back the handlers of signals, and the stack for them, that were set while it existed.
class KeptSignalHandlers {
 public:
  KeptSignalHandlers() {
    is_stack_known_ = sigaltstack(nullptr, &stack_) == 0;
    for (int number = 1; number < NSIG; ++number)
      is_known_[number] = sigaction(number, nullptr, &before_[number]) == 0;
  }
  ~KeptSignalHandlers() {
    if (is_stack_known_) sigaltstack(&stack_, nullptr);
    for (int number = 1; number < NSIG; ++number) {
      struct sigaction now {};
      if (!is_known_[number] || sigaction(number, nullptr, &now) != 0) continue;
      if (now.sa_sigaction != before_[number].sa_sigaction) sigaction(number, &before_[number], nullptr);
    }
  }
  KeptSignalHandlers(const KeptSignalHandlers&) = delete;
  KeptSignalHandlers& operator=(const KeptSignalHandlers&) = delete;

 private:
  std::array<struct sigaction, NSIG> before_{};
  std::array<bool, NSIG> is_known_{};
  stack_t stack_{};
  bool is_stack_known_ = false;
};

// A module, and what it needs.
struct Module {
  const char* file;
  const char* folder;   // of a build
  const char* library;  // as people call it
  const char* package;  // of Debian, with the library
  const char* headers;  // of Debian, to build the module
};

constexpr Module kTcp{"libtailrace_tcp.so", "transport/tcp", "OpenSSL 3", "libssl3", "libssl-dev"};
constexpr Module kUcx{"libtailrace_ucx.so", "transport/ucx", "UCX", "libucx0", "libucx-dev"};

Result<std::string> find_module(const Module& module) {
  const fs::path here = own_directory();
  std::string looked;
  const std::string folder = module.folder;
  // The last ones are places in a build directory: from src/<folder>, and from a folder of tests.
  for (const std::string& place :
       {std::string("."), std::string("../lib"), "../" + folder, "../../src/" + folder, "../../../src/" + folder}) {
    const fs::path path = (here / place / module.file).lexically_normal();
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) return path.string();
    looked += (looked.empty() ? "" : ", ") + path.string();
  }
  return Status(TAILRACE_NOT_FOUND,
                fmt::format("forwarding needs the library {}, which is in none of: {}. Was tailrace built on a "
                            "machine without {} (Debian package {})?",
                            module.file, looked, module.library, module.headers));
}

bool is_loaded(const char* library) {
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

Result<const TransportModule*> load_module(const Module& of, const std::string& file) {
  void* library = nullptr;
  {
    const KeptSignalHandlers kept;
    library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  }
  if (library == nullptr) {
    const char* reason = dlerror();
    return Status(TAILRACE_UNSUPPORTED,
                  fmt::format("forwarding needs {}; is it installed (Debian package {})? {} cannot be loaded: {}",
                              of.library, of.package, file, reason != nullptr ? reason : "no reason given"));
  }
  const auto function = reinterpret_cast<TransportModuleFunction*>(dlsym(library, kTransportModuleFunction));
  const TransportModule* const module = function != nullptr ? function() : nullptr;
  if (module != nullptr && module->build == kTransportBuild) return module;
  return Status(TAILRACE_UNSUPPORTED, fmt::format("{} is of another version of tailrace: found {:#x}, expected {:#x}",
                                                  file, module != nullptr ? module->build : 0, kTransportBuild));
}

// UCX does not work in a child that was forked by a process which uses it: connections wait forever.
Status check_process() {
  static std::atomic<pid_t> first_user{0};  // one compare and exchange decides: nothing else is published
  pid_t found = 0;
  if (first_user.compare_exchange_strong(found, getpid(), std::memory_order_relaxed) || found == getpid()) return {};
  return Status(
      TAILRACE_UNSUPPORTED,
      fmt::format("found a process that process {} has forked, which uses UCX; expected one that was started "
                  "anew, by exec or multiprocessing's 'spawn': UCX does not work in a forked child",
                  found));
}

}  // namespace

Result<std::unique_ptr<Transport>> load_transport(TransportKind kind, Doorbell& doorbell, TransportOptions options,
                                                  const std::string& file) {
  const Module& of = kind == TransportKind::tcp ? kTcp : kUcx;
  const Result<std::string> path = file.empty() ? find_module(of) : Result<std::string>(file);
  if (!path.ok()) return path.status();
  if (kind == TransportKind::ucx) {
    if (Status status = check_process(); !status.ok()) return status;
    options.others_use_ucx = options.others_use_ucx || is_loaded("libucs.so.0");
  }
  const Result<const TransportModule*> module = load_module(of, path.value());
  if (!module.ok()) return module.status();
  Status why;
  std::unique_ptr<Transport> transport(module.value()->open(doorbell, options, why));
  if (transport == nullptr) return why;
  return transport;
}

}  // namespace tailrace::impl
