// Where the data of an open dataset lie, and how they travel: contiguous ones as extents of their file, beside the
// program; all others as HDF5 itself takes them.
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
#include "hdf5_vol/process/process.hpp"

namespace tailrace::hdf5 {

struct Object;
class Request;

class Dataset {
 public:
  // One that is HDF5's own as long as nobody looks at it as a small one (is_small()); the same for all.
  static std::shared_ptr<Dataset> left_to_hdf5(Host& host);
  // Looks at the dataset that `object` is. Never null. Small ones are HDF5's own, unless they are asked for, too.
  enum class Which { large, small_too };
  static std::shared_ptr<Dataset> look_at(const Object& object, Which which = Which::large);
  // Has the dataset that `object` is looked at now if there are files of several processes: HDF5 may be told to look
  // for metadata in all of them at once, and opening is what they do together.
  static void look_together(Object& object);
  // The file that `object`, which is of that type, lies in, if its data may be carried; else null.
  static std::shared_ptr<File> file_around(const Object& object, H5I_type_t type);
  ~Dataset();

  enum class Outcome {
    done,
    failed,  // and said why on the error stack
    pass     // for HDF5 itself to do, now that nothing of the file is on its way
  };
  // `object`: which the dataset is. `request`: to which is added what is on its way; null: nobody asks.
  Outcome write(const Object& object, hid_t memory_type, hid_t memory_space, hid_t file_space, hid_t transfer,
                const void* data, Request* request);
  Outcome read(hid_t memory_type, hid_t memory_space, hid_t file_space, hid_t transfer, void* data);

  // Returns what a transfer of that selection is to HDF5's property list, if it is done.
  Carried carried(hid_t file_space) const;

  // Waits until HDF5 has all chunks that are being filtered, if it is stored in chunks: before what asks for them.
  void settle_chunks();
  // Returns true if `under` is closed later, when HDF5 has all chunks, and not by the caller.
  bool close_later(void* under);
  // Returns true if this may change later: HDF5 gives the dataset a place with its first write, or other files are
  // open.
  bool changes() const { return changes_; }
  // Returns true if HDF5 keeps the dataset only because it is small.
  bool is_small() const { return small_; }
  // Returns true if a call that is passed to HDF5 concerns this process alone, although it is a collective one:
  // others may have nothing to pass. The same in all processes.
  bool passes_alone() const { return file_ != nullptr && file_->is_parallel(); }
  // The file, if data of it may be on their way; null if nobody carries any.
  File* file() const { return file_.get(); }
  // Returns true if the dataset's space is free once it is closed, and writes may be on their way to it. In a file of
  // several processes all of them call it, and it returns the same to all.
  bool ends_with_close(const Object& object) const;
  // Puts failures of accepted writes on the error stack; false if there were any.
  bool tell_failures() const;

 private:
  explicit Dataset(Host& host) : host_(host) {}

  static void prepare_sources();
  bool take_type(const Object& object);
  void look_at_extent();
  // Identifiers of HDF5, which a program that asks for all that are open sees as its own.
  void give_back();
  void look_at_layout(const Object& object, const std::shared_ptr<File>& file, const H5O_token_t& token, Which which);
  void find_chunks(const Object& object, const std::shared_ptr<File>& file, const H5O_token_t& token, hid_t dcpl);
  void find_place(const Object& object, const std::shared_ptr<File>& file, Which which, hid_t dcpl);
  Outcome write_chunks(const Object& object, hid_t memory_type, hid_t memory_space, hid_t file_space, hid_t transfer,
                       const void* data, Request* request);
  bool plan(hid_t memory_type, hid_t memory_space, hid_t file_space, hid_t transfer, Move& move) const;
  bool is_whole(const Move& move) const;
  bool is_of_type(hid_t type) const;
  bool may_convert(hid_t memory_type) const;
  std::vector<tailrace_extent> runs_in_file(const Move& move) const;
  tailrace_extent bounds(const Move& move) const;
  bool is_for_hdf5(const Move& move);
  Outcome take_place(const Object& object, const Move& move);
  const std::byte* one_run(const Move& move, const void* data) const;
  // `ahead`: the bytes of the move, if they have been read ahead; else null.
  bool read_parts(const Move& move, hid_t memory_type, hid_t transfer, const std::byte* ahead, std::byte* data);
  bool read_run(const Move& move, const std::byte* ahead, std::byte* to);
  const std::byte* find_ahead(const Move& move);
  // `data_stay`: as of write_for.
  Outcome write_runs(const std::vector<tailrace_extent>& runs, const std::byte* data, bool data_stay,
                     Request* request);
  Outcome write_in_parts(const Move& move, hid_t memory_type, hid_t transfer, const std::byte* data,
                         Request* request);
  Outcome refuse(const char* function, const Refusal& why) const;

  Host& host_;
  std::shared_ptr<File> file_;        // null: nothing is carried
  std::unique_ptr<Chunked> chunked_;  // if it is stored in chunks that are filtered here
  std::optional<Unplaced> unplaced_;  // if it has no place yet, and its first write may be carried
  bool changes_ = false;
  bool small_ = false;
  bool is_virtual_ = false;  // reads other datasets, of whichever files
  hid_t type_ = H5I_INVALID_HID;
  hid_t space_ = H5I_INVALID_HID;
  size_t element_ = 0;
  uint64_t elements_ = 0;
  Extent extent_;                           // of space_
  mutable std::optional<hid_t> same_type_;  // one of HDF5's own, known to be the same as type_
  uint64_t offset_ = 0;  // in the file, where its data begin, unless unplaced_; in chunks: where its header is
};

}  // namespace tailrace::hdf5
