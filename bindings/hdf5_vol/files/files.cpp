#include "hdf5_vol/files/files.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "hdf5_vol/files/open_files.hpp"
#include "hdf5_vol/files/small_carried.hpp"
#include "hdf5_vol/process/process.hpp"

namespace tailrace::hdf5 {
namespace {

// Never destroyed, since HDF5 ends after everything else.
OpenFiles<File>& open_files() {
  static OpenFiles<File>* const only = new OpenFiles<File>;
  return *only;
}

void before_fork() {
  Process::instance().detached().before_fork();
  open_files().before_fork();
  Process::instance().before_fork();
}

void after_fork_in_parent() {
  Process::instance().after_fork_in_parent();
  open_files().after_fork();
  Process::instance().detached().after_fork_in_parent();
}

void after_fork_in_child() {
  Process::instance().after_fork_in_child();
  for (const auto& file : open_files().all_in_fork()) file->leave_to_parent();
  open_files().after_fork();
  Process::instance().detached().after_fork_in_child();
}

// Functions that were registered later have run already, so the client has ended: nothing is carried or filtered any
// more.
void end_process() {
  finish_writes();
  if (carrier().summary()) Process::instance().report_filtered();
}

}  // namespace

File::File(const Host& host, std::string path, bool parallel)
    : host_(host),
      path_(std::move(path)),
      key_(process::FileKey::of(path_)),
      parallel_(parallel),
      ahead_(path_, key_, !parallel),
      writes_(ahead_, failures_),
      chunks_(host, path_, failures_),
      detaching_(path_, writes_) {
  count_.fetch_add(1, std::memory_order_relaxed);
  made_.fetch_add(1, std::memory_order_relaxed);
  if (parallel_) parallel_count_.fetch_add(1, std::memory_order_relaxed);
}

File::~File() {
  if (count_.fetch_sub(1, std::memory_order_relaxed) == 1) {
    SmallCarried::forget();
    unlinked_.store(false, std::memory_order_relaxed);
  }
  if (parallel_) parallel_count_.fetch_sub(1, std::memory_order_relaxed);
  for (const std::shared_ptr<File>& other : kept_) --other->objects;
}

bool File::is_behind(int descriptor) const { return process::FileKey::of(descriptor).is(key_); }

bool File::has_its_name() const {
  if (!process::FileKey::of(path_).is(key_)) return false;
  const std::vector<std::shared_ptr<File>> all = open_files().all();
  return std::none_of(all.begin(), all.end(), [this](const auto& other) {
    return other.get() != this && other->writes_.is_open() && other->path_ == path_ && other->key_ != key_;
  });
}

bool File::ready() {
  if (writes_.is_unopened()) {
    has_its_name() ? writes_.open(path_, detaching_.is_detached()) : writes_.refuse();
  }
  return writes_.is_open();
}

bool File::hide() { return detaching_.must_hide() && has_its_name() && detaching_.hide(); }

void File::leave() {
  ahead_.forget();
  detaching_.leave(userblock);
}

std::vector<std::string> File::take_failures() {
  std::vector<std::string> all;
  for (const auto& failure : carrier().take_failures(path_)) all.push_back(failure.message);
  all.insert(all.end(), failures_.begin(), failures_.end());
  failures_.clear();
  if (all.empty()) return all;
  ahead_.forget();
  detaching_.spoil(all.front());
  return all;
}

void File::hand_over() {
  chunks_.settle();
  writes_.send_small();
}

void File::drain() {
  ahead_.forget();
  chunks_.settle();
  writes_.drain();
}

void File::leave_to_parent() {
  ahead_.forget();
  detaching_.attach();
  writes_.leave_to_parent();
  failures_.clear();
  chunks_.leave_to_parent();
}

void File::leave_alone() {
  drain();
  detaching_.attach();
  writes_.leave_alone();
}

std::shared_ptr<File> file_of(const Host& host, unsigned long number) { return open_files().find(host, number); }

std::shared_ptr<File> make_file(const Host& host, unsigned long number, const std::string& path, bool parallel) {
  [[maybe_unused]] static const int forks = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  [[maybe_unused]] static const bool finishes = (Process::instance().set_finish(finish_writes), true);
  [[maybe_unused]] static const int at_end = std::atexit(end_process);  // runs before HDF5's, which was registered
                                                                        // earlier
  return open_files().find_or_make(host, number, [&] { return std::make_shared<File>(host, path, parallel); });
}

void finish_writes() {
  for (const auto& file : open_files().all()) {
    // No call of the library is in progress.
    const LibraryState state(file->host());
    if (state.is_open()) file->chunks().settle();
    file->writes().send_small();
  }
}

void settle_chunks_of(const Host& host) {
  for (const auto& file : open_files().all_of(host)) {
    file->chunks().settle();
    for (const std::string& failure : file->take_failures()) std::fprintf(stderr, "tailrace: %s\n", failure.c_str());
  }
}

void drain_all(const Host& host) {
  for (const auto& file : open_files().all_of(host)) file->drain();
}

bool any_on_their_way(const Host& host) {
  const auto files = open_files().all_of(host);
  return std::any_of(files.begin(), files.end(), [](const auto& file) { return file->writes().any(); });
}

}  // namespace tailrace::hdf5
