#include "model/request.hpp"

namespace tailrace::impl {

const char* name_of(Operation operation) {
  switch (operation) {
    case Operation::read: return "read";
    case Operation::write: return "write";
    case Operation::sync: return "sync";
    case Operation::publish: return "publish";
    case Operation::close: return "close";
    case Operation::remove: return "remove";
  }
  TAILRACE_ASSERT(false);
}

bool conflict(const Request& a, const Request& b) {
  if (a.file != b.file) return false;
  if (a.is_fence() || b.is_fence()) return true;
  if (a.operation == Operation::read && b.operation == Operation::read) return false;
  for (const Piece& x : a.pieces) {
    for (const Piece& y : b.pieces) {
      if (x.extent.overlaps(y.extent)) return true;
    }
  }
  return false;
}

}  // namespace tailrace::impl
