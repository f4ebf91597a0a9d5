#include "sample_file.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "base/assert.hpp"
#include "format/hdf5/hdf5_format.hpp"
#include "format/metadata/commit_record.hpp"
#include "storage/memory/memory_file_system.hpp"
#include "testing/sample_config.hpp"

namespace tailrace::fuzz {
namespace {

using impl::metadata_checksum;

constexpr size_t longest_summed = 4096;  // of HDF5's metadata blocks in a file this small

uint32_t stored_sum(std::span<const std::byte> bytes, size_t at) {
  uint32_t sum = 0;
  std::memcpy(&sum, bytes.data() + at, sizeof sum);
  return sum;
}

void put(std::vector<std::byte>& file, uint64_t offset, std::span<const std::byte> bytes) {
  file.resize(std::max<size_t>(file.size(), offset + bytes.size()));
  std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<std::ptrdiff_t>(offset));
}

}  // namespace

uint64_t Input::number(size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes && at_ < size_; ++i) value |= uint64_t{data_[at_++]} << (8 * i);
  return value;
}

impl::Layout SampleFile::layout() {
  return impl::sample_config({"."}, {{name_of(0), impl::ElementType::float64, {8, 5}}}).layouts[0];
}

SampleFile::SampleFile(size_t variables) : variables_(variables) {
  std::vector<impl::SampleVariable> list;
  for (size_t i = 0; i < variables; ++i) list.push_back({name_of(i), impl::ElementType::float64, layout().shape});
  const impl::Config config = impl::sample_config({"."}, list);
  impl::Hdf5Format::Options options;
  options.client = 0;
  options.machine = "machine";
  options.date = [] { return std::string("2026-01-01 00:00:00 +0000"); };
  impl::MemoryFileSystem files;
  impl::Hdf5Format format(config, files, std::move(options));
  TAILRACE_REQUIRE(format.note_event(iteration, "storm").ok());
  for (uint32_t i = 0; i < variables; ++i) {
    const auto placement = format.place(block_of(config, i, iteration, 0));
    TAILRACE_REQUIRE(placement.ok() && placement.value().extents.size() == 1);
    offsets_.push_back(placement.value().extents[0].offset);
    put(bytes_, offsets_.back(), std::vector<std::byte>(bytes_of_variable, std::byte{0x40}));
  }
  const impl::Result<impl::PublicationPlan> plan = format.finish(iteration);
  TAILRACE_REQUIRE(plan.ok());
  for (const impl::PublicationStep& step : plan.value().steps) {
    for (const impl::MetadataPiece& piece : step.pieces) {
      const std::span<const std::byte> bytes = piece.bytes.all();
      put(bytes_, piece.offset, bytes);
      for (size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] != std::byte{0}) metadata_.push_back(piece.offset + i);
      }
    }
  }
  std::sort(metadata_.begin(), metadata_.end());
  find_sums();
}

// A block of metadata begins with its kind and ends with its checksum; trying finds the end.
void SampleFile::find_sums() {
  constexpr std::string_view kinds[] = {"OHDR", "OCHK", "FRHP", "FHDB", "BTHD", "BTLF"};
  const std::string_view text(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
  sums_.push_back({0, impl::kSuperblockBytes - sizeof(uint32_t)});
  for (const size_t begin : metadata_) {
    if (std::find(std::begin(kinds), std::end(kinds), text.substr(begin, 4)) == std::end(kinds)) continue;
    const size_t last = std::min(begin + longest_summed, bytes_.size() - sizeof(uint32_t));
    for (size_t end = begin + 4; end <= last; ++end) {
      if (stored_sum(bytes_, end) != metadata_checksum(std::span(bytes_).subspan(begin, end - begin))) continue;
      sums_.push_back({begin, end});
      break;
    }
  }
  TAILRACE_REQUIRE(stored_sum(bytes_, sums_[0].end) == metadata_checksum(std::span(bytes_).first(sums_[0].end)));
  TAILRACE_REQUIRE(sums_.size() > 4 + variables_);  // root, data, iteration, meshes; a header each, and more
}

void SampleFile::forge(std::vector<std::byte>& bytes) const {
  for (const Summed& block : sums_) {
    if (block.end + sizeof(uint32_t) > bytes.size()) continue;
    const uint32_t sum = metadata_checksum(std::span(bytes).subspan(block.begin, block.end - block.begin));
    std::memcpy(bytes.data() + block.end, &sum, sizeof sum);
  }
}

void SampleFile::edit(Input& script, uint64_t operation, std::vector<std::byte>& bytes) const {
  const size_t at = metadata_at(script.number(2));
  const size_t room = bytes.size() > at ? bytes.size() - at : 0;
  const auto write = [&](uint64_t value, size_t size) {
    std::memcpy(bytes.data() + at, &value, std::min(size, room));
  };
  switch (operation) {
    case 0: return write(script.number(1), 1);
    case 1: return write(script.number(2), 2);
    case 2: return write(script.number(4), 4);
    case 3: return write(script.number(8), 8);
    case 4: return bytes.resize(std::min<size_t>(bytes.size(), script.number(3)));  // cut short
    case 5: return bytes.resize(bytes.size() + script.number(1));                   // too long
    case 6: {                                                                       // pages that never arrived
      const size_t begin = std::min<size_t>(script.number(1) * 512, bytes.size());
      const size_t count = std::min<size_t>((1 + script.number(1)) * 512, bytes.size() - begin);
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), count, std::byte{0});
      return;
    }
    default: {  // bytes from another place
      const size_t from = metadata_at(script.number(2));
      const size_t count = std::min<size_t>(script.number(1), room);
      if (from + count <= bytes.size()) std::memmove(bytes.data() + at, bytes.data() + from, count);
    }
  }
}

std::vector<std::byte> SampleFile::damaged(Input& script, bool& forged) const {
  constexpr int most_edits = 16;
  std::vector<std::byte> bytes = bytes_;
  forged = script.number(1) % 2 == 1;
  for (int i = 0; i < most_edits && !script.ended(); ++i) edit(script, script.number(1) % 8, bytes);
  if (forged) forge(bytes);
  return bytes;
}

}  // namespace tailrace::fuzz
