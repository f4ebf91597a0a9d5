#include "base/names/status_text.hpp"

#include <tailrace/tailrace.h>

namespace tailrace::impl {

const char* status_text(int status) {
  switch (status) {
    case TAILRACE_OK: return "ok";
    case TAILRACE_INVALID_ARGUMENT: return "invalid argument";
    case TAILRACE_INVALID_CONFIG: return "invalid configuration";
    case TAILRACE_UNKNOWN_VARIABLE: return "unknown variable";
    case TAILRACE_WRONG_TYPE: return "wrong type";
    case TAILRACE_WRONG_SHAPE: return "wrong shape";
    case TAILRACE_WRONG_ORDER: return "wrong order";
    case TAILRACE_TOO_LARGE: return "too large";
    case TAILRACE_BUDGET_HELD: return "budget held by the caller";
    case TAILRACE_NOT_FOUND: return "not found";
    case TAILRACE_CLIENT_IN_USE: return "client in use";
    case TAILRACE_CLOSED: return "closed";
    case TAILRACE_BUSY: return "busy in another thread";
    case TAILRACE_UNSUPPORTED: return "unsupported";
    case TAILRACE_EXISTS: return "files of an earlier run exist";
    case TAILRACE_FORKED: return "handle of another process";
    case TAILRACE_TIMEOUT: return "timeout";
    case TAILRACE_DROPPED: return "dropped";
    case TAILRACE_ACTION_FAILED: return "an action failed";
    case TAILRACE_CLIENTS_MISSING: return "clients are missing";
    case TAILRACE_IO_ERROR: return "I/O error";
    case TAILRACE_EARLIER_FAILURE: return "an earlier request failed";
    case TAILRACE_NOT_PUBLISHED: return "not published";
    case TAILRACE_SERVER_LOST: return "the node's server is lost";
    case TAILRACE_OUT_OF_MEMORY: return "out of memory";
    case TAILRACE_INTERNAL: return "internal error";
  }
  return "unknown status";
}

}  // namespace tailrace::impl
