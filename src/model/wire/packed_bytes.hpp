// PackedBytes: numbers and texts as bytes, one behind the other, in the machine's byte order; and their reading,
// which trusts none of them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tailrace::impl {

static_assert(std::endian::native == std::endian::little, "bytes between machines of other byte order");

class PackedBytes {
 public:
  template <class T>
  void put(const T& number) {
    static_assert(std::is_arithmetic_v<T>);
    const auto* bytes = reinterpret_cast<const std::byte*>(&number);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof number);
  }
  // Puts the characters alone.
  void put_text(std::string_view text) {
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), bytes, bytes + text.size());
  }
  // Puts the length, u32, before them.
  void put_string(std::string_view text) {
    put(static_cast<uint32_t>(text.size()));
    put_text(text);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Reads within its bytes; after a failure all that it returns is 0 or empty.
class PackedReader {
 public:
  explicit PackedReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    static_assert(std::is_arithmetic_v<T>);
    T number{};
    const std::span<const std::byte> from = next(sizeof number);
    if (!from.empty()) std::memcpy(&number, from.data(), sizeof number);
    return number;
  }
  std::string get_text(size_t length) {
    const std::span<const std::byte> from = next(length);
    return {reinterpret_cast<const char*>(from.data()), from.size()};
  }
  std::string get_string() { return get_text(get<uint32_t>()); }
  // Returns the next bytes; none after a failure.
  std::span<const std::byte> next(size_t length) {
    if (length > bytes_.size()) good_ = false;
    if (!good_) return {};
    const std::span<const std::byte> taken = bytes_.first(length);
    bytes_ = bytes_.subspan(length);
    return taken;
  }
  // Notes that the bytes are wrong.
  void fail() { good_ = false; }
  bool good() const { return good_; }
  bool good_to_the_end() const { return good_ && bytes_.empty(); }
  size_t left() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  bool good_ = true;
};

}  // namespace tailrace::impl
