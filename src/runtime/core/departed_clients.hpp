// Waits until servers of the node have written what processes that have ended handed over for raw files.
//
// It reads the runtime directory, as job_status does. Where the server has died, too, it starts one, which adopts
// these clients and ends after them.
#pragma once

#include "base/deadline.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

// Looks at all jobs of this user on this node, and at clients without variables: the files of others may wait for
// clients that live. Returns at once if nothing was left. Fails with TAILRACE_TIMEOUT at the deadline, and if no
// server can be started.
Status wait_for_departed_clients(const Deadline& deadline);

}  // namespace tailrace::impl
