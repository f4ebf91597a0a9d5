// How the data of an open dataset travel that is stored in chunks. Whole ones with filters are put together here,
// filtered by the crew, and given to HDF5 when that is done. Those without, if the program has asked for their places
// at once and HDF5 keeps none in its cache, are written past it, as contiguous data are. All other data are HDF5's.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "hdf5_vol/data/chunk_places.hpp"
#include "hdf5_vol/files/chunk_queue.hpp"
#include "hdf5_vol/files/files.hpp"
#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

class Request;

class Chunked {
 public:
  // Null if it is stored in another way, or by filters that are not known here. `type` is the dataset's, and stays;
  // `space`: its extent; `dapl`: how it is open.
  static std::unique_ptr<Chunked> look_at(const std::shared_ptr<File>& file, const H5O_token_t& token, hid_t dcpl,
                                          hid_t space, hid_t dapl, hid_t type);
  // Bytes. Smaller ones are filtered sooner than they are handed over; unless smaller datasets are carried, too.
  static uint64_t smallest_chunk(uint64_t smallest_dataset) { return std::min(uint64_t{4} << 10, smallest_dataset); }
  // By which a file knows what is on its way to the dataset with that token, if that goes past HDF5.
  static uint64_t key_of(const H5O_token_t& token);
  // Returns true if the chunks of a dataset that is made so, of that extent and elements of `type`, have their places
  // at once, are not filtered, and are large enough.
  static bool may_go_past(const Host& host, hid_t dcpl, hid_t space, hid_t type);

  // True if all of it is on its way. Otherwise HDF5 is to write it, and nothing of the dataset is on its way.
  // `memory_type`: a number's; `data`: the selected elements, one after the other; `request`: to which is added what
  // is on its way; null: nobody asks.
  bool write(void* under, hid_t memory_type, hid_t file_space, const std::byte* data, Request* request);
  // Returns true if its chunks are filtered; otherwise they go past HDF5.
  bool filters() const { return !goes_past_; }
  // Waits until HDF5 has all.
  void settle();
  // Returns true if `under` is to be closed when HDF5 has all chunks, and not by the caller.
  bool close_later(void* under);

 private:
  struct Box {
    std::vector<hsize_t> begin;
    std::vector<hsize_t> count;
  };
  // The intersection of a box and a chunk.
  struct Part {
    std::vector<hsize_t> in_box;    // where it begins there
    std::vector<hsize_t> in_chunk;  // … and there
    std::vector<hsize_t> count;
  };
  Chunked(const Host& host, std::shared_ptr<File> file) : host_(host), file_(std::move(file)) {}
  std::optional<Box> box_of(hid_t file_space) const;
  bool covers_whole_chunks(const Box& box, hid_t file_space) const;
  Part part_of(const Box& box, const std::vector<hsize_t>& at) const;
  void make_room(uint64_t bytes);
  // The chunk that begins at `at`; false if HDF5 has to write it.
  bool add_chunk(void* under, const Box& box, const std::vector<hsize_t>& at, hid_t memory_type,
                 const std::byte* data, Request* request);
  bool may_be_left_out(void* under, const std::vector<hsize_t>& at) const;
  bool send_part(void* under, const Box& box, const std::vector<hsize_t>& at, hid_t memory_type,
                 const std::byte* data, Request* request);
  std::optional<ByteBuffer> rows_of(const Box& box, const Part& part, hid_t memory_type, const std::byte* data) const;
  ByteBuffer whole_chunk(ByteBuffer rows, const Part& part) const;
  std::vector<tailrace_extent> extents_of(const Part& part, uint64_t place) const;

  const Host& host_;
  const std::shared_ptr<File> file_;
  std::shared_ptr<ChunkQueue> queue_;  // of all who have the dataset open
  std::vector<ChunkFilter> filters_;
  uint64_t size_left_out_ = 0;  // of a chunk without its compressor; 0 if HDF5 has it always
  bool goes_past_ = false;      // HDF5
  uint64_t key_ = 0;            // of what is on its way past HDF5
  ChunkPlaces places_;          // if it does
  std::vector<hsize_t> chunk_;  // elements
  hid_t type_ = H5I_INVALID_HID;
  std::vector<std::byte> fill_;  // an element
};

}  // namespace tailrace::hdf5
