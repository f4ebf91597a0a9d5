// Dataset decides who moves the data of an open dataset: Contiguous, if they are one run of the file, Chunked, if
// they are stored in chunks, or HDF5 itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "hdf5_vol/data/chunked.hpp"
#include "hdf5_vol/data/contiguous.hpp"
#include "hdf5_vol/data/elements.hpp"
#include "hdf5_vol/files/files.hpp"
#include "hdf5_vol/host/host.hpp"
#include "hdf5_vol/host/transfer_list.hpp"
#include "hdf5_vol/policy/carry_policy.hpp"

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

  // `object` is the object of this dataset. Adds the writes on their way to `request`, which is null if no caller
  // asks for them.
  Outcome write(const Object& object, const Transfer& transfer, const void* data, Request* request);
  Outcome read(const Transfer& transfer, void* data);

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
  bool changes() const {
    return contiguous_ ? !contiguous_->has_place() : changes_ || (files_then_ && *files_then_ != File::made());
  }
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
  explicit Dataset(Host& host) : host_(host), elements_(host) {}

  void prepare_sources() const;
  void look_at_place(const Object& object, DatasetFacts& facts);
  Layout look_at_layout(hid_t dcpl);
  void find_chunks(const Object& object, const std::shared_ptr<File>& file, const H5O_token_t& token, hid_t dcpl);
  void find_place(const Object& object, const std::shared_ptr<File>& file, hid_t dcpl, DatasetFacts& facts);
  Outcome write_chunks(const Object& object, const Transfer& transfer, const void* data, Request* request);
  // Returns the key under which the file keeps what is on its way to the dataset.
  uint64_t key() const { return contiguous_ ? contiguous_->offset() : chunks_key_; }

  Host& host_;
  std::shared_ptr<File> file_;  // null: HDF5 moves the data
  Elements elements_;
  std::optional<Contiguous> contiguous_;  // at most one of these two is set
  std::unique_ptr<Chunked> chunked_;
  uint64_t chunks_key_ = 0;             // see Chunked::key_of
  bool changes_ = false;                // HDF5 has the dataset because it has no place yet
  std::optional<uint64_t> files_then_;  // if no file was known that has it: File::made() at that time
  bool small_ = false;
  bool is_virtual_ = false;  // reads other datasets, in any file
};

}  // namespace tailrace::hdf5
