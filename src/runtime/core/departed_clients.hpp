// Waits until the server of a process that has ended has written what the process handed over.
//
// It reads the runtime directory, as job_status does, and starts no server: data that a dead server left are written
// when the next one begins.
#pragma once

#include <sys/types.h>

#include "base/deadline.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

// Looks at all jobs of this user on this node. Returns at once if the process lives, or no server writes for it.
// Fails with TAILRACE_TIMEOUT at the deadline.
Status wait_for_departed_client(pid_t process, const Deadline& deadline);

}  // namespace tailrace::impl
