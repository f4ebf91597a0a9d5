// FileMeter: notes in the channel's FileLog what the engine did with the requests for each file while this client has
// it open. Runs on the server's thread.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "channel/file_log.hpp"
#include "engine/engine.hpp"

namespace tailrace::impl {

class FileMeter {
 public:
  // `engine`, and the memory that `log` refers to, must outlive the meter.
  FileMeter(FileLog log, const Engine& engine);

  // Notes that the client opens a raw file, perhaps once more. `record` is the file's record in the log, which the
  // client has chosen.
  void opened(uint32_t record, FileId file);
  // Call it once for each opened(), while the engine still has the file.
  void closed(uint32_t record, FileId file);
  // Adds what has happened since the last look.
  void look(uint32_t record, FileId file);
  // Adds the same for the files of iterations.
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
