// Output: a file to which a process writes, for itself or as an aggregator for others. Most of the bytes go to the
// server. The process itself writes the first small ones, so that a file which gets no more needs no server; and all
// of them, if the server cannot open the file. Its own descriptor leads to the file whatever happens to the name.
//
// Any thread may call.
#pragma once

#include <tailrace/tailrace.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpiio/pending/file_key.hpp"
#include "process_client/process_client.hpp"

namespace tailrace::mpiio {

class Output {
 public:
  using Refusal = process::ProcessClient::Refusal;

  // `path` is absolute, without symbolic links.
  explicit Output(std::string path) : path_(std::move(path)) {}
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  const std::string& path() const { return path_; }
  // Opens the file, by its own descriptor. Call it once, before all else. Returns false if it cannot be opened, or is
  // not that file any more.
  bool open(const FileKey& file);

  // Write the bytes, which lie at `from` one after the other, or hand them to the server, which writes them later.
  // Wait first for bytes in their place that other processes of the node have on their way (pending.hpp). iwrite()
  // appends a ticket to `tickets` for each part that the server has.
  Refusal write(std::span<const tailrace_extent> extents, const std::byte* from);
  Refusal iwrite(std::span<const tailrace_extent> extents, const std::byte* from,
                 std::vector<tailrace_ticket>& tickets);
  // Returns the file for the server; none if it has not opened it.
  std::optional<tailrace_file> raw();

 private:
  // Returns true if the bytes go to the server.
  bool goes_to_server(std::span<const tailrace_extent> extents);
  bool are_small(std::span<const tailrace_extent> extents);
  bool open_for_server();
  bool has_its_name() const;
  Refusal write_here(std::span<const tailrace_extent> extents, const std::byte* from);

  static constexpr uint64_t kSmall = uint64_t{64} << 10;  // bytes of all small writes
  static constexpr size_t kFew = 16;                      // extents of one

  const std::string path_;
  int descriptor_ = -1;  // these two are set by open()
  FileKey key_;

  std::mutex mutex_;    // guards all below
  uint64_t small_ = 0;  // bytes of the small writes
  bool tried_ = false;  // to open the file for the server
  std::optional<tailrace_file> raw_;
};

}  // namespace tailrace::mpiio
