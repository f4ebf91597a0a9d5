// An open dataset as those see it who go ahead of its readers: where its data lie, and which of them a read takes.
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
  // Looks at the dataset that `object` is. Never null: of one without a place of its own nothing is foreseen.
  static std::unique_ptr<PrefetchDataset> look_at(const Object& object);

  // Notes that the selection in `file_space` has been read.
  void has_read(hid_t file_space);

 private:
  explicit PrefetchDataset(const Host& host) : host_(host) {}
  bool find_place(const Object& object);
  // From the first byte to the last; nothing if most of what lies between is not selected.
  std::optional<tailrace_extent> range_of(hid_t file_space) const;

  const Host& host_;
  std::shared_ptr<PrefetchFile> file_;  // null: nothing is foreseen
  tailrace_extent place_{};             // in the file
  uint64_t element_ = 0;                // bytes
  std::vector<hsize_t> dimensions_;
};

}  // namespace tailrace::hdf5
