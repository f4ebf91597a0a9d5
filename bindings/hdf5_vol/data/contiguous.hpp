// Contiguous moves the data of an open dataset that is one run of its file: as extents, beside the program, or from
// memory. HDF5 makes the transfers that it leaves out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hdf5_vol/data/elements.hpp"
#include "hdf5_vol/data/unplaced.hpp"
#include "hdf5_vol/files/files.hpp"
#include "hdf5_vol/host/host.hpp"
#include "hdf5_vol/host/move.hpp"
#include "hdf5_vol/policy/carry_policy.hpp"

namespace tailrace::hdf5 {

struct Object;
class Request;

enum class Outcome {
  done,
  failed,  // the error stack says why
  pass     // HDF5 has to do it; nothing of the file is on its way now
};

class Contiguous {
 public:
  // The data begin at `offset` of the file; with `unplaced`, they have no place yet. Borrows the elements.
  Contiguous(const Host& host, std::shared_ptr<File> file, const Elements& elements, uint64_t offset,
             std::optional<Unplaced> unplaced)
      : host_(host), file_(std::move(file)), elements_(elements), offset_(offset), unplaced_(std::move(unplaced)) {}

  bool has_place() const { return !unplaced_; }
  uint64_t offset() const { return offset_; }

  // `object` is the object of this dataset. Adds the writes on their way to `request`, which is null if no caller
  // asks for them.
  Outcome write(const Object& object, const Transfer& transfer, const void* data, Request* request);
  Outcome read(const Transfer& transfer, void* data);

 private:
  Decision decide(const Transfer& transfer, const void* data, const Request* request, Move& move);
  Outcome take_place(const Object& object, const Move& move);
  // `data_stay`: see write_for.
  Outcome write_runs(const std::vector<tailrace_extent>& runs, const std::byte* data, bool data_stay,
                     Request* request);
  Outcome write_in_parts(const Move& move, const Transfer& transfer, const std::byte* data, Request* request);
  // `ahead`: the bytes of the move, if they have been read ahead; else null.
  bool read_parts(const Move& move, const Transfer& transfer, const std::byte* ahead, std::byte* data);
  bool read_run(const Move& move, const std::byte* ahead, std::byte* to);
  const std::byte* find_ahead(const Move& move);
  Outcome refuse(const char* function, const Refusal& why) const;

  const Host& host_;
  const std::shared_ptr<File> file_;
  const Elements& elements_;
  uint64_t offset_;
  std::optional<Unplaced> unplaced_;  // set if its first write may be carried, but has not come yet
};

}  // namespace tailrace::hdf5
