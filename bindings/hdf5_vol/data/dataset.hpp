// Dataset knows where the data of an open dataset lie, and moves them: contiguous ones as extents of their file,
// beside the program, and those in chunks by Chunked. HDF5 itself moves all others.
//
// Dataset has more than 35 functions: each of HDF5's calls on a dataset asks it a question of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hdf5_vol/data/chunked.hpp"
#include "hdf5_vol/data/unplaced.hpp"
#include "hdf5_vol/files/files.hpp"
#include "hdf5_vol/host/host.hpp"
#include "hdf5_vol/host/move.hpp"
#include "hdf5_vol/host/selection.hpp"
#include "hdf5_vol/host/transfer_list.hpp"
#include "hdf5_vol/policy/carry_policy.hpp"
#include "hdf5_vol/process/process.hpp"

namespace tailrace::hdf5 {

struct Object;
class Request;

class Dataset {
 public:
  // Returns the one that all datasets share that are left to HDF5, until one is looked at as a small dataset
  // (is_small()).
  static std::shared_ptr<Dataset> left_to_hdf5(Host& host);
  // Looks at the dataset `object`. Never returns null. Leaves small datasets to HDF5, unless `which` asks for them.
  enum class Which { large, small_too };
  static std::shared_ptr<Dataset> look_at(const Object& object, Which which = Which::large);
  // Looks at the dataset `object` now if several processes share files. HDF5 may be set to read metadata in all of
  // them at once, and opening is a call that they make together.
  static void look_together(Object& object);
  // Returns the file that contains `object`, an object of that type, if the file's data may be carried; else null.
  static std::shared_ptr<File> file_around(const Object& object, H5I_type_t type);
  ~Dataset();

  enum class Outcome {
    done,
    failed,  // the error stack says why
    pass     // HDF5 has to do it; nothing of the file is on its way now
  };
  // `object` is the object of this dataset. Both add the writes on their way to `request`, which is null if nobody
  // asks for them.
  Outcome write(const Object& object, hid_t memory_type, hid_t memory_space, hid_t file_space, hid_t transfer,
                const void* data, Request* request);
  Outcome read(hid_t memory_type, hid_t memory_space, hid_t file_space, hid_t transfer, void* data);

  // Returns what HDF5's transfer property list reports of a transfer of that selection that was done here.
  Carried carried(hid_t file_space) const;

  // Waits until HDF5 has all chunks that are being filtered. Call it before a call that asks HDF5 for the chunks.
  void settle_chunks();
  // Leaves the dataset to HDF5 from now on, if its data bypass HDF5 and have a place. Nothing of it may be on its
  // way.
  void show_place();
  // Returns true if this closes `under` later, when HDF5 has all chunks; the caller then does not.
  bool close_later(void* under);
  // Returns true if the answers of this object may have changed: HDF5 allocates the dataset with its first write, or
  // another file has been opened. A dataset that was reached through a link may be in that file.
  bool changes() const { return changes_ || (files_then_ && *files_then_ != File::made()); }
  // Returns true if HDF5 keeps the dataset only because it is small.
  bool is_small() const { return small_; }
  // Returns true if this process alone may pass a collective call on to HDF5, since the others may have nothing to
  // pass. All processes get the same answer.
  bool passes_alone() const { return file_ != nullptr && file_->is_parallel(); }
  // Returns the file if writes to it may be on their way; null if nothing of it is carried.
  File* file() const { return file_.get(); }
  // Returns true if closing the dataset frees its space, and writes may be on their way to it. In a file of several
  // processes all of them call it, and all get the same answer.
  bool ends_with_close(const Object& object) const;
  // Puts the failures of accepted writes on the error stack; returns false if there were any.
  bool tell_failures() const;

 private:
  explicit Dataset(Host& host) : host_(host) {}

  static void prepare_sources();
  bool take_type(const Object& object);
  void look_at_extent();
  // Closes the identifiers that this holds: a program that lists all open ones sees them as its own.
  void give_back();
  void look_at_place(const Object& object, DatasetFacts& facts);
  Layout look_at_layout(hid_t dcpl);
  void find_chunks(const Object& object, const std::shared_ptr<File>& file, const H5O_token_t& token, hid_t dcpl);
  void find_place(const Object& object, const std::shared_ptr<File>& file, hid_t dcpl, DatasetFacts& facts);
  Outcome write_chunks(const Object& object, hid_t memory_type, hid_t memory_space, hid_t file_space, hid_t transfer,
                       const void* data, Request* request);
  Reason plan(hid_t memory_type, hid_t memory_space, hid_t file_space, hid_t transfer, const void* data,
              Move& move) const;
  bool select(hid_t memory_space, hid_t file_space, Move& move) const;
  Decision decide(hid_t memory_type, hid_t memory_space, hid_t file_space, hid_t transfer, const void* data,
                  const Request* request, Move& move);
  bool is_whole(const Move& move) const;
  bool is_of_type(hid_t type) const;
  bool may_convert(hid_t memory_type) const;
  std::vector<tailrace_extent> runs_in_file(const Move& move) const;
  tailrace_extent bounds(const Move& move) const;
  Outcome take_place(const Object& object, const Move& move);
  const std::byte* one_run(const Move& move, const void* data) const;
  // `ahead`: the bytes of the move, if they have been read ahead; else null.
  bool read_parts(const Move& move, hid_t memory_type, hid_t transfer, const std::byte* ahead, std::byte* data);
  bool read_run(const Move& move, const std::byte* ahead, std::byte* to);
  const std::byte* find_ahead(const Move& move);
  // `data_stay`: see write_for.
  Outcome write_runs(const std::vector<tailrace_extent>& runs, const std::byte* data, bool data_stay,
                     Request* request);
  Outcome write_in_parts(const Move& move, hid_t memory_type, hid_t transfer, const std::byte* data,
                         Request* request);
  Outcome refuse(const char* function, const Refusal& why) const;

  Host& host_;
  std::shared_ptr<File> file_;        // null: HDF5 moves the data
  std::unique_ptr<Chunked> chunked_;  // set if the dataset is stored in chunks that are carried
  std::optional<Unplaced> unplaced_;  // set if the dataset has no place yet, and its first write may be carried
  bool changes_ = false;
  std::optional<uint64_t> files_then_;  // if no file was known that has it: File::made() at that time
  bool small_ = false;
  bool is_virtual_ = false;  // reads other datasets, in any file
  hid_t type_ = H5I_INVALID_HID;
  hid_t space_ = H5I_INVALID_HID;
  size_t element_ = 0;
  uint64_t elements_ = 0;
  Extent extent_;                           // of space_
  mutable std::optional<hid_t> same_type_;  // one of HDF5's own types, known to equal type_
  uint64_t offset_ = 0;  // where its data begin in the file, unless unplaced_; of chunks, where the object header is
};

}  // namespace tailrace::hdf5
