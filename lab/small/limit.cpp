#include "lab/small/limit.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "lab/pattern/clock.hpp"
#include "lab/pattern/memory.hpp"
#include "lab/pattern/posix_file.hpp"
#include "lab/small/program_data.h"
#include "lab/small/way.hpp"

namespace bench::small {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kPiece = uint64_t{8} << 20;

uint64_t in_pages(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Fills in the whole file from the clients' pieces.
void fill(const access_pattern& pattern, char* file) {
  const Buffer data(program_data_bytes(&pattern));
  const Buffer packed(pattern.length);
  for (int client = 0; client < pattern.clients; ++client) {
    program_data_fill(&pattern, client, data.data());
    for (uint64_t piece = 0; piece < pattern.pieces; ++piece) {
      const char* const from = program_data_of(&pattern, piece, 1, data.data(), packed.data());
      std::memcpy(file + access_pattern_offset(&pattern, client, piece), from, pattern.length);
    }
  }
}

int open_flags(const std::string& path) {
  const int flags = O_RDWR | O_CLOEXEC;
  const int direct = ::open(path.c_str(), flags | O_DIRECT);
  if (direct < 0) return flags;  // a file system without O_DIRECT
  ::close(direct);
  return flags | O_DIRECT;
}

}  // namespace

Limit write_limit(const Options& options) {
  const uint64_t bytes = in_pages(options.pattern.bytes);
  const Buffer whole(bytes);
  touch(whole.data(), bytes);
  fill(options.pattern, whole.data());
  const std::string path = options.dir + "/" + kFile;
  const int flags = open_flags(path);
  PosixFile file(path, flags);
  Limit limit;
  const double start = now();
  for (uint64_t at = 0; at < bytes; at += kPiece) {
    file.write_at(at, whole.data() + at, std::min(kPiece, bytes - at));
    ++limit.transfers;
  }
  if (bytes > options.pattern.bytes) file.resize(options.pattern.bytes);
  limit.written = now() - start;
  file.sync();
  limit.synced = now() - start;
  file.close();
  limit.description = (flags & O_DIRECT) != 0 ? "one process, 8 MiB at a time, past the page cache, fdatasync"
                                              : "one process, 8 MiB at a time, fdatasync";
  return limit;
}

}  // namespace bench::small
