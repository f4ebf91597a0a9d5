#include "runtime/write_text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "base/os_file.hpp"

namespace tailrace::impl {

Status write_text(const std::string& path, std::string_view text, const char* what) {
  const std::string operation = fmt::format("write the {}", what);
  const std::string temporary = path + ".tmp";
  std::FILE* const file = std::fopen(temporary.c_str(), "we");
  if (file == nullptr) return Status::of_errno(operation.c_str(), path, errno);
  int error = 0;
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) error = errno;
  if (std::fclose(file) != 0 && error == 0) error = errno;
  if (error == 0) return rename_file(temporary, path);
  ::unlink(temporary.c_str());
  return Status::of_errno(operation.c_str(), path, error);
}

}  // namespace tailrace::impl
