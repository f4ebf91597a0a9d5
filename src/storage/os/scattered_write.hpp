// write_scattered: writes many small pieces of a file through the page cache, and leaves the bytes between them as
// they are.
//
// A system call for each piece takes microseconds. Where the file system is local, the pieces are instead copied into
// a mapping of the file, for a few dozen nanoseconds each. The kernel makes the copies, so that a page that cannot be
// had, since the disk is full or the file has been truncated, is an error and no SIGBUS. No byte between the pieces
// is read and written back, so other processes may write there at the same time. Elsewhere, and for what a mapping
// does not take, each piece is a system call of its own: network file systems may write back whole pages.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <span>

namespace tailrace::impl {

// Writes the segments into consecutive ranges of the file from `offset` on; the range of a segment without memory
// stays as it is. Returns the number of bytes from `offset` on, up to the first one that could not be written, or
// -errno if that is the first one of all. The file grows to the end of the last segment with memory. Any thread may
// call; each that does keeps a buffer until it ends.
int64_t write_scattered(int descriptor, uint64_t offset, std::span<const iovec> segments);

}  // namespace tailrace::impl
