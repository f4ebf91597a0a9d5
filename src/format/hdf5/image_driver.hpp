// The image driver: a file driver for HDF5 that keeps what HDF5 writes in memory and touches no file.
//
// HDF5 lays its metadata out and writes them here. For raw data it asks the driver for space, and learns where its
// maker has placed them: contiguous data never come this way, and the bytes of chunks (H5Dwrite_chunk) are not looked
// at. So the image stays small. When HDF5 closes the file, the image remains with its maker, who sends its bytes
// through the engine.
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

// The bytes that HDF5 has written, and which those are.
class FileImage {
 public:
  // A piece has at most so many bytes: one that is changed later is copied as a whole.
  static constexpr uint64_t kMostOfPiece = uint64_t{32} << 10;
  static constexpr uint64_t kPage = 4096;

  void write(uint64_t offset, const std::byte* bytes, size_t size);
  // Bytes never written read as zero.
  void read(uint64_t offset, std::byte* bytes, size_t size) const;
  // Takes the written bytes out of the image, in order, in pieces.
  std::vector<MetadataPiece> take_pieces();

  uint64_t written_end() const { return written_end_; }
  // Returns true if space was given that does not begin at a page: right where the space before it ended.
  bool is_tight() const { return tight_; }
  // Answers HDF5, which needs space for raw data or for metadata: with next_raw, if it is that, or with the space
  // behind all others. Nothing if the size is not that of next_raw.
  std::optional<uint64_t> allocate(bool raw, uint64_t size);
  // Returns true if the space for raw data that begins there was the last next_raw, whose bytes HDF5 does not have.
  bool is_placed(uint64_t offset) const { return placed_.length > 0 && offset == placed_.offset; }

  uint64_t end_of_allocation = 0;  // HDF5's EOA: the size that the file must have
  Extent next_raw;                 // where the raw data go that HDF5 asks for next; of length 0: nowhere yet

 private:
  using Page = std::array<std::byte, kPage>;

  void note_written(uint64_t begin, uint64_t end);

  std::map<uint64_t, Page> pages_;        // by offset / kPage
  std::map<uint64_t, uint64_t> written_;  // runs of written bytes: where each begins, and where it ends
  uint64_t written_end_ = 0;
  bool tight_ = false;
  Extent placed_;
};

// Makes files opened with the access property list live in `image`, which outlives them. LibraryLock is held.
bool use_image(hid_t access, FileImage* image);

}  // namespace tailrace::impl
