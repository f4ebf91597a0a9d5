#include "runtime/core/file_rights.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>

#include "base/assert.hpp"

namespace tailrace::impl {

// umask(2) tells the mask by setting another one, with which other threads would then create their files.
Result<FileRights> FileRights::own() {
  constexpr const char* kStatus = "/proc/self/status";
  rlimit limit{};
  TAILRACE_ASSERT(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  std::ifstream status(kStatus);
  for (std::string word; status >> word;) {
    unsigned mask = 0;
    if (word == "Umask:" && status >> std::oct >> mask) return FileRights{mask, ::getegid(), limit.rlim_cur};
  }
  return Status::of_errno("find the umask in", kStatus, ENODATA);
}

Status FileRights::take_over() const {
  ::umask(umask);
  rlimit limit{};
  TAILRACE_ASSERT(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  limit.rlim_cur = std::min<rlim_t>(size_limit, limit.rlim_max);
  TAILRACE_ASSERT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  if (group == ::getegid() || ::setegid(group) == 0) return {};
  return Status(
      TAILRACE_CLIENT_IN_USE,
      fmt::format("the node's server runs with group {}, and may not take the client's, {}: open again when "
                  "the earlier run has ended",
                  ::getegid(), group));
}

}  // namespace tailrace::impl
