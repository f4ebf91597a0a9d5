#include "base/descriptor_limit.hpp"

#include <sys/resource.h>

#include <optional>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

// The limit of the process before this code raised it; none: it has not. Written before there are threads.
std::optional<rlimit> before;

rlimit present() {
  rlimit limit{};
  TAILRACE_ASSERT(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  return limit;
}

}  // namespace

uint64_t descriptor_limit() { return present().rlim_cur; }

void raise_descriptor_limit() {
  const rlimit was = present();
  if (was.rlim_cur >= was.rlim_max) return;
  const rlimit raised{was.rlim_max, was.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) before = was;
}

void restore_descriptor_limit_of(pid_t child) {
  // Failure is ignored: the child works with a higher limit, too.
  if (before) (void)prlimit(child, RLIMIT_NOFILE, &*before, nullptr);
}

}  // namespace tailrace::impl
