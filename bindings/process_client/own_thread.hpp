// Threads of a door's own, which live as long as the process.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace tailrace::process {

// Runs `body` on a thread of its own with that name, of at most 15 characters. All signals are blocked there: the
// program's land on the program's threads. Throws std::system_error if the system has none left.
template <typename Body>
void start_own_thread(const char* name, Body body) {
  struct SignalsBlocked {
    SignalsBlocked() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    sigset_t before;
  };
  const SignalsBlocked blocked;  // inherited by the thread
  std::thread thread(std::move(body));
  pthread_setname_np(thread.native_handle(), name);  // from here, so that it has it when this returns
  thread.detach();
}

}  // namespace tailrace::process
