// OpenFiles: finds an open file by what HDF5 calls it: its library and its number there.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

// Does not keep the files alive: the wrappers of HDF5's objects do. Any thread may call: two hosts may look a file up
// at once.
template <typename File>
class OpenFiles {
 public:
  // Returns nullptr if none is open.
  std::shared_ptr<File> find(const Host& host, unsigned long number) {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find({&host, number});
    return found != files_.end() ? found->second.lock() : nullptr;
  }

  // Returns the file that is open, or what `make` returns, a shared pointer.
  template <typename Make>
  std::shared_ptr<File> find_or_make(const Host& host, unsigned long number, const Make& make) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<File>& place = files_[{&host, number}];
    std::shared_ptr<File> file = place.lock();
    if (file == nullptr) {
      file = make();
      place = file;
      std::erase_if(files_, [](const auto& entry) { return entry.second.expired(); });
    }
    return file;
  }

  std::vector<std::shared_ptr<File>> all() {
    const std::lock_guard lock(mutex_);
    return all_in_fork();
  }

  // Returns those of `host`. Within a call of it no other thread touches these, but those of other hosts it may.
  std::vector<std::shared_ptr<File>> all_of(const Host& host) {
    std::vector<std::shared_ptr<File>> found;
    const std::lock_guard lock(mutex_);
    for (const auto& [key, file] : files_) {
      auto open = key.first == &host ? file.lock() : nullptr;
      if (open != nullptr) found.push_back(std::move(open));
    }
    return found;
  }

  // A fork: between these two no other thread is inside.
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  // all(), between them.
  std::vector<std::shared_ptr<File>> all_in_fork() const {
    std::vector<std::shared_ptr<File>> all;
    for (const auto& [key, file] : files_) {
      if (auto open = file.lock()) all.push_back(std::move(open));
    }
    return all;
  }

 private:
  std::mutex mutex_;  // guards what follows
  std::map<std::pair<const Host*, unsigned long>, std::weak_ptr<File>> files_;
};

}  // namespace tailrace::hdf5
