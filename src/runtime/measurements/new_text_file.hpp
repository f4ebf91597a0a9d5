// NewTextFile: a text file in the making: under a temporary name until it is whole, gone if it never is.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace tailrace::impl {

class NewTextFile {
 public:
  // Begins a file that will replace `path`. `what` is what the file is, for messages. Failures are told by publish().
  NewTextFile(std::string path, const char* what);
  // Removes what has not been published.
  ~NewTextFile();
  NewTextFile(const NewTextFile&) = delete;
  NewTextFile& operator=(const NewTextFile&) = delete;

  void put(std::string_view text);
  // Gives the file its name. Once, as the last thing.
  Status publish();

 private:
  void failed(int error);

  const std::string path_;
  const std::string temporary_;
  const std::string operation_;
  std::FILE* file_ = nullptr;
  Status status_;  // what failed first
};

}  // namespace tailrace::impl
