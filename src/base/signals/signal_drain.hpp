// SignalDrain: functions that run before a signal ends the process, which would lose what the process still has to
// write.
//
// The first function that is added starts a thread, and takes the signals whose action is the default one: to end
// the process. What the program has given an action, or gives one later, stays the program's. When such a signal
// comes, the thread runs the functions, for as long as they are allowed, and then has the signal end the process as
// it would have. Meanwhile the program goes on, but does not exit. A forked child has no thread: there the signal
// acts at once, unless the child adds functions of its own.
#pragma once

#include <functional>

#include "base/clock.hpp"

namespace tailrace::impl {

// Adds a function that may run at any time, on a thread of its own. It runs for as long as `patience` allows (0: as
// a client does, see below): the process then ends although it has not returned. Any thread may call. Throws
// std::system_error if no thread can be started; then signals stay as they are.
void drain_at_signals(std::function<void()> drain, Nanoseconds patience);

// Tells how long a client of this process allows. Functions without a patience of their own run for as long as the
// most patient client allows, or for 600 s if there was none. Any thread may call.
void add_client_patience(Nanoseconds patience);

// Runs the functions now, and waits for them as long: for a process that is about to end otherwise.
void drain_now();

}  // namespace tailrace::impl
