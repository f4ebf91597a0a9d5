#include "format/metadata/iteration_index.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "format/metadata/commit_record.hpp"

namespace tailrace::impl {
namespace {

// The bytes of an object header's chunk, from its beginning on.
class ChunkBytes {
 public:
  void text(std::string_view text) {
    for (const char letter : text) bytes_.push_back(static_cast<std::byte>(letter));
  }
  void number(uint64_t number, size_t size) {
    for (size_t i = 0; i < size; ++i) bytes_.push_back(static_cast<std::byte>(number >> (8 * i) & 0xff));
  }
  // Begins a message whose payload has `size` bytes.
  void message(HeaderMessage type, size_t size) {
    number(static_cast<uint64_t>(type), 1);
    number(size, 2);
    number(0, 1);  // flags
  }
  void link(const std::string& name, uint64_t address) {
    message(HeaderMessage::link, 3 + name.size() + 8);
    number(1, 1);  // version
    number(0, 1);  // flags: a hard link, the length of its name in one byte
    number(name.size(), 1);
    text(name);
    number(address, 8);
  }
  size_t size() const { return bytes_.size(); }
  void put(size_t at, uint32_t number) {
    for (size_t i = 0; i < sizeof number; ++i) bytes_[at + i] = static_cast<std::byte>(number >> (8 * i) & 0xff);
  }
  // Adds the checksum, and returns the chunk.
  std::vector<std::byte> seal() {
    number(0, sizeof(uint32_t));
    seal_chunk(bytes_);
    return std::move(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
};

uint64_t next_word(uint64_t end) { return (end + 7) / 8 * 8; }

std::optional<int64_t> number_in(std::string_view name) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<IterationIndex> IterationIndex::from(const ObjectHeader& data) {
  const std::optional<std::vector<ObjectHeader::Link>> links = data.links();
  if (!links) return std::nullopt;
  IterationIndex index;
  const std::vector<Extent> chunks = data.chunks();
  index.full_.assign(chunks.begin() + 1, chunks.end());
  for (const ObjectHeader::Link& link : *links) {
    const std::optional<int64_t> number = number_in(link.name);
    if (!number) return std::nullopt;
    index.numbers_.push_back(*number);
    if (link.chunk == 0) index.latest_.push_back({*number, link.address});
  }
  std::sort(index.numbers_.begin(), index.numbers_.end());
  const bool twice = std::adjacent_find(index.numbers_.begin(), index.numbers_.end()) != index.numbers_.end();
  if (twice || index.latest_.size() > kLinksOfChunk) return std::nullopt;
  return index;
}

bool IterationIndex::contains(int64_t iteration) const {
  return std::binary_search(numbers_.begin(), numbers_.end(), iteration);
}

void IterationIndex::add(int64_t iteration, uint64_t address) {
  const auto at = std::lower_bound(numbers_.begin(), numbers_.end(), iteration);
  TAILRACE_REQUIRE(at == numbers_.end() || *at != iteration);
  numbers_.insert(at, iteration);
  latest_.push_back({iteration, address});
}

std::vector<IterationIndex::Chunk> IterationIndex::write(uint64_t begin) {
  TAILRACE_REQUIRE(begin == next_word(begin));
  std::vector<Chunk> written;
  if (latest_.size() >= kLinksOfChunk) {
    ChunkBytes bytes;
    bytes.text("OCHK");
    for (const Entry& entry : latest_) bytes.link(std::to_string(entry.iteration), entry.address);
    latest_.clear();
    written.push_back({begin, bytes.seal()});
    full_.push_back({begin, written.back().bytes.size()});
    begin = next_word(written.back().end());
  }
  ChunkBytes bytes;
  bytes.text("OHDR");
  bytes.number(2, 1);     // version
  bytes.number(0x02, 1);  // flags: the size of the messages has four bytes
  const size_t size_at = bytes.size();
  bytes.number(0, sizeof(uint32_t));
  const size_t messages_at = bytes.size();
  bytes.message(HeaderMessage::link_info, 18);
  bytes.number(0, 2);  // version and flags
  bytes.number(kUndefinedAddress, 8);
  bytes.number(kUndefinedAddress, 8);
  bytes.message(HeaderMessage::group_info, 2);
  bytes.number(0, 2);  // version and flags
  for (const Extent& chunk : full_) {
    bytes.message(HeaderMessage::continuation, 16);
    bytes.number(chunk.offset, 8);
    bytes.number(chunk.length, 8);
  }
  for (const Entry& entry : latest_) bytes.link(std::to_string(entry.iteration), entry.address);
  bytes.put(size_at, static_cast<uint32_t>(bytes.size() - messages_at));
  written.push_back({begin, bytes.seal()});
  return written;
}

}  // namespace tailrace::impl
