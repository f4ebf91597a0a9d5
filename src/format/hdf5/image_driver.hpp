// The image driver: a file driver for HDF5 that keeps what HDF5 writes in memory and touches no file.
//
// HDF5 lays its metadata out and writes them here. For raw data it asks the driver for space, and learns where its
// maker has placed them: contiguous data never come this way, and the bytes of chunks (H5Dwrite_chunk) are not looked
// at. So the image stays small. When HDF5 closes the file, the image remains with its maker, who sends its bytes
// through the engine.
#pragma once

#include <hdf5.h>

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "format/format.hpp"

namespace tailrace::impl {

// The bytes that HDF5 has written, and which those are.
class FileImage {
 public:
  void write(uint64_t offset, const std::byte* bytes, size_t size);
  // Bytes never written read as zero.
  void read(uint64_t offset, std::byte* bytes, size_t size) const;
  // Runs of written bytes, in order.
  std::vector<MetadataPiece> pieces() const;

  uint64_t written_end() const { return written_end_; }
  // Answers HDF5, which needs space for raw data or for metadata: with next_raw, if it is that, or with the space
  // behind all others. Nothing if the size is not that of next_raw.
  std::optional<uint64_t> allocate(bool raw, uint64_t size);
  // Returns true if the space for raw data that begins there was the last next_raw, whose bytes HDF5 does not have.
  bool is_placed(uint64_t offset) const { return placed_.length > 0 && offset == placed_.offset; }

  uint64_t end_of_allocation = 0;  // HDF5's EOA: the size that the file must have
  Extent next_raw;                 // where the raw data go that HDF5 asks for next; of length 0: nowhere yet

 private:
  static constexpr uint64_t kPage = 4096;
  struct Page {
    std::array<std::byte, kPage> bytes{};
    std::bitset<kPage> written;
  };

  std::vector<Extent> runs() const;

  std::map<uint64_t, Page> pages_;  // by offset / kPage
  uint64_t written_end_ = 0;
  Extent placed_;
};

// Makes files opened with the access property list live in `image`, which outlives them. LibraryLock is held.
bool use_image(hid_t access, FileImage* image);

}  // namespace tailrace::impl
