#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace tailrace::impl {

void defect(const char* kind, const char* condition, const char* file, int line) {
  std::fprintf(stderr, "tailrace: %s failed at %s:%d: %s\nThis is a defect of tailrace; please report it.\n", kind,
               file, line, condition);
  std::abort();
}

}  // namespace tailrace::impl
