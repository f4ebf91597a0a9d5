// DropJournal: the file in which dropped iterations are written down, a line each.
//
// The server's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/engine.hpp"

namespace tailrace::impl {

class DropJournal {
 public:
  // A line on its way into the file. It outlives its request.
  struct Line {
    std::string text;
    uint64_t end = 0;  // bytes of the file, with it
  };

  // `path`: of the file; `end`: bytes that an earlier server has written into it. `engine` outlives this.
  DropJournal(Engine& engine, std::string path, uint64_t end)
      : engine_(engine), path_(std::move(path)), begun_(end > 0), end_(end) {}

  // Adds a line. Returns it, and sets `request` to what writes it; or why the file cannot be opened.
  Result<std::shared_ptr<Line>> add(int64_t iteration, const std::string& why, Request& request);

 private:
  Status open();

  // Constant after construction.
  Engine& engine_;
  const std::string path_;
  const bool begun_;  // by an earlier server
  // The server's thread only.
  FileId file_ = 0;  // 0 until the first line
  uint64_t end_ = 0;
};

}  // namespace tailrace::impl
