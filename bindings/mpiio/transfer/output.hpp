// Output: a file to which a process writes, for itself or as an aggregator for others. Most of the bytes go to the
// server. The process itself writes the first small ones, so that a file which gets no more needs no server; and all
// of them, if the server cannot open the file, whose name may lead to another one by then. It waits for bytes that
// other processes of the node have on their way to the same place.
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
#include <vector>

#include "mpiio/transfer/own_descriptor.hpp"
#include "process_client/process_client.hpp"

namespace tailrace::mpiio {

class Output {
 public:
  using Refusal = process::ProcessClient::Refusal;

  // `path` is absolute, without symbolic links. Borrows the descriptor, which is not open yet.
  Output(std::string path, const OwnDescriptor& own) : path_(std::move(path)), own_(own) {}
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  const std::string& path() const { return path_; }
  // Hand over the bytes, which lie at `from` back to back, to be written later, or write them now. iwrite()
  // appends a ticket for each part to `tickets`. `access`: the collective write that they belong to
  // (Pending::wait_for_others).
  Refusal write(std::span<const tailrace_extent> extents, const std::byte* from, uint64_t access);
  Refusal iwrite(std::span<const tailrace_extent> extents, const std::byte* from,
                 std::vector<tailrace_ticket>& tickets);
  // Opens the file for the server, if it is not open: then what is handed over last is written when the process ends.
  void prepare();
  // Hands over bytes that are known to touch no others on their way.
  Refusal hand_over(std::span<const tailrace_extent> extents, const std::byte* from, uint64_t access);
  // Returns the file for the server; none if it has not opened it.
  std::optional<tailrace_file> raw();

 private:
  bool open_for_server();
  bool has_its_name() const;
  bool are_small(std::span<const tailrace_extent> extents);
  Refusal hand_over_locked(std::span<const tailrace_extent> extents, const std::byte* from, uint64_t access);
  Refusal write_here(std::span<const tailrace_extent> extents, const std::byte* from);

  static constexpr uint64_t kSmall = uint64_t{64} << 10;  // bytes of all small writes
  static constexpr size_t kFew = 16;                      // extents of one

  const std::string path_;
  const OwnDescriptor& own_;

  std::mutex mutex_;    // guards all below
  uint64_t small_ = 0;  // bytes of the small writes
  bool tried_ = false;  // to open the file for the server
  std::optional<tailrace_file> raw_;
};

}  // namespace tailrace::mpiio
