// The image driver: a file driver for HDF5 that keeps what HDF5 writes in memory and touches no file.
//
// HDF5 lays the file out and writes its metadata here. Of raw data it only learns where they are to lie: contiguous
// ones never come this way, and of chunks (H5Dwrite_chunk) their place is noted and their bytes are not looked at. So
// the image stays small. When HDF5 closes the file, the image remains with its maker, who sends its bytes through the
// engine.
#pragma once

#include <hdf5.h>

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
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
  uint64_t end_of_allocation = 0;  // HDF5's EOA: the size that the file must have

  // While `only_note_raw`, raw data that HDF5 writes are noted and not kept. (At other times what it takes for raw
  // data are the values of long attributes, which nobody else has.)
  bool only_note_raw = false;
  Extent noted;            // where the last ones are to lie
  uint64_t noted_end = 0;  // of all of them

 private:
  static constexpr uint64_t kPage = 4096;
  struct Page {
    std::array<std::byte, kPage> bytes{};
    std::bitset<kPage> written;
  };

  std::map<uint64_t, Page> pages_;  // by offset / kPage
  uint64_t written_end_ = 0;
};

// Makes files opened with the access property list live in `image`, which outlives them. LibraryLock is held.
bool use_image(hid_t access, FileImage* image);

}  // namespace tailrace::impl
