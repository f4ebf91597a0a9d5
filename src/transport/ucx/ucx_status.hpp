// ucx_failure: makes a Status of what UCX says.
#pragma once

#include <ucs/type/status.h>

#include <string_view>

#include "base/status.hpp"

namespace tailrace::impl {

// Describes that `what` ("the connection to io1:4711") failed with `status`, which is an error. The Status has the
// errno that comes next to it, and UCX's last message on this thread (QuietUcx).
Status ucx_failure(std::string_view what, ucs_status_t status);

}  // namespace tailrace::impl
