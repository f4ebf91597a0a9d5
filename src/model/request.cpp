#include "model/request.hpp"

namespace tailrace::impl {

const char* name_of(Operation operation) {
  switch (operation) {
    case Operation::read: return "read";
    case Operation::write: return "write";
    case Operation::sync: return "sync";
    case Operation::rename: return "rename";
    case Operation::publish: return "publish";
    case Operation::truncate: return "truncate";
    case Operation::close: return "close";
    case Operation::remove: return "remove";
  }
  TAILRACE_ASSERT(false);
}

Status withdrawn() { return Status(TAILRACE_CLOSED, "the client of the request is gone"); }

bool is_withdrawn(const Status& status) { return status.code() == TAILRACE_CLOSED; }

}  // namespace tailrace::impl
