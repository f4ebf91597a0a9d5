#include "hdf5_vol/files/read_ahead.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "hdf5_vol/files/pending_writes.hpp"

namespace tailrace::hdf5 {

ReadAhead::~ReadAhead() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

const std::byte* ReadAhead::find(const tailrace_extent& dataset, const tailrace_extent& bytes,
                                 PendingWrites& writes) {
  if (!works_ || writes.is_left_alone() || !process::Sieve::is_small(bytes.length)) return nullptr;
  process::Sieve& sieve = sieves_.of(dataset.offset);
  if (const std::byte* const found = sieve.find(bytes)) return found;
  const std::optional<tailrace_extent> wanted = sieve.wanted(bytes, dataset.offset + dataset.length);
  if (!wanted) return nullptr;
  sieve.filled(wanted->offset, read(*wanted, writes, sieve.room(wanted->length)));
  return sieve.find(bytes);
}

// Returns how many bytes have been read.
uint64_t ReadAhead::read(const tailrace_extent& bytes, PendingWrites& writes, std::byte* to) {
  if (writes.any(bytes)) return writes.read({&bytes, 1}, to).status == TAILRACE_OK ? bytes.length : 0;
  if (descriptor_ < 0 && !open()) return 0;
  const ssize_t got = ::pread(descriptor_, to, bytes.length, static_cast<off_t>(bytes.offset));
  return got > 0 ? static_cast<uint64_t>(got) : 0;
}

// Opens a descriptor of our own, because HDF5 may close its own at any time.
bool ReadAhead::open() {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  works_ = process::FileKey::of(descriptor_).is(key_);
  if (!works_ && descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  return works_;
}

}  // namespace tailrace::hdf5
