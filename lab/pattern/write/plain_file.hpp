// PlainFile: the file of one iteration, as the plainest good program writes it: its blocks behind each other, room
// reserved beforehand, in large pieces past the page cache, renamed when whole.
//
// Without O_DIRECT (--direct off, or a file system that has none) it goes through the page cache and is synced.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>

#include "lab/pattern/options.hpp"
#include "lab/pattern/posix_file.hpp"

namespace bench {

class PlainFile {
 public:
  PlainFile(const WriteOptions& options, std::string name, bool direct)
      : variables_(static_cast<uint64_t>(options.variables)),
        block_(options.block_bytes()),
        direct_(direct),
        name_(std::move(name)),
        file_(name_ + ".part", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | (direct ? O_DIRECT : 0)) {
    file_.reserve(room() * variables_);
  }

  // Memory of whole units, as Buffer has it. Publishes the file behind the last variable.
  void write(int variable, const char* data) {
    const uint64_t start = static_cast<uint64_t>(variable) * room();
    for (uint64_t at = 0; at < room(); at += kPiece) {
      file_.write_at(start + at, data + at, std::min(kPiece, room() - at));
    }
  }

  void publish() {
    if (room() != block_) file_.resize(room() * (variables_ - 1) + block_);
    if (!direct_) file_.sync();
    file_.close();
    require(std::rename(file_.name().c_str(), name_.c_str()) == 0, "rename '" + file_.name() + "'");
  }

  static std::string description(bool direct) {
    const std::string start = "pwrite in pieces of 8 MiB into a reserved file, ";
    if (direct) return start + "O_DIRECT, renamed when whole";
    return start + "through the page cache, fdatasync of each file, renamed when whole";
  }

 private:
  static constexpr uint64_t kPiece = uint64_t{8} << 20;  // bytes of one transfer
  static constexpr uint64_t kUnit = 4096;                // O_DIRECT wants whole ones

  // Returns the bytes of a block in the file: whole units. The arrays are that long, too; the excess is cut off.
  uint64_t room() const { return (block_ + kUnit - 1) / kUnit * kUnit; }

  const uint64_t variables_;
  const uint64_t block_;
  const bool direct_;
  const std::string name_;
  PosixFile file_;
};

}  // namespace bench
