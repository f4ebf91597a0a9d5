// Chunked moves the data of an open dataset that is stored in chunks. It puts whole chunks with filters together; the
// crew filters them, and then HDF5 gets them. Chunks without filters bypass HDF5, as contiguous data do, if the
// program has asked for early allocation and HDF5 has no chunk cache. HDF5 itself writes all other data.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "hdf5_vol/data/chunk_places.hpp"
#include "hdf5_vol/files/chunk_queue.hpp"
#include "hdf5_vol/files/files.hpp"
#include "hdf5_vol/host/host.hpp"
#include "hdf5_vol/policy/carry_policy.hpp"

namespace tailrace::hdf5 {

class Request;

class Chunked {
 public:
  // Returns null if the dataset is not carried. `type` is the type of the dataset and must outlive the result;
  // `space` is its extent, and `dapl` its access properties.
  static std::unique_ptr<Chunked> look_at(const std::shared_ptr<File>& file, const H5O_token_t& token, hid_t dcpl,
                                          hid_t space, hid_t dapl, hid_t type);
  // Returns the key under which a file keeps the writes of the dataset with that token that bypass HDF5.
  static uint64_t key_of(const H5O_token_t& token);
  // Returns what the creation properties, the extent and the type of a dataset in chunks say of it.
  static DatasetFacts facts_of(const Host& host, hid_t dcpl, hid_t space, hid_t type);

  // Returns true if all data are on their way. Otherwise nothing of the dataset is on its way, and HDF5 has to write
  // the data. `memory_type` is a number's. `data` has the selected elements side by side. Adds the writes on their
  // way to `request`, which is null if no caller asks for them.
  bool write(void* under, hid_t memory_type, hid_t file_space, const std::byte* data, Request* request);
  // Returns true if the crew filters the chunks; otherwise they bypass HDF5.
  bool filters() const { return !goes_past_; }
  // Waits until HDF5 has all chunks.
  void settle();
  // Returns true if it will close `under` itself, when HDF5 has all chunks; the caller then does not.
  bool close_later(void* under);

 private:
  struct Box {
    std::vector<hsize_t> begin;
    std::vector<hsize_t> count;
  };
  // The intersection of a box and a chunk.
  struct Part {
    std::vector<hsize_t> in_box;    // where it begins in the box
    std::vector<hsize_t> in_chunk;  // where it begins in the chunk
    std::vector<hsize_t> count;
  };
  Chunked(const Host& host, std::shared_ptr<File> file) : host_(host), file_(std::move(file)) {}
  std::optional<Box> box_of(hid_t file_space) const;
  bool covers_whole_chunks(const Box& box, hid_t file_space) const;
  Part part_of(const Box& box, const std::vector<hsize_t>& at) const;
  void make_room(uint64_t bytes);
  // Adds the chunk that begins at `at`; returns false if HDF5 has to write it.
  bool add_chunk(void* under, const Box& box, const std::vector<hsize_t>& at, hid_t memory_type,
                 const std::byte* data, Request* request);
  Reason why_not_written(const std::optional<Box>& box, hid_t file_space) const;
  bool may_be_left_out(void* under, const std::vector<hsize_t>& at) const;
  bool send_part(void* under, const Box& box, const std::vector<hsize_t>& at, hid_t memory_type,
                 const std::byte* data, Request* request);
  std::optional<ByteBuffer> rows_of(const Box& box, const Part& part, hid_t memory_type, const std::byte* data) const;
  ByteBuffer whole_chunk(ByteBuffer rows, const Part& part) const;
  std::vector<tailrace_extent> extents_of(const Part& part, uint64_t place) const;

  const Host& host_;
  const std::shared_ptr<File> file_;
  std::shared_ptr<ChunkQueue> queue_;  // shared by all objects of the dataset that are open
  std::vector<ChunkFilter> filters_;
  uint64_t size_left_out_ = 0;  // bytes of a chunk that its compressor has left out; 0 if HDF5 always applies it
  bool goes_past_ = false;      // chunks bypass HDF5
  uint64_t key_ = 0;            // for the file's writes that bypass HDF5
  ChunkPlaces places_;          // used if chunks bypass HDF5
  std::vector<hsize_t> chunk_;  // elements
  hid_t type_ = H5I_INVALID_HID;
  std::vector<std::byte> fill_;  // one element
};

}  // namespace tailrace::hdf5
