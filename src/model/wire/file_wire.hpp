// The contents of a pool block that travels with a verb of raw files: a mode and a path, or a list of extents and
// their bytes. Bytes shared between processes: fixed width, versioned. The server copies and checks all of it before
// use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "model/request.hpp"
#include "model/stored_file.hpp"

namespace tailrace::impl {

inline constexpr uint32_t kFileWireVersion = 5;
inline constexpr uint32_t kKeptFileRecords = 64;             // files of a client with counters of their own
inline constexpr uint32_t kMostFileExtents = 1u << 16;       // of one verb
inline constexpr uint64_t kMostFilePath = 1023;              // bytes
inline constexpr uint64_t kMostFileEnd = uint64_t{1} << 62;  // largest end of an extent

// The flags of tailrace_file_mode.
inline constexpr uint32_t kFileRead = 1;
inline constexpr uint32_t kFileWrite = 2;
inline constexpr uint32_t kFileTruncate = 4;
inline constexpr uint32_t kFileImmediate = 8;
inline constexpr uint32_t kFilePublish = 16;
inline constexpr uint32_t kFileSeal = 32;
inline constexpr uint32_t kMostSeal = 16;  // bytes
// Returns true if a mode may have these flags together.
bool is_file_mode(uint32_t mode);
// Returns the name of a file until it is published. It differs from the names of iteration files, which `recover`
// finishes or removes.
std::string name_of_partial(const std::string& path);

// The head of a block of file_open. The path follows it, without a NUL.
struct FileOpening {
  uint32_t version = kFileWireVersion;
  uint32_t mode = 0;
  uint32_t length = 0;  // bytes of the path
  uint32_t record = 0;  // at most kKeptFileRecords: the record that counts the file's requests (channel/file_log.hpp)
  // Not 0 if a request for the file has failed: the file is then neither published nor sealed. The server sets it for
  // its successor; the client sets it to give the file up.
  uint32_t failed = 0;
  // The seal. The client writes it here before it closes the file.
  uint32_t seal_length = 0;  // bytes; 0: no seal yet
  uint64_t seal_offset = 0;  // in the file
  std::byte seal[kMostSeal] = {};
  uint64_t size = 0;  // of the file; the server writes it here to answer file_size
  // The server writes it here when it has opened the file: for the client, and for its successor, which must open the
  // same file.
  FileIdentity identity;
};
static_assert(sizeof(FileOpening) == 72);
static_assert(sizeof(FileIdentity) == 16);
static_assert(offsetof(FileIdentity, number) == 8);
static_assert(offsetof(FileOpening, size) == 48);
static_assert(offsetof(FileOpening, identity) == 56);
static_assert(offsetof(FileOpening, failed) == 16);
static_assert(offsetof(FileOpening, seal) == 32);
static_assert(std::is_trivially_copyable_v<FileOpening>);

// The head of a block of file_write or file_read. `count` extents follow it. The bytes of the extents lie one after
// the other from `data` on, an offset in the block.
struct FileList {
  uint32_t version = kFileWireVersion;
  uint32_t count = 0;
  uint64_t data = 0;
};
static_assert(sizeof(FileList) == 16);
static_assert(offsetof(FileList, data) == 8);
static_assert(std::is_trivially_copyable_v<FileList>);
static_assert(sizeof(Extent) == 16);
static_assert(offsetof(Extent, length) == 8);
static_assert(std::is_trivially_copyable_v<Extent>);

// Returns where the bytes of such a list begin in its block: at a cache line, or at a page if there are many, so that
// they may bypass the page cache.
uint64_t file_list_data(uint64_t count, uint64_t bytes);

// The contents of a block of file_open.
struct FileToOpen {
  std::string path;  // in the form that plain_file_path() returns
  uint32_t mode = 0;
  uint32_t record = 0;

  bool is_published() const { return (mode & kFilePublish) != 0; }
  bool is_sealed() const { return (mode & kFileSeal) != 0; }
};
Result<FileToOpen> read_file_opening(std::span<const std::byte> block);
// Returns FileOpening::failed of a block that read_file_opening() has accepted.
bool has_failed(std::span<const std::byte> block);
void set_failed(std::span<std::byte> block);
// Reads and writes FileOpening::size.
uint64_t size_in(std::span<const std::byte> block);
void put_size(std::span<std::byte> block, uint64_t size);
// Reads and writes FileOpening::identity.
FileIdentity identity_in(std::span<const std::byte> block);
void put_identity(std::span<std::byte> block, FileIdentity identity);
// Reads and writes the seal. Fails with TAILRACE_INVALID_ARGUMENT if no file can have such a seal.
bool has_seal(std::span<const std::byte> block);
Result<Piece> read_seal(std::span<std::byte> block);
void put_seal(std::span<std::byte> block, uint64_t offset, std::span<const std::byte> seal);

// Returns the pieces of a block of file_write or file_read: none empty, no two overlapping, all within block and
// file.
Result<std::vector<Piece>> read_file_list(std::span<std::byte> block);

// Returns a raw file's path in plain form, without "." and double slashes: relative to the first of the directories
// `roots` if it lies below that, else absolute. Fails with TAILRACE_INVALID_ARGUMENT if the path is empty or too
// long, contains "..", or is absolute and below none of them.
Result<std::string> plain_file_path(std::span<const std::string> roots, std::string_view path);
// The directory and the relative path that a plain path stands for.
struct FileBelow {
  std::string root;
  std::string path;  // relative to `root`
};
Result<FileBelow> file_below(std::span<const std::string> roots, const std::string& plain);

// Returns why no file can have bytes in the extent; ok if one can.
Status check_file_extent(Extent extent);
// Returns the indices of two extents that overlap; none if no two do.
std::optional<std::pair<size_t, size_t>> find_overlap(std::span<const Extent> extents);

}  // namespace tailrace::impl
