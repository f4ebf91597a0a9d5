// The commit record of a file: its HDF5 superblock, and the root group that it names, read without the HDF5 library.
//
// What a crash leaves may hold any bytes, and the library's decoders are not made for that; so recovery judges by
// these few bytes, and the library never sees a file whose superblock was not written whole. Pure functions over
// bytes; reads no file. The formats are those of superblocks 2 and 3 and of object headers 2 ("HDF5 File Format
// Specification", II.A and IV.A).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tailrace::impl {

constexpr size_t kSuperblockBytes = 48;

struct CommitRecord {
  uint64_t end;   // bytes that the file must have
  uint64_t root;  // where its root group is
};

// Nothing unless the bytes are a superblock as tailrace has it made: the right checksum, addresses of 8 bytes that
// count from the file's beginning, no extension, and a root group between the superblock and the end.
std::optional<CommitRecord> parse_commit_record(std::span<const std::byte> head);

constexpr size_t kMostRootBytes = size_t{64} << 10;  // of the first piece of the root group's header; ours have 200

// Returns true if `bytes`, which are the file's from CommitRecord::root on, kMostRootBytes or all that there are,
// begin with the whole first piece of an object header. The superblock may outlive it where power was lost.
bool has_root(std::span<const std::byte> bytes);

// Returns the number that `size` bytes from `at` on make, the least significant byte first.
uint64_t little_endian(std::span<const std::byte> bytes, size_t at, size_t size);

// Bob Jenkins' lookup3 ("hashlittle", beginning with 0): the checksum of all of HDF5's metadata.
uint32_t metadata_checksum(std::span<const std::byte> bytes);

}  // namespace tailrace::impl
