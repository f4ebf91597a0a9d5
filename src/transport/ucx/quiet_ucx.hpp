// QuietUcx: keeps UCX's own messages out of the program's output, and remembers the last one for our messages.
//
// UCX prints warnings and errors to stdout, which belongs to the application. It has one list of log handlers in a
// process, which take no argument; so this file has the state that its handler needs, and there is no other such
// state in the folder. If others in the process use UCX too (Open MPI does), their messages are printed as before.
// A user who sets UCX_LOG_LEVEL wants to read the messages, and gets all of them.
#pragma once

#include <string>

namespace tailrace::impl {

// Begins to keep messages: all of them, or, if others use UCX, those of threads that have a QuietUcx. Only the first
// call in a process has an effect. Any thread.
void begin_quiet_ucx(bool others_use_ucx);

// Exists while this thread calls UCX for tailrace. May be nested.
class QuietUcx {
 public:
  QuietUcx();
  ~QuietUcx();
  QuietUcx(const QuietUcx&) = delete;
  QuietUcx& operator=(const QuietUcx&) = delete;
};

// Returns the last message that was kept on this thread since its outermost QuietUcx began; empty: none.
std::string last_message_of_ucx();

}  // namespace tailrace::impl
