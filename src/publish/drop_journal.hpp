// DropJournal: the file that lists dropped iterations, one line for each.
//
// Runs on the server's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.hpp"

namespace tailrace::impl {

class DropJournal {
 public:
  // A line on its way into the file. It must outlive its request.
  struct Line {
    std::string text;
    uint64_t end = 0;  // bytes of the file after this line
  };

  // `path` names the file; `end`: bytes that an earlier server has written into it. `engine` must outlive this.
  DropJournal(Engine& engine, std::string path, uint64_t end)
      : engine_(engine), path_(std::move(path)), begun_(end), end_(end) {}

  // Adds a line and returns it. Appends the requests that write it, two at most.
  std::shared_ptr<Line> add(int64_t iteration, const std::string& why, std::vector<Request>& requests);

 private:
  // Constant after construction.
  Engine& engine_;
  const std::string path_;
  const uint64_t begun_;  // bytes of an earlier server
  // Used by the server's thread only.
  FileId file_ = 0;  // 0 until the first line
  uint64_t end_ = 0;
};

}  // namespace tailrace::impl
