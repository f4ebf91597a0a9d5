// FileMeter: notes in the channel's FileLog what the engine has made of the requests for each file, while this client
// has it open. The server's thread.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "channel/file_log.hpp"
#include "engine/engine.hpp"

namespace tailrace::impl {

class FileMeter {
 public:
  // `engine`, and what `log` refers to, outlive the meter.
  FileMeter(FileLog log, const Engine& engine);

  // The client opens a raw file, perhaps not for the first time; `record` is which of the log the client gives it.
  void opened(uint32_t record, FileId file);
  // Once for each opened(). The engine has the file still.
  void closed(uint32_t record, FileId file);
  // Notes what has been done since the last time.
  void look(uint32_t record, FileId file);
  // … of the files of iterations.
  void look_at_iterations();

 private:
  // The engine's counts at the last look.
  struct Seen {
    SizeHistogram::Figures before;
    SizeHistogram::Figures after;
    uint64_t merged = 0;
    uint64_t overwritten = 0;
    uint64_t stolen = 0;
    uint64_t sieved = 0;
    uint32_t users = 0;
  };

  static void note(FileRecord& record, const Engine::Sizes& sizes, Seen& seen);

  FileLog log_;
  const Engine& engine_;
  std::map<std::pair<uint32_t, FileId>, Seen> open_;
  Seen iterations_;
};

}  // namespace tailrace::impl
