// SignalsBlocked: while it exists, the calling thread gets no signals, and a thread that it starts never does: the
// application's signals are the application's. A thread inherits the mask, so that there is no moment in which one
// can land on it.
#pragma once

#include <pthread.h>
#include <signal.h>

#include "base/assert.hpp"

namespace tailrace::impl {

class SignalsBlocked {
 public:
  // `but`: a signal that is not blocked; 0: all are. SIGBUS is for threads that touch what MemoryGuard watches: a
  // fault of a thread's own ends the process if it is blocked.
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
