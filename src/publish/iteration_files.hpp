// IterationFiles: opens the files of a group's unfinished iterations in the engine, by the numbers that the format
// gives them, each when its first block comes. An earlier server, or another node, may have made the file.
//
// Runs on the server's thread; never waits. It neither publishes nor removes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/engine.hpp"
#include "format/format.hpp"
#include "model/config/settings.hpp"
#include "publish/iterations.hpp"

namespace tailrace::impl {

class IterationFiles {
 public:
  // All arguments must outlive this.
  IterationFiles(const StorageSettings& storage, Engine& engine, Format& format, const GroupClients& clients,
                 Iterations& iterations)
      : storage_(storage), engine_(engine), format_(format), clients_(clients), iterations_(iterations) {}

  // Returns the file, and opens it if it is not open. Fails if it is known that the file cannot be written.
  Result<FileId> open(int64_t iteration, uint32_t index);
  // Opens all files of the iteration.
  Status open_all(int64_t iteration);
  // Returns the file if it is open.
  std::optional<FileId> find(int64_t iteration, uint32_t index) const;
  // Returns a request for each file that is open.
  std::vector<Request> for_each_open(int64_t iteration, Operation operation) const;

 private:
  Status taken_by_another(int64_t number, uint32_t index) const;
  FileId open_or_continue(const FileNames& names, int64_t number, const Iteration& iteration);

  // Constant after construction.
  const StorageSettings& storage_;
  Engine& engine_;
  Format& format_;
  const GroupClients& clients_;
  Iterations& iterations_;
};

}  // namespace tailrace::impl
