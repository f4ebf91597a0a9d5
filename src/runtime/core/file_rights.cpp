#include "runtime/core/file_rights.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

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
    if (word == "Umask:" && status >> std::oct >> mask) return FileRights{mask, limit.rlim_cur};
  }
  return Status::of_errno("find the umask in", kStatus, ENODATA);
}

void FileRights::take_over() const {
  ::umask(umask);
  rlimit limit{};
  TAILRACE_ASSERT(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  limit.rlim_cur = std::min<rlim_t>(size_limit, limit.rlim_max);
  TAILRACE_ASSERT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

}  // namespace tailrace::impl
