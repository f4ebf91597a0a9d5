#include "damaris/run/readable.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

namespace tailrace::damaris {
namespace {

// Asks Linux 6.11 and later for the mapping at an address: `procmap_query` of linux/fs.h, which is not in the headers
// of older systems.
struct MappingQuery {
  uint64_t size = sizeof(MappingQuery);
  uint64_t query_flags = 0;  // the mapping that has the address
  uint64_t address = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t flags = 0;
  uint64_t others[7] = {};
};
static_assert(sizeof(MappingQuery) == 104);
constexpr unsigned long kQuery = _IOWR('f', 17, MappingQuery);
constexpr uint64_t kReadable = 1;

// Returns where the memory ends that can be read from this address on, at most `most`; none if the system cannot be
// asked so.
std::optional<uint64_t> ask_for_end(uint64_t address, uint64_t most) {
  const int list = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (list < 0) return std::nullopt;
  uint64_t end = address;
  bool known = true;
  while (end < most) {
    MappingQuery query;
    query.address = end;
    if (ioctl(list, kQuery, &query) != 0) {
      known = errno == ENOENT;  // there is no mapping
      break;
    }
    if ((query.flags & kReadable) == 0) break;
    end = query.end;
  }
  close(list);
  return known ? std::optional(std::min(end, most)) : std::nullopt;
}

// Returns the same from the list of all mappings, which takes long to read; `most` if there is no list.
uint64_t find_end(uint64_t address, uint64_t most) {
  std::ifstream list("/proc/self/maps");
  if (!list) return most;
  uint64_t end = address;
  for (std::string line; end < most && std::getline(list, line);) {
    uint64_t from = 0;
    uint64_t to = 0;
    char may_read = '-';
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %c", &from, &to, &may_read) != 3) return most;
    if (may_read == 'r' && from <= end && end < to) end = to;
  }
  return std::min(end, most);
}

// Returns true if all pages are mapped, whatever may be done with them.
bool is_mapped(uint64_t address, uint64_t most, uint64_t page) {
  std::array<unsigned char, 4096> pages{};
  for (uint64_t at = address / page * page; at < most; at += pages.size() * page) {
    const uint64_t length = std::min(most - at, pages.size() * page);
    if (mincore(reinterpret_cast<void*>(at), length, pages.data()) != 0 && errno == ENOMEM) return false;
  }
  return true;
}

}  // namespace

uint64_t readable_bytes(const void* data, uint64_t bytes) {
  const auto begin = reinterpret_cast<uint64_t>(data);
  const uint64_t most = bytes > UINT64_MAX - begin ? UINT64_MAX : begin + bytes;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (bytes == 0 || begin / page == (most - 1) / page) return bytes;  // where an array begins, its page can be read
  if (const std::optional<uint64_t> end = ask_for_end(begin, most)) return *end - begin;
  return is_mapped(begin, most, page) ? bytes : find_end(begin, most) - begin;
}

}  // namespace tailrace::damaris
