// The door's own threads, which live as long as the process.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace tailrace::process {

// Runs `body` on a new thread with that name, of at most 15 characters. The thread blocks all signals, so that the
// program's signals reach the program's threads. Throws std::system_error if the system cannot start a thread.
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
  const SignalsBlocked blocked;  // the thread inherits this
  std::thread thread(std::move(body));
  pthread_setname_np(thread.native_handle(), name);  // set it here, so that the thread has its name when this returns
  thread.detach();
}

}  // namespace tailrace::process
