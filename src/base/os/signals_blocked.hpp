// SignalsBlocked: blocks all signals in the calling thread while it exists, and for good in the threads started
// meanwhile. The application's signals belong to the application's threads. A new thread inherits the mask, so no
// signal can reach it at any moment.
#pragma once

#include <pthread.h>
#include <signal.h>

#include "base/assert.hpp"

namespace tailrace::impl {

class SignalsBlocked {
 public:
  // `but` is a signal that stays unblocked; 0: none. Threads that touch memory of a MemoryGuard need SIGBUS: a
  // thread's own fault ends the process if the signal is blocked.
  explicit SignalsBlocked(int but = 0) {
    sigset_t all;
    sigfillset(&all);
    if (but != 0) sigdelset(&all, but);
    TAILRACE_ASSERT(pthread_sigmask(SIG_SETMASK, &all, &before_) == 0);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace tailrace::impl
