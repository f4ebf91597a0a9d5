#include "runtime/measurements/new_text_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/os/own_file.hpp"

namespace tailrace::impl {

NewTextFile::NewTextFile(std::string path, const char* what)
    : path_(std::move(path)), temporary_(path_ + ".tmp"), operation_(fmt::format("write the {}", what)) {
  Result<FileDescriptor> made = make_own_file(temporary_, 0666);
  status_ = made.status();
  if (!status_.ok()) return;
  file_ = ::fdopen(made.value().get(), "w");
  if (file_ == nullptr) {
    failed(errno);
    ::unlink(temporary_.c_str());
  } else {
    (void)made.value().release();
  }
}

NewTextFile::~NewTextFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  ::unlink(temporary_.c_str());
}

void NewTextFile::put(std::string_view text) {
  if (status_.ok() && std::fwrite(text.data(), 1, text.size(), file_) != text.size()) failed(errno);
}

Status NewTextFile::publish() {
  if (status_.ok() && std::fflush(file_) != 0) failed(errno);
  if (status_.ok()) status_ = rename_open_file(::fileno(file_), temporary_, path_, true);
  if (!status_.ok()) return status_;
  std::fclose(std::exchange(file_, nullptr));  // its buffer is already empty
  return {};
}

void NewTextFile::failed(int error) { status_ = Status::of_errno(operation_, path_, error); }

}  // namespace tailrace::impl
