// Files that the program has closed, and whose data are still on their way: `close=detach`.
//
// Of all hosts of the process. Such a file has its name, and no seal (seal.hpp) before all of it is written; what
// names it waits for that. Any thread may call.
#pragma once

#include <tailrace/tailrace.h>

#include <sys/types.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "process_client/process_client.hpp"

namespace tailrace::hdf5 {

// The name of a file while HDF5 closes it, and has written its seal before its data are there.
std::string hidden_name_of(const std::string& path);

// Why HDF5 cannot open a file, for messages.
std::string not_whole(const std::string& path, const std::string& why);

class Detached {
 public:
  // `client` carries the files; it is borrowed. Lives until the process ends: HDF5 closes files very late.
  explicit Detached(process::ProcessClient& client) : client_(client) {}

  // Returns true if a file is on its way. relaxed: a thread that must find a file which another one has closed knows
  // of that by other means, which order this, too.
  bool any() const { return any_.load(std::memory_order_relaxed); }

  // HDF5 has closed the file, and it is whole when the ticket has ended.
  void left(const std::string& path, tailrace_ticket ticket);
  // HDF5 has closed the file, which will not be whole. It has been told why.
  void broken(const std::string& path, const std::string& why);

  // Waits for the file that `name` leads to, or led to when it was closed, if it is on its way. Why HDF5 cannot open
  // it; "" if nothing is known against that.
  std::string wait(const std::string& name);
  void wait_for_all();
  // Looks which have ended. A failure that is found is told on standard error at once.
  void look();
  // Those that have been found since the last call.
  std::vector<std::string> take_failures();
  // The process ends: waits for all, and says how many have failed.
  void finish();

  // The child could not wait for what is on its way, so the parent does.
  void before_fork();
  void after_fork_in_parent() { mutex_.unlock(); }
  void after_fork_in_child();

 private:
  // Device and number of a file, which stay the same when it is renamed; zeros: there is none.
  using Identity = std::pair<dev_t, ino_t>;
  struct Leaving {
    std::string path;  // when it was closed
    Identity identity;
    tailrace_ticket ticket;
  };

  static Identity identity_of(const std::string& name);
  bool settle(const Leaving& leaving, int64_t milliseconds);
  void settle_all(int64_t milliseconds);

  process::ProcessClient& client_;

  std::mutex mutex_;  // guards all below but any_, which is written under it
  std::atomic<bool> any_ = false;
  uint64_t closed_ = 0;  // all that were on their way, …
  uint64_t failed_ = 0;  // … and those that are not whole
  std::vector<Leaving> leaving_;
  std::map<Identity, std::string> broken_;  // why
  std::vector<std::string> failures_;       // not returned by a call yet
};

}  // namespace tailrace::hdf5
