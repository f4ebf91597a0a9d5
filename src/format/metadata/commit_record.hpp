// CommitRecord: a file's HDF5 superblock and the root group that it names, read without the HDF5 library.
//
// A crash may leave any bytes in a file, and the library's decoders are not made for that. So recovery judges a file
// by these few bytes, and the library never sees a file whose superblock was not written completely. Pure functions
// over bytes; they read no file. The formats are those of superblocks 2 and 3 and of object headers 2 ("HDF5 File
// Format Specification", II.A and IV.A).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tailrace::impl {

constexpr size_t kSuperblockBytes = 48;
constexpr uint64_t kUndefinedAddress = ~uint64_t{0};

struct CommitRecord {
  uint64_t end;   // bytes that the file must have
  uint64_t root;  // address of its root group
};

// Returns none unless the bytes are a superblock as tailrace makes it: with the right checksum, addresses of 8 bytes
// that count from the file's beginning, no extension, and a root group between the superblock and the end.
std::optional<CommitRecord> parse_commit_record(std::span<const std::byte> head);

// Changes the end in a superblock, for which parse_commit_record() returns a record, and its checksum.
void put_end(uint64_t end, std::span<std::byte> superblock);

constexpr size_t kMostRootBytes = size_t{64} << 10;  // of the first chunk of the root group's header; ours have 200

// Returns true if `bytes` begin with the whole first chunk of an object header. They are the file's bytes from
// CommitRecord::root on, kMostRootBytes or as many as there are. After a power failure the superblock may be there
// without the root group.
bool has_root(std::span<const std::byte> bytes);

// Returns the number that `size` bytes from `at` on make, the least significant byte first.
uint64_t little_endian(std::span<const std::byte> bytes, size_t at, size_t size);

// Returns Bob Jenkins' lookup3 ("hashlittle", initial value 0): the checksum of all of HDF5's metadata.
uint32_t metadata_checksum(std::span<const std::byte> bytes);

}  // namespace tailrace::impl
