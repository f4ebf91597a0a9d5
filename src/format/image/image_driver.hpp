// The image driver: a file driver for HDF5 that keeps HDF5's writes in memory and touches no file.
//
// HDF5 lays out its metadata and writes them here. For raw data it asks the driver for space, and gets the place that
// the plan has assigned. Contiguous data never pass through here, and the bytes of chunks (H5Dwrite_chunk) are
// ignored, so the image stays small. When HDF5 closes the file, its maker keeps the image and sends its bytes through
// the engine.
#pragma once

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "format/format.hpp"

namespace tailrace::impl {

// The bytes that HDF5 has written, and their positions.
class FileImage {
 public:
  // The most bytes of a piece: a piece that is changed later is copied as a whole.
  static constexpr uint64_t kMostOfPiece = uint64_t{32} << 10;
  static constexpr uint64_t kPage = 4096;

  void write(uint64_t offset, const std::byte* bytes, size_t size);
  // Reads bytes; those never written are zero.
  void read(uint64_t offset, std::byte* bytes, size_t size) const;
  // Takes the written bytes out of the image, in order, in pieces.
  std::vector<MetadataPiece> take_pieces();

  uint64_t written_end() const { return written_end_; }
  // Returns true if some space began right after the space before it, not at a page.
  bool is_tight() const { return tight_; }
  // Gives HDF5 space for raw data or for metadata: next_raw for raw data, else the space behind all others. Returns
  // none if raw data have another size than next_raw.
  std::optional<uint64_t> allocate(bool raw, uint64_t size);
  // Returns true if the raw data that begin there have the last next_raw, so that HDF5 does not have their bytes.
  bool is_placed(uint64_t offset) const { return placed_.length > 0 && offset == placed_.offset; }

  uint64_t end_of_allocation = 0;  // HDF5's EOA: the size that the file must have
  uint64_t space_begin = 0;        // of the space behind the superblock, HDF5's first allocation
  Extent next_raw;                 // the place for the raw data that HDF5 asks for next; of length 0: none yet

 private:
  using Page = std::array<std::byte, kPage>;

  void note_written(uint64_t begin, uint64_t end);

  std::map<uint64_t, Page> pages_;        // by offset / kPage
  std::map<uint64_t, uint64_t> written_;  // runs of written bytes: begin and end
  uint64_t written_end_ = 0;
  bool tight_ = false;
  Extent placed_;
};

// Keeps files opened with the access property list in `image`, which outlives them. The caller holds LibraryLock.
bool use_image(hid_t access, FileImage* image);

}  // namespace tailrace::impl
