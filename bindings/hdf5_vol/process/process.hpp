// Process: everything that the connector has once in a process, however many HDF5 libraries it serves there. It is
// the connector's only singleton.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "hdf5_vol/filters/chunk_crew.hpp"
#include "hdf5_vol/process/detached.hpp"
#include "hdf5_vol/process/prefetcher.hpp"
#include "hdf5_vol/process/settings.hpp"
#include "process_client/made_once.hpp"
#include "process_client/process_client.hpp"

namespace tailrace::hdf5 {

class Process {
 public:
  // Never destroyed: HDF5 closes files very late.
  static Process& instance();

  // The client that carries the data of all files.
  process::ProcessClient& client() { return client_; }
  // The files that were closed without waiting.
  Detached& detached() { return detached_; }
  // The threads that filter chunks, and the thread that prefetches. The first call makes them.
  ChunkCrew& crew() { return crew_.get(); }
  Prefetcher& prefetcher() { return prefetcher_.get(); }

  // Sets the settings, unless the client has already opened with others.
  void configure(const Settings& settings);
  // Sets what is wrong with the connector's settings ("": nothing). If something is, no file can be opened.
  void refuse(const std::string& why);
  std::string wrong();
  // See Settings.
  uint64_t smallest();
  uint64_t prefetch();
  // Returns true if files may be closed without waiting: if the settings say so, the process will not end past its
  // exit handlers, as forked children do, and the program's calls past HDF5 are watched (names/names.h).
  bool detaches();

  // Sets the function that runs first when the process ends. Call it once, before the client opens.
  void set_finish(void (*finish)());
  // Print on standard error what was filtered and prefetched, if anything was.
  void report_filtered();
  void report_prefetched();
  // Prints that nothing was carried, filtered or prefetched, if the settings ask for a summary, and that is so.
  void report_unused();

  // Call these around a fork, between those of `detached`.
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();
  // Call it in a forked child, which has no prefetching thread: prefetcher() makes another one.
  void forget_prefetcher() { prefetcher_.forget(); }

 private:
  Process();
  static void end();

  process::ProcessClient client_;
  Detached detached_;
  process::MadeOnce<ChunkCrew> crew_;
  process::MadeOnce<Prefetcher> prefetcher_;

  std::mutex mutex_;  // guards all below; taken before the client's
  Settings settings_;
  std::optional<bool> may_detach_;  // apart from the settings; none: not looked at yet
  std::string wrong_;
  void (*finish_)() = nullptr;
};

// Short for the client of the process, and for what its calls return.
using Refusal = process::ProcessClient::Refusal;
inline process::ProcessClient& carrier() { return Process::instance().client(); }

}  // namespace tailrace::hdf5
