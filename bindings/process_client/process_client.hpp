// ProcessClient: the one client of tailrace that a door for unchanged programs has in a process. It carries the raw
// data of all files that come through that door.
//
// The client opens when the first bytes are to be carried: programs that have none pay nothing. Any thread may call.
#pragma once

#include <tailrace/tailrace.h>

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "process_client/client_settings.hpp"

namespace tailrace::process {

class ProcessClient {
 public:
  // The door that the program's calls come through.
  struct Door {
    const char* name;   // in messages: "HDF5"
    const char* key;    // in names of files and of configurations: "hdf5"
    void (*at_exit)();  // runs when the process ends; it hands over what is held back, and calls end()
  };

  // The client never closes before end(): a process that has one must not destroy it earlier.
  explicit ProcessClient(const Door& door) : door_(door) {}

  // Sets how the client will open. Returns false, and changes nothing, if it has opened before.
  bool configure(const ClientSettings& settings);

  // Returns the number of bytes that may be on their way.
  uint64_t budget();
  // Returns true if the door reports at the end, on standard error, what it has done.
  bool summary();

  // Called around a fork. The child has neither the client's threads nor what the parent has handed over. It opens a
  // client of its own when it needs one.
  void before_fork() { mutex_.lock(); }
  void after_fork_in_parent() { mutex_.unlock(); }
  void after_fork_in_child();

  // Writes everything, closes the client, and reports on standard error the failures that no call can report any
  // more. Runs when the process ends, before the end of what the library needs.
  void end();

  // Why a call has not done its work, unless `status` is TAILRACE_OK.
  struct Refusal {
    tailrace_status status = TAILRACE_OK;
    std::string message;
  };

  // Opens `path` (absolute, without symbolic links) for writing. Returns false if the file cannot be carried: too
  // many files are open, or the client could not be opened, which is reported once on standard error.
  bool open(const std::string& path, tailrace_file* out);
  // Does the same for a file that may be sealed when all of it is written.
  bool open_to_seal(const std::string& path, tailrace_file* out);
  // Closes the file after all its writes.
  void close(tailrace_file file);
  // Gives up a file that was opened to be sealed, or sets the seal that its close writes.
  void give_up(tailrace_file file);
  Refusal seal(tailrace_file file, uint64_t offset, std::span<const std::byte> bytes);

  // Hands the bytes over: `data` is the caller's again when it returns. `writes`: the number of writes of the program
  // that these are.
  Refusal write(tailrace_file file, std::span<const tailrace_extent> extents, const void* data, uint64_t writes = 1);
  // Does the same, and appends a ticket to `tickets` for each part.
  Refusal iwrite(tailrace_file file, std::span<const tailrace_extent> extents, const void* data,
                 std::vector<tailrace_ticket>& tickets);
  // Writes one extent, without a copy if possible: `data` must not change until the tickets have ended. Fails with
  // TAILRACE_TOO_LARGE, and writes nothing, if a copy is needed that does not fit into the budget.
  Refusal lend(tailrace_file file, const tailrace_extent& extent, const void* data,
               std::vector<tailrace_ticket>& tickets);
  // Waits for at most `milliseconds` (-1: for ever) for the ticket's end; TAILRACE_TIMEOUT after that. A failure that
  // another call has reported is among those of `path`.
  Refusal wait(tailrace_ticket ticket, int64_t milliseconds, const std::string& path);
  // Closes the file without waiting for its writes. TAILRACE_CLOSED: the client has been closed, and all writes have
  // ended.
  Refusal iclose(tailrace_file file, tailrace_ticket* ticket);
  // Returns true if the client was closed because the process ends; has_failed(): if a write to the file had failed.
  bool has_ended();
  bool has_failed(const std::string& path);
  // Reads what is in the file after all writes before.
  Refusal read(tailrace_file file, std::span<const tailrace_extent> extents, void* data);
  // Waits until all files have all their bytes.
  Refusal flush();
  // Sets a mark behind all that has been handed over so far: it is reached when that has ended. Returns none while an
  // earlier mark has not been reached, or on a failure. Neither call waits.
  std::optional<uint64_t> mark();
  bool reached(uint64_t mark);

  // Returns the failures of accepted writes to `path`, each of them once.
  std::vector<std::string> take_failures(const std::string& path);

 private:
  bool open_client();
  bool open_as(const std::string& path, int mode, tailrace_file* out);
  Refusal flush_all();
  void count(uint64_t writes, std::span<const tailrace_extent> extents);
  Refusal iwrite_part(tailrace_file file, std::span<const tailrace_extent> extents, const void* data,
                      std::vector<tailrace_ticket>& tickets);
  void report_summary();
  // Keeps the earlier failure that a call has reported. Returns true if there was one.
  bool keep_earlier(tailrace_status status);
  Refusal refusal(tailrace_status status);

  const Door door_;

  std::mutex mutex_;  // guards all below
  ClientSettings settings_;
  bool tried_ = false;
  tailrace_client* client_ = nullptr;
  tailrace_ticket mark_{};      // of the latest mark
  uint64_t marks_ = 0;          // number of the latest mark
  uint64_t reached_ = 0;        // number of the latest mark that is known to be reached
  uint64_t writes_ = 0;         // that were handed over
  uint64_t bytes_ = 0;          // of these
  uint64_t refused_reads_ = 0;  // reads that the door makes itself instead, and then reports
  std::map<std::string, std::vector<std::string>> failures_;  // by path
  bool ended_ = false;
  std::set<std::string> failed_;  // paths of the failures that end() has reported
};

}  // namespace tailrace::process
