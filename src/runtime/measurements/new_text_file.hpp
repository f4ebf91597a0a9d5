// NewTextFile: a text file that is being written. It has a temporary name until publish(), and is removed without it.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace tailrace::impl {

class NewTextFile {
 public:
  // Begins a file that will replace `path`. `what` names the file in messages. publish() reports failures.
  NewTextFile(std::string path, const char* what);
  // Removes the file unless it was published.
  ~NewTextFile();
  NewTextFile(const NewTextFile&) = delete;
  NewTextFile& operator=(const NewTextFile&) = delete;

  void put(std::string_view text);
  // Gives the file its name. Call it once, at the end.
  Status publish();

 private:
  void failed(int error);

  const std::string path_;
  const std::string temporary_;
  const std::string operation_;
  std::FILE* file_ = nullptr;
  Status status_;  // the first failure
};

}  // namespace tailrace::impl
