// Detached: the files that the program has closed and whose data are still on their way (`close=detach`).
//
// There is one for all hosts of the process. Such a file has its name, but no seal (seal.hpp) until all of it is
// written; a call that names it waits for that. Any thread may call.
#pragma once

#include <tailrace/tailrace.h>

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "hdf5_vol/names/names.h"
#include "process_client/file_key.hpp"
#include "process_client/own_mutex.hpp"
#include "process_client/process_client.hpp"

namespace tailrace::hdf5 {

// Returns the name that a file has while HDF5 closes it and has written its seal, but its data are not there yet.
std::string hidden_name_of(const std::string& path);

// Returns the message that says why HDF5 cannot open a file.
std::string not_whole(const std::string& path, const std::string& why);

class Detached {
 public:
  // `client`, which is borrowed, carries the files. Must live until the process ends: HDF5 closes files very late.
  explicit Detached(process::ProcessClient& client) : client_(client) {}

  // Returns true if a file is on its way. relaxed: a thread that must find a file that another one has closed is
  // already synchronised with it by other means.
  bool any() const { return any_.load(std::memory_order_relaxed); }

  // Notes that HDF5 has closed the file. It is complete when the ticket has ended.
  void left(const std::string& path, tailrace_ticket ticket);
  // Notes that HDF5 has closed the file, and that it will not be whole. H5Fclose reports `why`, too.
  void broken(const std::string& path, const std::string& why);

  // Waits for the file that `name` leads to, or led to when it was closed, if it is on its way. Returns why HDF5
  // cannot open it; "" if no reason is known.
  std::string wait(const std::string& name);
  void wait_for_all();
  // Has before_call() called. Returns false if the library that does so is not preloaded.
  static bool watch();
  // Waits before a call of the program past HDF5 that relies on files being whole (names/names.h): for the file that
  // it opens; for all files, if it changes a name or starts a program. Returns the errno with which the call must
  // fail: EIO, if it would give an incomplete file another name, or if no other call has reported such a file.
  int before_call(tailrace_call call, int directory, const char* name);
  // Checks which files have ended. Prints new failures on standard error.
  void look();
  // Returns the failures found since the last call.
  std::vector<std::string> take_failures();
  // Call it when the process ends: waits for all files, and prints how many have failed.
  void finish();

  // The parent waits for the files on their way before a fork, since the child could not.
  void before_fork();
  void after_fork_in_parent() { mutex_.unlock(); }
  void after_fork_in_child();

 private:
  struct Leaving {
    std::string path;  // at its close
    process::FileKey file;
    tailrace_ticket ticket;
  };

  bool is_own_call() const;
  void wait_for(const process::FileKey& file);
  bool settle(const Leaving& leaving, int64_t milliseconds);
  void settle_all(int64_t milliseconds);

  process::ProcessClient& client_;

  process::OwnMutex mutex_;  // guards all below but the flags, which are written under it
  std::atomic<bool> any_ = false;
  std::atomic<bool> any_broken_ = false;  // there has been one
  uint64_t closed_ = 0;                   // all that were on their way
  uint64_t failed_ = 0;                   // those that are incomplete
  std::vector<Leaving> leaving_;
  std::map<process::FileKey, std::string> broken_;    // the reasons
  std::map<process::FileKey, std::string> failures_;  // those that no call has reported yet
};

}  // namespace tailrace::hdf5
