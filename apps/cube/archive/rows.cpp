#include "cube/archive/rows.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "cube/archive/counted.hpp"
#include "cube/archive/error.hpp"

namespace tailrace::cube {
namespace {

constexpr std::string_view kPlain = "CUBEX.DATA";
constexpr std::string_view kCompressed = "ZCUBEX.DATA";

uint64_t in_order(uint64_t number, ByteOrder order) {
  return order == kNativeOrder ? number : __builtin_bswap64(number);
}

}  // namespace

Rows::Rows(const Archive& archive, unsigned metric, DataType type, uint64_t call_paths, uint64_t locations)
    : archive_(archive), type_(std::move(type)), locations_(locations) {
  const std::string number = std::to_string(metric);
  name_ = archive.path() + ": " + number + ".data";
  const Member* const index = archive.find(number + ".index");
  data_ = archive.find(number + ".data");
  if (index == nullptr && data_ == nullptr) return;
  if (index == nullptr || data_ == nullptr) {
    throw Error(archive.path() + ": found one of " + number + ".index and " + number + ".data, expected both");
  }
  index_ = read_index(archive, *index, call_paths);
  row_of_.assign(call_paths, kNone);
  for (size_t row = 0; row < index_.ids.size(); ++row) row_of_[index_.ids[row]] = static_cast<uint32_t>(row);
  if (type_.known()) read_head();
}

void Rows::refuse_type(const char* expected) const {
  throw Error(name_ + ": expected " + expected + ", such as DOUBLE or UINT64, found \"" + type_.name + "\"");
}

void Rows::read_head() {
  std::string head(std::min<uint64_t>(data_->bytes, kCompressed.size()), '\0');
  archive_.read(*data_, 0, std::as_writable_bytes(std::span(head)));
  if (head.starts_with(kCompressed)) return read_places();
  if (!head.starts_with(kPlain)) throw Error(name_ + ": expected CUBEX.DATA or ZCUBEX.DATA at its begin");
  const uint64_t expected = kPlain.size() + index_.ids.size() * row_bytes();
  if (data_->bytes != expected) {
    throw Error(name_ + ": expected " + std::to_string(expected) + " bytes, for " +
                counted(index_.ids.size(), "row") + " of " + counted(locations_, "value") + ", found " +
                std::to_string(data_->bytes));
  }
}

void Rows::read_places() {
  uint64_t rows = 0;
  archive_.read(*data_, kCompressed.size(), std::as_writable_bytes(std::span(&rows, 1)));
  rows = in_order(rows, index_.order);
  if (rows != index_.ids.size()) {
    throw Error(name_ + ": expected " + std::to_string(index_.ids.size()) + " compressed rows, found " +
                std::to_string(rows));
  }
  std::vector<uint64_t> table(3 * rows);
  archive_.read(*data_, kCompressed.size() + sizeof rows, std::as_writable_bytes(std::span(table)));
  const uint64_t begin = kCompressed.size() + sizeof rows + table.size() * sizeof(uint64_t);
  compresses_ = true;
  for (uint64_t row = 0; row < rows; ++row) {
    const uint64_t offset = in_order(table[3 * row + 1], index_.order);
    const uint64_t bytes = in_order(table[3 * row + 2], index_.order);
    if (offset > data_->bytes - begin || bytes > data_->bytes - begin - offset) {
      throw Error(name_ + ": row " + std::to_string(row) + ": expected it within the member, found " +
                  counted(bytes, "byte") + " from " + std::to_string(offset) + " on");
    }
    compressed_.push_back({begin + offset, bytes});
  }
}

void Rows::fill_neutral(std::span<std::byte> to) const {
  std::fill(to.begin(), to.end(), std::byte{0});
  if (!type_.number || type_.number->combine == Number::Combine::sum) return;
  const double value = neutral(type_.number->combine);
  for (size_t at = 0; at < to.size(); at += sizeof value) std::memcpy(to.data() + at, &value, sizeof value);
}

void Rows::read(uint32_t id, std::span<std::byte> to) const {
  if (!type_.known()) refuse_type("a type whose layout is known");
  if (!has(id)) return fill_neutral(to);
  const uint32_t row = row_of_[id];
  if (compresses_) {
    unzip(row, to);
  } else {
    archive_.read(*data_, kPlain.size() + row * row_bytes(), to);
  }
  if (index_.order != kNativeOrder) swap_bytes(type_, to.data(), locations_, to.data());
}

void Rows::unzip(uint32_t row, std::span<std::byte> to) const {
  std::vector<std::byte> zipped(compressed_[row].bytes);
  archive_.read(*data_, compressed_[row].offset, zipped);
  uLongf bytes = to.size();
  const int result = uncompress(reinterpret_cast<Bytef*>(to.data()), &bytes,
                                reinterpret_cast<const Bytef*>(zipped.data()), zipped.size());
  if (result != Z_OK || bytes != to.size()) {
    throw Error(name_ + ": row " + std::to_string(row) + ": expected a zlib stream of " + std::to_string(to.size()) +
                " bytes, found " + (result == Z_OK ? std::to_string(bytes) : "a damaged one"));
  }
}

void Rows::read(uint32_t id, std::span<double> to, std::vector<std::byte>& memory) const {
  if (!type_.number) refuse_type("a type of numbers");
  if (!type_.number->is_integer()) return read(id, std::as_writable_bytes(to));
  memory.resize(row_bytes());
  read(id, memory);
  to_doubles(*type_.number, memory.data(), to.size(), to.data());
}

void Rows::read(uint32_t id, std::span<Integer> to, std::vector<std::byte>& memory) const {
  memory.resize(row_bytes());
  read(id, memory);
  to_integers(*type_.number, memory.data(), to.size(), to.data());
}

}  // namespace tailrace::cube
