#include "runtime/new_text_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tailrace::impl {

NewTextFile::NewTextFile(std::string path, const char* what)
    : path_(std::move(path)),
      temporary_(path_ + ".tmp"),
      operation_(fmt::format("write the {}", what)),
      file_(std::fopen(temporary_.c_str(), "we")) {
  if (file_ == nullptr) error_ = errno;
}

NewTextFile::~NewTextFile() {
  if (file_ == nullptr) return;
  close();
  ::unlink(temporary_.c_str());
}

void NewTextFile::put(std::string_view text) {
  if (error_ == 0 && std::fwrite(text.data(), 1, text.size(), file_) != text.size()) error_ = errno;
}

Status NewTextFile::publish() {
  const bool begun = file_ != nullptr;
  if (begun) close();
  if (error_ == 0 && std::rename(temporary_.c_str(), path_.c_str()) != 0) error_ = errno;
  if (error_ == 0) return {};
  if (begun) ::unlink(temporary_.c_str());
  return Status::of_errno(operation_.c_str(), path_, error_);
}

void NewTextFile::close() {
  if (std::fclose(file_) != 0 && error_ == 0) error_ = errno;
  file_ = nullptr;
}

}  // namespace tailrace::impl
