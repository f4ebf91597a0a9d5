#include "hdf5_vol/process/process.hpp"

#include <cstdio>
#include <fstream>

namespace tailrace::hdf5 {
namespace {

// Returns true if the process was forked, and has executed no program since; also if that is unknown. The kernel
// knows: the connector may have been loaded after the fork.
bool is_forked() {
  constexpr unsigned kForkedButNotExecuted = 0x40;  // PF_FORKNOEXEC of <linux/sched.h>
  std::ifstream stat("/proc/self/stat");
  std::string text;
  std::getline(stat, text);
  char state = 0;
  unsigned flags = 0;
  const size_t name = text.rfind(')');  // it may contain anything
  const bool known = name != std::string::npos &&
                     std::sscanf(text.c_str() + name + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) == 2;
  return !known || (flags & kForkedButNotExecuted) != 0;
}

bool may_detach() {
  if (is_forked()) return false;
  if (Detached::watch()) return true;
  std::fprintf(stderr,
               "tailrace: files are waited for when they are closed, though close=detach was set: that needs "
               "libtailrace_hdf5_names.so in LD_PRELOAD, which `tailrace run` sets\n");
  return false;
}

}  // namespace

Process& Process::instance() {
  static Process* const only = new Process;
  return *only;
}

Process::Process() : client_({"HDF5", "hdf5", end, [] { carrier().end_by_signal(); }}), detached_(client_) {}

void Process::end() {
  Process& process = instance();
  if (process.finish_ != nullptr) process.finish_();
  process.detached_.finish();
  process.client_.end();
}

void Process::set_finish(void (*finish)()) {
  const std::lock_guard lock(mutex_);
  finish_ = finish;
}

void Process::configure(const Settings& settings) {
  const std::lock_guard lock(mutex_);
  if (client_.configure(settings.client)) settings_ = settings;
}

void Process::refuse(const std::string& why) {
  const std::lock_guard lock(mutex_);
  wrong_ = why;
}

std::string Process::wrong() {
  const std::lock_guard lock(mutex_);
  return wrong_;
}

uint64_t Process::smallest() {
  const std::lock_guard lock(mutex_);
  return settings_.smallest;
}

uint64_t Process::prefetch() {
  const std::lock_guard lock(mutex_);
  return settings_.prefetch;
}

bool Process::detaches() {
  const std::lock_guard lock(mutex_);
  if (settings_.detach && !may_detach_) may_detach_ = may_detach();
  return settings_.detach && *may_detach_;
}

void Process::report_filtered() {
  if (ChunkCrew* const crew = crew_.made()) crew->report();
}

void Process::report_prefetched() {
  if (Prefetcher* const prefetcher = prefetcher_.made()) prefetcher->report();
}

void Process::report_unused() {
  if (crew_.made() == nullptr && prefetcher_.made() == nullptr) client_.end();
}

void Process::before_fork() {
  mutex_.lock();
  client_.before_fork();
}

void Process::after_fork_in_parent() {
  client_.after_fork_in_parent();
  mutex_.unlock();
}

void Process::after_fork_in_child() {
  client_.after_fork_in_child();
  crew_.forget();
  may_detach_ = false;
  mutex_.unlock();
}

}  // namespace tailrace::hdf5
