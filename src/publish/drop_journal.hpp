// DropJournal: the file that lists dropped iterations, one line for each.
//
// Runs on the server's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

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
      : engine_(engine), path_(std::move(path)), begun_(end > 0), end_(end) {}

  // Adds a line and returns it. Sets `request` to the request that writes it. Fails if the file cannot be opened.
  Result<std::shared_ptr<Line>> add(int64_t iteration, const std::string& why, Request& request);

 private:
  Status open();

  // Constant after construction.
  Engine& engine_;
  const std::string path_;
  const bool begun_;  // an earlier server has begun the file
  // Used by the server's thread only.
  FileId file_ = 0;  // 0 until the first line
  uint64_t end_ = 0;
};

}  // namespace tailrace::impl
