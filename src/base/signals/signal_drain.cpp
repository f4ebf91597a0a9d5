#include "base/signals/signal_drain.hpp"

#include <dlfcn.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include "base/os/signals_blocked.hpp"

namespace tailrace::impl {
namespace {

// Signals that end a process by their default action, and that are sent by a user, a batch system, a limit.
// Those of a fault in the program are left alone: after a fault nothing can be trusted.
constexpr std::array kSignals{SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ, SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE};

constexpr Nanoseconds kPatienceWithoutClient = std::chrono::seconds(600);  // the default of `place.patience`

// The longest patience of a client, in one number, so that a forked child forgets that of its parent.
class ClientPatience {
 public:
  void add(Nanoseconds patience) {
    uint64_t found = of_process_.load(std::memory_order_relaxed);
    const uint64_t added = of_this_process() | static_cast<uint64_t>((patience + kUnit - Nanoseconds(1)) / kUnit);
    while ((!is_of_this_process(found) || found < added) &&
           !of_process_.compare_exchange_weak(found, added, std::memory_order_relaxed)) {
    }
  }
  // 0: there was no client.
  Nanoseconds longest() const {
    const uint64_t found = of_process_.load(std::memory_order_relaxed);
    return is_of_this_process(found) ? kUnit * static_cast<uint32_t>(found) : Nanoseconds(0);
  }

 private:
  static constexpr Nanoseconds kUnit = std::chrono::milliseconds(10);  // the longest one possible has 32 bits

  static uint64_t of_this_process() { return static_cast<uint64_t>(getpid()) << 32; }
  static bool is_of_this_process(uint64_t found) { return found >> 32 == of_this_process() >> 32; }

  // relaxed: a number by itself.
  std::atomic<uint64_t> of_process_ = 0;
};
ClientPatience patience_of_clients;

struct Drain {
  std::function<void()> run;
  Nanoseconds patience;  // 0: that of the clients
};

// Never destroyed: a signal may come until the process has ended.
struct State {
  const pid_t process = getpid();

  std::mutex mutex;
  std::vector<Drain> drains;  // guarded by mutex

  std::atomic<int> signal{0};  // the first one that has come
  sem_t come;                  // posted by the handler
};

// The state of this process, or of the one that forked it. release: a handler, or a thread, that sees a state sees it
// complete; partners: the loads with acquire.
std::atomic<State*> latest{nullptr};
static_assert(std::atomic<State*>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler uses them");

void end_by(int signal) {
  struct sigaction ends {};
  ends.sa_handler = SIG_DFL;
  sigaction(signal, &ends, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
}

// Calls only what is safe in a handler (signal-safety(7)).
extern "C" void on_signal(int signal) {
  const int kept = errno;
  State* const state = latest.load(std::memory_order_acquire);
  if (state->process != getpid()) return end_by(signal);  // a child has no thread that would hear of it
  int none = 0;
  // relaxed: sem_post and sem_wait order it.
  state->signal.compare_exchange_strong(none, signal, std::memory_order_relaxed);
  sem_post(&state->come);
  errno = kept;
}

// Takes the signals that have no other action. An interrupted call of the system goes on, and a thread that has a
// stack for signals gets this one there.
void take_signals() {
  struct sigaction ours {};
  ours.sa_handler = on_signal;
  ours.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  for (const int signal : kSignals) {
    struct sigaction found {};
    if (sigaction(signal, nullptr, &found) != 0) continue;
    const bool is_plain = (found.sa_flags & SA_SIGINFO) == 0;
    if (is_plain && found.sa_handler == SIG_DFL) sigaction(signal, &ours, nullptr);
  }
}

void run_all(State& state) {
  std::vector<Drain> drains;
  {
    const std::lock_guard lock(state.mutex);
    drains = state.drains;
  }
  Nanoseconds patience{0};
  for (const Drain& drain : drains) {
    const Nanoseconds own = drain.patience > Nanoseconds(0) ? drain.patience : patience_of_clients.longest();
    patience = std::max(patience, own > Nanoseconds(0) ? own : kPatienceWithoutClient);
  }
  const auto ended = std::make_shared<std::binary_semaphore>(0);
  std::thread([drains = std::move(drains), ended] {
    for (const Drain& drain : drains) drain.run();
    ended->release();
  }).detach();
  ended->try_acquire_for(patience);
}

void serve(State& state) {
  while (sem_wait(&state.come) != 0) {
  }
  try {
    run_all(state);
  } catch (const std::exception&) {
    // The system has no memory or no thread left: the signal acts at once.
  }
  end_by(state.signal.load(std::memory_order_relaxed));
}

// The thread and the handlers are in this library, which a program might unload.
void keep_this_library_loaded() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<void*>(&on_signal), &own) == 0) return;
  dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

// A program that comes to its end while it is drained has not done what it should: it ends by the signal.
void leave_it_to_signal() {
  const State* const state = latest.load(std::memory_order_acquire);
  if (state->process != getpid()) return;
  while (state->signal.load(std::memory_order_relaxed) != 0) pause();
}

State& state_of_this_process() {
  State* found = latest.load(std::memory_order_acquire);
  if (found != nullptr && found->process == getpid()) return *found;
  auto* const made = new State;
  sem_init(&made->come, 0, 0);
  State* const before = found;
  if (!latest.compare_exchange_strong(found, made, std::memory_order_release, std::memory_order_acquire)) {
    delete made;  // another thread was faster
    return *found;
  }
  try {
    const SignalsBlocked blocked;  // the thread inherits it
    std::thread([made] { serve(*made); }).detach();
  } catch (...) {
    latest.store(before, std::memory_order_release);
    throw;
  }
  if (before == nullptr) {  // a forked child has these from its parent
    keep_this_library_loaded();
    std::atexit(leave_it_to_signal);
    std::at_quick_exit(leave_it_to_signal);
  }
  take_signals();
  return *made;
}

}  // namespace

void drain_at_signals(std::function<void()> drain, Nanoseconds patience) {
  State& state = state_of_this_process();
  const std::lock_guard lock(state.mutex);
  state.drains.push_back({std::move(drain), patience});
}

void add_client_patience(Nanoseconds patience) { patience_of_clients.add(patience); }

void drain_now() {
  State* const state = latest.load(std::memory_order_acquire);
  if (state == nullptr || state->process != getpid()) return;
  const SignalsBlocked blocked;
  run_all(*state);
}

}  // namespace tailrace::impl
