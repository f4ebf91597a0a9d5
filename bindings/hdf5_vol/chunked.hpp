// How the data of an open dataset travel that is stored in filtered chunks: whole chunks are put together here,
// filtered by the crew, and given to HDF5 when that is done. What touches a part of a chunk is HDF5's.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "chunk_queue.hpp"
#include "files.hpp"
#include "host.hpp"

namespace tailrace::hdf5 {

class Chunked {
 public:
  // Null if it is stored in another way, or by filters that are not known here. `type` is the dataset's, and stays.
  static std::unique_ptr<Chunked> look_at(const std::shared_ptr<File>& file, const H5O_token_t& token, hid_t dcpl,
                                          hid_t type);

  // True if all of it is on its way. Otherwise HDF5 is to write it, and nothing of the dataset is on its way.
  // `memory_type`: a number's; `data`: the selected elements, one after the other.
  bool write(void* under, hid_t memory_type, hid_t file_space, const std::byte* data);
  // Waits until HDF5 has all.
  void settle() { queue_->place(true, file_->failures()); }
  // Whether `under` is to be closed when HDF5 has all, and not by the caller.
  bool close_later(void* under);

 private:
  struct Box {
    std::vector<hsize_t> begin;
    std::vector<hsize_t> count;
  };
  Chunked(const Host& host, std::shared_ptr<File> file) : host_(host), file_(std::move(file)) {}
  bool read_filters(hid_t dcpl);
  std::optional<Box> box_of(hid_t file_space) const;
  bool covers_whole_chunks(const Box& box, hid_t file_space) const;
  void make_room(uint64_t bytes);
  bool add_chunk(void* under, const Box& box, const std::vector<hsize_t>& at, hid_t memory_type,
                 const std::byte* data);

  const Host& host_;
  const std::shared_ptr<File> file_;
  std::shared_ptr<ChunkQueue> queue_;  // of all who have the dataset open
  std::vector<ChunkFilter> filters_;
  std::vector<hsize_t> chunk_;  // elements
  hid_t type_ = H5I_INVALID_HID;
  std::vector<std::byte> fill_;  // an element
};

}  // namespace tailrace::hdf5
