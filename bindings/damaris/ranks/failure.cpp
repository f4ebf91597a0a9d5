#include "damaris/ranks/failure.hpp"

#include <cstdio>
#include <set>

#include "damaris/include/Damaris.h"

namespace tailrace::damaris {
namespace {

constexpr uint64_t kMostCauses = 8;  // of one call

void say_failure(const tailrace_error& error, const std::string& what) {
  say(what + (error.earlier ? ", an earlier request: " : ": ") + error.message);
}

}  // namespace

int code_of(tailrace_status status) {
  switch (status) {
    case TAILRACE_OK: return DAMARIS_OK;
    case TAILRACE_INVALID_ARGUMENT: return DAMARIS_ARGUMENT_ERROR;
    case TAILRACE_INVALID_CONFIG: return DAMARIS_CONFIG_ERROR;
    case TAILRACE_UNKNOWN_VARIABLE: return DAMARIS_UNDEFINED_VARIABLE;
    case TAILRACE_WRONG_TYPE:
    case TAILRACE_WRONG_SHAPE: return DAMARIS_INVALID_DIMENSIONS;
    case TAILRACE_WRONG_ORDER:
    case TAILRACE_NOT_FOUND: return DAMARIS_BLOCK_NOT_FOUND;
    case TAILRACE_TOO_LARGE:
    case TAILRACE_BUDGET_HELD:
    case TAILRACE_OUT_OF_MEMORY:
    case TAILRACE_DROPPED: return DAMARIS_ALLOCATION_ERROR;
    case TAILRACE_IO_ERROR:
    case TAILRACE_NOT_PUBLISHED: return DAMARIS_DATASPACE_ERROR;
    case TAILRACE_TIMEOUT:
    case TAILRACE_SERVER_LOST:
    case TAILRACE_CLIENTS_MISSING: return DAMARIS_CHANNEL_ERROR;
    default: return DAMARIS_ERROR_UNKNOWN;
  }
}

int check(tailrace_client* client, tailrace_status status, const std::string& what) {
  if (status == TAILRACE_OK) return DAMARIS_OK;
  tailrace_error error{};
  error.struct_size = sizeof error;
  if (tailrace_last_error(client, &error) != TAILRACE_OK || error.status == TAILRACE_OK) {
    say(what + ": " + tailrace_status_text(status));
    return code_of(status);
  }
  // A program of Damaris goes on without a client that has gone: that is said, and is no failure of its call.
  const bool goes_on = error.earlier != 0 && error.status == TAILRACE_CLIENTS_MISSING;
  const int code = goes_on ? DAMARIS_OK : code_of(error.status);
  const uint64_t more = error.more;
  say_failure(error, what);
  for (uint64_t i = 0; client != nullptr && i < more && i < kMostCauses; ++i) {
    if (tailrace_next_error(client, &error) != TAILRACE_OK || error.status == TAILRACE_OK) break;
    say_failure(error, what);
  }
  return code;
}

// A program that goes on after a failure would say the same in each iteration.
void say(const std::string& line) {
  constexpr size_t most = 1000;  // lines that are remembered
  static std::set<std::string> said;
  if (said.size() < most && !said.insert(line).second) return;
  std::fprintf(stderr, "tailrace damaris: %s\n", line.c_str());
}

}  // namespace tailrace::damaris
