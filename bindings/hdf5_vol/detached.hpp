// Files that are written under a temporary name, and have their own when they are whole: `close=detach`.
//
// Of all hosts of the process, by their final paths. A file is open until HDF5 has closed the last object of it, then
// on its way until tailrace has written and renamed it. What becomes of it then is told by the next call that closes
// or flushes any file, or on standard error when the process ends. Any thread may call.
#pragma once

#include <tailrace/tailrace.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tailrace::hdf5 {

// What a file is called until it is whole.
std::string partial_of(const std::string& path);

bool is_link(const std::string& name);

// Where a file of this name lies, or would lie: absolute, no links on the way. "" if that cannot be known, or if
// there is something that is no file.
std::string place_of(const std::string& name);

class Detached {
 public:
  // The only one. Lives until the process ends: HDF5 closes files very late.
  static Detached& instance();

  // The name to open the file by, "" if it is not open. From now on HDF5 may give out that name where it is asked for
  // `name`.
  std::string open_as(const std::string& path, const std::string& name);
  // A file is made, to be `path` later. Returns the name to make it by; `name` is the program's.
  std::string begin(const std::string& path, const std::string& name);
  // It could not be made after all.
  void forget(const std::string& path);
  // What the program calls the file that HDF5 calls `name`.
  std::string name_of(const std::string& name);

  // HDF5 has closed it. With `ticket` it is on its way; otherwise it is renamed now. `why`: it is not whole, and that
  // is to be told (or has been: `told`).
  void left(const std::string& path, std::optional<tailrace_ticket> ticket, const std::string& why, bool told);

  // Waits for a file that is on its way. "" if it has its name, or was not on its way; else why not, which then has
  // been told.
  std::string wait(const std::string& path);
  // Waits, and leaves what has failed to be told later.
  void outwait(const std::string& path);
  // What has failed by now, each once.
  std::vector<std::string> take_failures();
  // The process ends: waits for all. What fails from now on is told on standard error at once.
  void finish();

  void before_fork() { mutex_.lock(); }
  void after_fork_in_parent() { mutex_.unlock(); }
  // The files are the parent's.
  void after_fork_in_child();

 private:
  struct Leaving {
    tailrace_ticket ticket;
    bool told;
  };

  // Looks whether it has ended, waiting at most so long; true if it has.
  bool settle(const std::string& path, const Leaving& leaving, int64_t milliseconds);
  void add_failure(const std::string& path, const std::string& why);

  std::mutex mutex_;  // guards all below
  bool ending_ = false;
  std::map<std::string, std::map<std::string, std::string>> open_;  // by path: the program's names by HDF5's
  std::map<std::string, Leaving> leaving_;                          // by path
  std::map<std::string, std::string> failures_;                     // by path
};

// Why a file has not got its name, for messages.
std::string left_as_partial(const std::string& path, const std::string& why);

}  // namespace tailrace::hdf5
