#include "cube/archive/index.hpp"

#include <cstring>
#include <numeric>
#include <string_view>

#include "cube/archive/counted.hpp"
#include "cube/archive/error.hpp"

namespace tailrace::cube {
namespace {

constexpr std::string_view kMagic = "CUBEX.INDEX";
constexpr uint32_t kOne = 1;
constexpr uint8_t kSparse = 1;
constexpr uint8_t kDense = 3;

// Takes numbers off the begin of a text.
class Bytes {
 public:
  Bytes(std::string_view text, std::string what) : text_(text), what_(std::move(what)) {}

  template <typename T>
  T take() {
    if (text_.size() < sizeof(T)) refuse("the end of it");
    T value;
    std::memcpy(&value, text_.data(), sizeof value);
    text_.remove_prefix(sizeof value);
    if constexpr (sizeof(T) == 2) return swaps ? __builtin_bswap16(value) : value;
    if constexpr (sizeof(T) == 4) return swaps ? __builtin_bswap32(value) : value;
    return value;
  }
  size_t left() const { return text_.size(); }
  [[noreturn]] void refuse(const std::string& found) const {
    throw Error(what_ + ": expected an index of a metric, found " + found);
  }

  bool swaps = false;

 private:
  std::string_view text_;
  const std::string what_;
};

template <typename T>
void append(std::string& text, T value, bool swaps) {
  if constexpr (sizeof(T) == 2) value = swaps ? __builtin_bswap16(value) : value;
  if constexpr (sizeof(T) == 4) value = swaps ? __builtin_bswap32(value) : value;
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  text.append(bytes, sizeof bytes);
}

}  // namespace

Index read_index(const Archive& archive, const Member& member, uint64_t call_paths) {
  const std::string what = archive.path() + ": " + member.name;
  const std::string text = archive.text(member, 64 + 4 * call_paths);
  if (!text.starts_with(kMagic)) throw Error(what + ": expected CUBEX.INDEX at its begin");
  Bytes bytes(std::string_view(text).substr(kMagic.size()), what);
  const auto one = bytes.take<uint32_t>();
  bytes.swaps = one != kOne;
  if (one != kOne && one != __builtin_bswap32(kOne)) bytes.refuse("no byte order");
  if (const auto version = bytes.take<uint16_t>(); version != 0) bytes.refuse("version " + std::to_string(version));
  Index index;
  index.order = bytes.swaps == (kNativeOrder == ByteOrder::little) ? ByteOrder::big : ByteOrder::little;
  const auto format = bytes.take<uint8_t>();
  if (format == 0 || format == kDense) {
    index.ids.resize(call_paths);
    std::iota(index.ids.begin(), index.ids.end(), 0u);
    return index;
  }
  if (format != kSparse) bytes.refuse("format " + std::to_string(format));
  const auto count = bytes.take<uint32_t>();
  if (count > call_paths || bytes.left() != uint64_t{4} * count) {
    bytes.refuse(counted(count, "row") + " in " + counted(bytes.left(), "byte") + ", of " +
                 counted(call_paths, "call path"));
  }
  std::vector<bool> seen(call_paths);
  for (uint32_t at = 0; at < count; ++at) {
    const auto id = bytes.take<uint32_t>();
    if (id >= call_paths || seen[id]) {
      bytes.refuse("id " + std::to_string(id) + (id >= call_paths ? " of too few call paths" : " twice"));
    }
    seen[id] = true;
    index.ids.push_back(id);
  }
  return index;
}

std::string encode_index(const Index& index, bool dense) {
  const bool swaps = index.order != kNativeOrder;
  std::string text(kMagic);
  append(text, kOne, swaps);
  append(text, uint16_t{0}, swaps);
  append(text, dense ? kDense : kSparse, swaps);
  if (dense) return text;
  append(text, static_cast<uint32_t>(index.ids.size()), swaps);
  for (const uint32_t id : index.ids) append(text, id, swaps);
  return text;
}

}  // namespace tailrace::cube
