#include "hdf5_vol/files/prefetch_file.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "hdf5_vol/files/open_files.hpp"
#include "hdf5_vol/process/process.hpp"

namespace tailrace::hdf5 {
namespace {

// The system itself reads far enough ahead for shorter reads.
constexpr uint64_t kShortest = 64 << 10;  // bytes
// Most datasets of a file whose last read is remembered.
constexpr size_t kMostDatasets = 256;

// Never destroyed, since HDF5 ends after everything else.
OpenFiles<PrefetchFile>& open_prefetch_files() {
  static OpenFiles<PrefetchFile>* const only = new OpenFiles<PrefetchFile>;
  return *only;
}

void forget_in_child() {
  Process::instance().forget_prefetcher();
  open_prefetch_files().after_fork();
}

}  // namespace

PrefetchFile::~PrefetchFile() {
  count_.fetch_sub(1, std::memory_order_relaxed);
  if (own_ < 0) return;
  Process::instance().prefetcher().leave(own_);
  ::close(own_);
}

// Opens the file through HDF5's descriptor: it is the same file whatever its name is now, and what HDF5 does to its
// own descriptor, locks too, does not affect this one.
bool PrefetchFile::open() {
  if (!std::exchange(tried_, true)) {
    own_ = ::open(("/proc/self/fd/" + std::to_string(theirs_)).c_str(), O_RDONLY | O_CLOEXEC);
  }
  return own_ >= 0;
}

void PrefetchFile::has_read(const tailrace_extent& dataset, const tailrace_extent& read) {
  if (sequences_.size() >= kMostDatasets && !sequences_.contains(dataset.offset)) sequences_.clear();
  const std::optional<tailrace_extent> next = sequences_[dataset.offset].after(read);
  const uint64_t begin = next ? std::max(next->offset, dataset.offset) : 0;
  const uint64_t end = next ? std::min(next->offset + next->length, dataset.offset + dataset.length) : 0;
  if (begin < end && read.length >= kShortest) {
    if (open()) Process::instance().prefetcher().ask(own_, dataset.offset, {begin, std::min(end - begin, most_)});
  } else if (own_ >= 0) {
    Process::instance().prefetcher().drop(own_, dataset.offset);
  }
}

std::shared_ptr<PrefetchFile> prefetch_file_of(const Host& host, unsigned long number) {
  return open_prefetch_files().find(host, number);
}

std::shared_ptr<PrefetchFile> make_prefetch_file(const Host& host, unsigned long number, int theirs, uint64_t most) {
  [[maybe_unused]] static const int forks = pthread_atfork(
      [] { open_prefetch_files().before_fork(); }, [] { open_prefetch_files().after_fork(); }, forget_in_child);
  return open_prefetch_files().find_or_make(host, number, [&] {
    Process::instance().prefetcher();  // so that it reports at the end
    return std::make_shared<PrefetchFile>(theirs, most);
  });
}

}  // namespace tailrace::hdf5
