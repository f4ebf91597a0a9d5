// TextFile: a text that a child process can read as a file while this lives.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace tailrace::damaris {

class TextFile {
 public:
  explicit TextFile(const std::string& text) : fd_(memfd_create("tailrace-damaris", 0)) {
    size_t done = 0;
    while (fd_ >= 0 && done < text.size()) {
      const ssize_t some = ::write(fd_, text.data() + done, text.size() - done);
      if (some <= 0) break;
      done += static_cast<size_t>(some);
    }
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile() {
    if (fd_ >= 0) ::close(fd_);
  }

  std::string name() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  const int fd_;
};

}  // namespace tailrace::damaris
