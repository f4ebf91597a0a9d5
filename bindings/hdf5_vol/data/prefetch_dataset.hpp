// PrefetchDataset knows where the data of an open dataset lie and which of them a read takes, so that the file can
// prefetch for its readers.
#pragma once

#include <tailrace/tailrace.h>

#include <memory>
#include <optional>
#include <vector>

#include "hdf5_vol/files/prefetch_file.hpp"
#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

struct Object;

class PrefetchDataset {
 public:
  // Looks at the dataset `object`. Never returns null. Nothing is prefetched for a dataset without a place of its
  // own.
  static std::unique_ptr<PrefetchDataset> look_at(const Object& object);

  // Notes that the selection in `file_space` has been read.
  void has_read(hid_t file_space);

 private:
  explicit PrefetchDataset(const Host& host) : host_(host) {}
  bool find_place(const Object& object);
  // Returns the range from the first byte to the last; nothing if most of the bytes between are not selected.
  std::optional<tailrace_extent> range_of(hid_t file_space) const;

  const Host& host_;
  std::shared_ptr<PrefetchFile> file_;  // null: nothing is prefetched
  tailrace_extent place_{};             // in the file
  uint64_t element_ = 0;                // bytes
  std::vector<hsize_t> dimensions_;
};

}  // namespace tailrace::hdf5
