#include "format/hdf5/series_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "format/image/changed_pieces.hpp"
#include "format/image/image_driver.hpp"
#include "format/metadata/commit_record.hpp"

namespace tailrace::impl {
namespace {

// The first iteration begins behind the page of the superblock, which alone is written again.
constexpr uint64_t kBegin = FileImage::kPage;

uint64_t aligned(uint64_t end, uint64_t unit) { return (end + unit - 1) / unit * unit; }

// Makes the link /data of the image's root group lead to `address`.
bool link_data(IterationImage& image, uint64_t address) {
  ChangedPieces bytes(image.pieces);
  const std::optional<ObjectHeader> root = bytes.header_at(image.root);
  const std::optional<HeaderField> link = root ? root->link_address("data") : std::nullopt;
  if (!link) return false;
  std::array<std::byte, 8> value{};
  put_number(address, value);
  bytes.set(*link, value);
  bytes.finish();
  return true;
}

}  // namespace

Result<SeriesFile> SeriesFile::open(FileSystem& files, const std::string& path) {
  Result<std::optional<FileContents>> contents = read_contents(files, path);
  if (!contents.ok()) return contents.status();
  SeriesFile file;
  file.is_published_ = contents.value().has_value();
  if (file.is_published_) file.contents_ = std::move(*contents.value());
  return file;
}

uint64_t SeriesFile::next() const { return aligned(std::max(contents_.end, kBegin), FileImage::kPage); }

Result<FileEnding> SeriesFile::add(int64_t iteration, IterationImage image) {
  contents_.iterations.add(iteration, image.iteration);
  const uint64_t begin = aligned(std::max(image.file_end, image.written_end), 8);
  std::vector<IterationIndex::Chunk> chunks = contents_.iterations.write(begin);
  if (!link_data(image, chunks.back().offset)) {
    return Status(TAILRACE_INTERNAL, "the root group of an iteration has no link to /data where it is expected");
  }
  contents_.end = chunks.back().end();
  for (IterationIndex::Chunk& chunk : chunks) image.pieces.push_back({chunk.offset, std::move(chunk.bytes)});
  const std::span<const std::byte> superblock = image.superblock.bytes.all();
  std::vector<std::byte> head(superblock.begin(), superblock.end());
  put_end(contents_.end, head);
  return FileEnding{std::move(image.pieces), {0, std::move(head)}};
}

}  // namespace tailrace::impl
