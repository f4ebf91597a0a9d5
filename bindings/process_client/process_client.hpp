// ProcessClient: the one tailrace client that a door for unchanged programs has in a process. It carries the raw data
// of all files that come through that door.
//
// The client opens when the first bytes are to be carried, so programs without any pay nothing. Any thread may call.
#pragma once

#include <tailrace/tailrace.h>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "process_client/client_settings.hpp"
#include "process_client/own_mutex.hpp"

namespace tailrace::process {

// Lets the function run before a signal ends the process (tailrace_drain_at_signals). Without a thread for it,
// signals act at once.
void drain_at_signals(void (*at_signal)());

// Waits until the server has written what a process that has ended left (tailrace_wait_for_departed). Returns true if
// it has; `only_looks`: does not wait. Reports on standard error that it waits long, and why it gives up.
bool wait_for_departed(int process, bool only_looks);

class ProcessClient {
 public:
  // The door through which the program's calls come.
  struct Door {
    const char* name;   // in messages: "HDF5"
    const char* key;    // in names of files and of configurations: "hdf5"
    void (*at_exit)();  // runs when the process ends; hands over what was held back, and calls end()
    // Runs before a signal ends the process, on another thread, while the program may be inside the door: writes what
    // can be written so. Null: the door has called drain_at_signals() itself.
    void (*at_signal)();
    std::string (*more_summary)() = nullptr;  // what the summary says besides; null: nothing
  };

  // The client does not close before end(), so it must not be destroyed earlier.
  explicit ProcessClient(const Door& door) : door_(door) {}

  // Sets the settings with which the client will open. Returns false, and changes nothing, if it has already opened.
  bool configure(const ClientSettings& settings);

  // Returns true if this thread is within a call of the client.
  bool is_inside() const { return mutex_.is_mine(); }

  // Returns the number of bytes that may be on their way.
  uint64_t budget();
  // Returns true if the door reports on standard error, at the end, what it has done.
  bool summary();

  // Call these around a fork. The child has neither the client's threads nor the data that the parent has handed
  // over. It opens its own client when it needs one.
  void before_fork() { mutex_.lock(); }
  void after_fork_in_parent() { mutex_.unlock(); }
  void after_fork_in_child();

  // Writes everything, closes the client, and reports on standard error the failures that no later call can report.
  // Call it when the process ends, while the libraries that it needs still live.
  void end();
  // Writes everything, and reports the failures, before a signal ends the process.
  void end_by_signal();

  // Says why a call has failed, unless `status` is TAILRACE_OK.
  struct Refusal {
    tailrace_status status = TAILRACE_OK;
    std::string message = {};
    int system_errno = 0;  // with TAILRACE_IO_ERROR
  };
  // The failure of a write that was accepted earlier.
  struct Failure {
    std::string message;
    int system_errno = 0;  // 0: none is known
  };

  // Opens `path` (absolute, without symbolic links) for writing. Returns false if the file cannot be carried: too
  // many files are open, or the client could not open. The latter is reported once, on standard error. `how`: further
  // bits; TAILRACE_FILE_SEAL: the file may be sealed when all of it is written; TAILRACE_FILE_TRUNCATE |
  // TAILRACE_FILE_PUBLISH: it is empty, and gets its name when it is closed, if all of it is written.
  bool open(const std::string& path, tailrace_file* out, int how = 0);
  // Closes the file after all its writes.
  void close(tailrace_file file);
  // give_up() gives up a file that was opened to be sealed or published; seal() sets the seal that its close writes.
  void give_up(tailrace_file file);
  Refusal seal(tailrace_file file, uint64_t offset, std::span<const std::byte> bytes);

  // Counts writes that the door has made itself, for the summary.
  void count_own(uint64_t writes, std::span<const tailrace_extent> extents);
  // Hands the bytes over: the caller may change `data` when it returns. `writes`: how many of the program's writes
  // these are.
  Refusal write(tailrace_file file, std::span<const tailrace_extent> extents, const void* data, uint64_t writes = 1);
  // Hands them over, and appends a ticket to `tickets` for each part.
  Refusal iwrite(tailrace_file file, std::span<const tailrace_extent> extents, const void* data,
                 std::vector<tailrace_ticket>& tickets);
  // Writes one extent, without a copy if possible: `data` must not change until the tickets have ended. Fails with
  // TAILRACE_TOO_LARGE, and writes nothing, if it needs a copy that does not fit into the budget.
  Refusal lend(tailrace_file file, const tailrace_extent& extent, const void* data,
               std::vector<tailrace_ticket>& tickets);
  // Waits for the ticket's end for at most `milliseconds` (-1: without limit); then returns TAILRACE_TIMEOUT. If
  // another call has reported the ticket's failure, it is among those of `path`.
  Refusal wait(tailrace_ticket ticket, int64_t milliseconds, const std::string& path);
  // Closes the file without waiting for its writes. Returns TAILRACE_CLOSED if the client was closed and all writes
  // have ended.
  Refusal iclose(tailrace_file file, tailrace_ticket* ticket);
  // has_ended() returns true if the client was closed because the process ends. has_failed() then returns true if a
  // write to the file has failed.
  bool has_ended();
  bool has_failed(const std::string& path);
  // Reads what the file contains after all earlier writes.
  Refusal read(tailrace_file file, std::span<const tailrace_extent> extents, void* data);
  // Waits until all files have all their bytes.
  Refusal flush();
  // mark() sets a mark behind everything handed over so far, which is reached when that has ended. A mark that no
  // caller asks for any more may be forgotten: whatever reaches a later mark reaches it, too. Neither call waits.
  uint64_t mark();
  bool reached(uint64_t mark);

  // How many writes to a file have failed, and the errno of the latest one.
  struct Failed {
    uint32_t count = 0;
    int latest_errno = 0;
  };
  Failed failed(const std::string& path);
  // Returns the failures of accepted writes to `path`, each once.
  std::vector<Failure> take_failures(const std::string& path);

 private:
  bool open_client();
  Refusal flush_all();
  // Begins to flush, unless that is under way, or nothing was handed over since the last flush.
  void begin_flush();
  // Counts what is about to be handed over.
  void count(uint64_t writes, std::span<const tailrace_extent> extents);
  // Reports on standard error what was carried, if the settings ask for that.
  void report_summary();
  // Keeps the earlier failure that a call has reported. Returns true if there was one.
  bool keep_earlier(tailrace_status status);
  Refusal refusal(tailrace_status status);

  const Door door_;

  OwnMutex mutex_;  // guards all below
  ClientSettings settings_;
  bool tried_ = false;
  bool watches_end_ = false;  // though there may be no client
  tailrace_client* client_ = nullptr;
  uint64_t handed_over_ = 0;  // calls that have handed over; the latest mark
  uint64_t reached_ = 0;      // the latest mark that is known to be reached
  struct Flush {
    tailrace_ticket ticket;
    uint64_t mark;  // reached when the ticket has ended
  };
  std::optional<Flush> flush_;                            // under way
  uint64_t writes_ = 0;                                   // writes handed over
  uint64_t bytes_ = 0;                                    // bytes of these
  uint64_t refused_reads_ = 0;                            // reads that the door made itself, and then reported
  std::map<std::string, std::vector<Failure>> failures_;  // by path
  std::map<std::string, Failed> all_failed_;              // by path
  bool told_ = false;                                     // the summary
  bool ended_ = false;
  std::set<std::string> failed_;  // paths of the failures that end() has reported
};

}  // namespace tailrace::process
