// Writer: carries the program's files to a Store on a thread of its own, in the order in which they were begun.
//
// A complete file gets its name. A new time directory is made as `NAME.partial`, which OpenFOAM does not take
// for a time, and gets its name when all its files have theirs. A directory with a file that failed stays `.partial`.
//
// Any thread may call, and one at a time writes to a file. Calls throw nothing but std::bad_alloc and
// std::system_error (no thread can be started).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "openfoam/output/chunk.hpp"
#include "openfoam/output/store.hpp"

namespace tailrace::openfoam {

// A file to be written.
struct OutputFile {
  std::string path;         // absolute, without ".gz"
  std::string object;       // whose data it has, such as the field's name
  bool compressed = false;  // its name ends with ".gz"
  int64_t output = 0;       // number of the program's output that it belongs to
};

// The files of one object, such as the field U, that this process has written.
struct ObjectCosts {
  uint64_t files = 0;
  uint64_t bytes = 0;
  double seconds = 0;  // of the writer's thread, and of threads that helped it
};

// One file: when the program began it, when the writer did, and when it had its name. Seconds, by the clock of now().
struct FileTimes {
  std::string object;
  int64_t output;
  double begun;
  double writing;
  double ended;
  double seconds;     // as ObjectCosts: the writer has many files in hand at a time
  double formatting;  // of these, for making its text and compressing it
};

class Writer {
 public:
  struct Failure {
    std::string path;
    std::string reason;
  };

  // `budget`: the most bytes that wait for the writer at a time. A file that needs more is written as it comes.
  // `cpus`: where its thread may run; empty: anywhere. `at_once`: end() waits until the file has its name, and no
  // directory is staged.
  Writer(std::unique_ptr<Store> store, uint64_t budget, std::vector<int> cpus = {}, bool at_once = false);
  ~Writer();  // after finish()
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Begins a file. Give its bytes to the taker that begin() returns, and end it. A file that is not `whole` does not
  // get its name, like one that failed, but that is no failure.
  std::shared_ptr<ChunkTaker> begin(const OutputFile& file);
  void end(const std::shared_ptr<ChunkTaker>& file, bool whole);

  // Files that are begun below `directory` from now on go to `directory`.partial, once it is free of leavings of an
  // earlier run; but not if the directory exists. `tailrace recover` leaves the folder around alone from now on.
  void stage(const std::string& directory);
  // Returns true if `path` is in a staged directory, or is one.
  bool is_staged(const std::string& path);
  // Staged directories but `current` get their names, when all their files have.
  void publish_others(const std::string& current);

  // Returns false if all that was written is on disk, and has its name.
  bool has_in_flight();
  // Waits until the program finds on disk what it has written to `path` and, if `below`, to all that lies below it. A
  // staged directory then gets its name, unless a file in it has not ended.
  void settle(const std::string& path, bool below);
  // Waits until everything is written, and ends the writer. Staged directories get their names if `publish`. Later
  // calls of it do nothing.
  void finish(bool publish);

  // Returns the oldest failure that was not returned yet.
  std::optional<Failure> take_failure();

  // Returns how many seconds calls have waited: for memory, and for files.
  double seconds_waiting();
  // Returns the costs by the objects' names.
  std::map<std::string, ObjectCosts> costs();
  // Returns the times of the first 100,000 files.
  std::vector<FileTimes> times();

  class Impl;  // the handler, which is compiled as C++17 beside OpenFOAM's headers, does not see it

 private:
  const std::unique_ptr<Impl> impl_;
};

// Returns the seconds of a clock that never goes back.
double now();

}  // namespace tailrace::openfoam
