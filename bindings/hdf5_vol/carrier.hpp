// The one client of tailrace in this process, which carries the data of all files of all hosts.
//
// It is opened when the first bytes are to be carried: programs that have none pay nothing. Any thread may call: HDF5
// lets one at a time in, but two HDF5 libraries in a process know nothing of each other.
#pragma once

#include <tailrace/tailrace.h>

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "settings.hpp"

namespace tailrace::hdf5 {

class Carrier {
 public:
  // The only one; not opened yet. Lives until the process ends: HDF5 closes files very late.
  static Carrier& instance();

  // How it will be opened. The last before that counts.
  void configure(const Settings& settings);
  // What was wrong with what the connector was told; "": nothing. No file can be opened then.
  void refuse(const std::string& why);
  std::string wrong();

  // Bytes that may be on their way.
  uint64_t budget();
  // Bytes of the smallest dataset that is carried.
  uint64_t smallest();
  // Bytes that are brought ahead of a sequential reader at most; 0: none.
  uint64_t prefetch();
  // Whether it is said in the end what was done.
  bool summary();
  // Whether closing a file that was made here does not wait for its data.
  bool detaches();

  // Around a fork: the child has neither the client's threads nor what the parent has handed over. It opens a client
  // of its own when it needs one.
  void before_fork() { mutex_.lock(); }
  void after_fork_in_parent() { mutex_.unlock(); }
  void after_fork_in_child();

  // Not TAILRACE_OK: why a call has not done what it is for.
  struct Refusal {
    tailrace_status status = TAILRACE_OK;
    std::string message;
  };

  // Opens `path` (absolute, no links on its way) to be written. False if it cannot be carried: too many files are
  // open, or the client could not be opened, which is told once on standard error.
  bool open(const std::string& path, tailrace_file* out);
  // The same of a file that may be sealed when all of it is written.
  bool open_to_seal(const std::string& path, tailrace_file* out);
  // Waits for all writes of the file.
  void close(tailrace_file file);
  // Says of such a file that it will not be whole, or gives the seal that closing it writes.
  void give_up(tailrace_file file);
  Refusal seal(tailrace_file file, uint64_t offset, std::span<const std::byte> bytes);

  // Hands the bytes over: `data` is the caller's again. Not TAILRACE_OK: why not all of it was accepted.
  // `writes`: of the program, that this is.
  Refusal write(tailrace_file file, std::span<const tailrace_extent> extents, const void* data, uint64_t writes = 1);
  // The same, with tickets that are appended to `tickets`, one a part.
  Refusal iwrite(tailrace_file file, std::span<const tailrace_extent> extents, const void* data,
                 std::vector<tailrace_ticket>& tickets);
  // The same of one extent, without a copy if that can be: `data` stays as it is until the tickets have ended.
  // TAILRACE_TOO_LARGE, and nothing is written, if it would have to be copied and is too much for that.
  Refusal lend(tailrace_file file, const tailrace_extent& extent, const void* data,
               std::vector<tailrace_ticket>& tickets);
  // Waits for at most `milliseconds` (-1: for ever): TAILRACE_TIMEOUT, if it has not ended then. A failure that
  // another call has told of is among those of `path`.
  Refusal wait(tailrace_ticket ticket, int64_t milliseconds, const std::string& path);
  // Closes the file without waiting for its writes. TAILRACE_CLOSED: everything of it has ended already, with the
  // client.
  Refusal iclose(tailrace_file file, tailrace_ticket* ticket);
  // Whether the client was closed when the process began to end; then, of a file, whether something has failed.
  bool has_ended();
  bool has_failed(const std::string& path);
  // Reads, and sees all that was written before.
  Refusal read(tailrace_file file, std::span<const tailrace_extent> extents, void* data);
  // Waits until everything is written, of all files. Not TAILRACE_OK: why that is not known.
  Refusal flush();
  // Marks what has been handed over so far, of all files: the mark is reached when that has ended. None while an
  // earlier one has not been reached, or if it cannot be told. Waits for nothing, nor does reached().
  std::optional<uint64_t> mark();
  bool reached(uint64_t mark);

  // What could not be written of `path` though it was accepted, each told once.
  std::vector<std::string> take_failures(const std::string& path);

 private:
  bool open_client();
  bool open_as(const std::string& path, int mode, tailrace_file* out);
  Refusal flush_all();
  void count(uint64_t writes, std::span<const tailrace_extent> extents);
  Refusal iwrite_part(tailrace_file file, std::span<const tailrace_extent> extents, const void* data,
                      std::vector<tailrace_ticket>& tickets);
  // When the process ends, before what the library needs has ended. HDF5 closes files that the program has left open
  // only after that: failures that it can no longer tell are told on standard error.
  void close_client();
  void tell_summary();
  // Keeps the earlier failure that a call has told of; true if it did.
  bool keep_earlier(tailrace_status status);
  Refusal refusal(tailrace_status status);

  std::mutex mutex_;  // guards all below
  Settings settings_;
  std::string wrong_;
  bool tried_ = false;
  tailrace_client* client_ = nullptr;
  tailrace_ticket mark_{};                                    // the last one, …
  uint64_t marks_ = 0;                                        // … its number, …
  uint64_t reached_ = 0;                                      // … and that of the last that was seen to be reached
  uint64_t writes_ = 0;                                       // that were handed over, …
  uint64_t bytes_ = 0;                                        // … and how much
  uint64_t refused_reads_ = 0;                                // HDF5 reads that instead, and tells if it cannot
  std::map<std::string, std::vector<std::string>> failures_;  // by path
  bool ended_ = false;
  std::set<std::string> failed_;  // paths, of what was told when the client was closed
};

}  // namespace tailrace::hdf5
