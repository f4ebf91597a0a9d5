#include "openfoam/output/direct_store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tailrace::openfoam {
namespace {

std::string partial(const std::string& path) { return path + ".partial"; }

Store::Reason reason(const char* call) { return std::string(call) + ": " + std::strerror(errno); }

}  // namespace

DirectStore::~DirectStore() {
  for (const auto& [file, opened] : files_) ::close(static_cast<int>(file));
}

Store::Reason DirectStore::open(const std::string& path, File& file) {
  const int descriptor = ::open(partial(path).c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0) return reason("open");
  file = static_cast<File>(descriptor);
  files_[file] = {path};
  return {};
}

Store::Reason DirectStore::write(File file, uint64_t offset, const std::byte* data, size_t bytes, Ticket& ticket) {
  ticket = 0;
  while (bytes > 0) {
    const ssize_t written = pwrite(static_cast<int>(file), data, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      files_[file].complete = false;
      return reason("write");
    }
    data += written;
    offset += static_cast<uint64_t>(written);
    bytes -= static_cast<size_t>(written);
  }
  return {};
}

Store::Reason DirectStore::close(File file, Ticket& ticket) {
  ticket = 0;
  const Opened opened = files_[file];
  files_.erase(file);
  if (::close(static_cast<int>(file)) != 0) return reason("close");
  if (!opened.complete) return {};
  return std::rename(partial(opened.path).c_str(), opened.path.c_str()) == 0 ? Reason() : reason("rename");
}

void DirectStore::give_up(File file) { files_[file].complete = false; }

Store::Reason DirectStore::wait(Ticket) { return {}; }

}  // namespace tailrace::openfoam
