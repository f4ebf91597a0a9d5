#include "hdf5_vol/process/process.hpp"

namespace tailrace::hdf5 {

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
  return settings_.detach;
}

void Process::report_filtered() {
  if (ChunkCrew* const crew = crew_.made()) crew->report();
}

void Process::report_prefetched() {
  if (Prefetcher* const prefetcher = prefetcher_.made()) prefetcher->report();
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
  mutex_.unlock();
}

}  // namespace tailrace::hdf5
