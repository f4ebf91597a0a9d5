// Archives made up for tests, of members whose bytes the test gives, and rows as a metric stores them.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "cube/archive/data_type.hpp"
#include "cube/archive/error.hpp"
#include "cube/archive/index.hpp"
#include "cube/archive/tar_layout.hpp"

namespace tailrace::cube {

using Parts = std::vector<std::pair<std::string, std::string>>;  // names and bytes

// Returns an archive of these members.
inline std::string tar_of(const Parts& parts) {
  TarLayout layout;
  std::string text;
  for (const auto& [name, bytes] : parts) {
    const TarLayout::Place place = layout.add(name, bytes.size());
    text += place.header_bytes + bytes + std::string(place.padding, '\0');
  }
  return text + std::string(TarLayout::kEndBytes, '\0');
}

inline std::string write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Returns the text of the Error that `call` throws; "": it throws none.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

#define EXPECT_ERROR(call, text) EXPECT_THAT_ERROR(error_of([&] { call; }), text)
#define EXPECT_THAT_ERROR(found, text) EXPECT_NE((found).find(text), std::string::npos) << found

// Returns a value's bytes in an order, each field for itself.
inline std::string in_order(std::string value, const std::vector<uint8_t>& fields, ByteOrder order) {
  if (order == kNativeOrder) return value;
  for (size_t at = 0; at < value.size();) {
    for (const uint8_t bytes : fields) {
      std::reverse(value.begin() + static_cast<std::ptrdiff_t>(at),
                   value.begin() + static_cast<std::ptrdiff_t>(at + bytes));
      at += bytes;
    }
  }
  return value;
}

template <typename T>
std::string bytes_of(T value, ByteOrder order = kNativeOrder) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return in_order(bytes, {sizeof value}, order);
}

inline std::string zlib_of(const std::string& plain) {
  std::string packed(compressBound(plain.size()), '\0');
  uLongf bytes = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &bytes, reinterpret_cast<const Bytef*>(plain.data()),
           plain.size());
  return packed.substr(0, bytes);
}

inline std::string gzip_of(const std::string& plain) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, plain.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// Returns the member "<id>.data" with these rows, which are in this machine's byte order.
inline std::string data_of(const std::vector<std::string>& rows, const DataType& type, ByteOrder order,
                           bool compressed) {
  std::string table, packed, plain;
  for (const std::string& row : rows) {
    const std::string bytes = in_order(row, type.fields, order);
    const std::string small = zlib_of(bytes);
    for (const uint64_t number : {plain.size(), packed.size(), small.size()}) table += bytes_of(number, order);
    plain += bytes;
    packed += small;
  }
  if (!compressed) return "CUBEX.DATA" + plain;
  return "ZCUBEX.DATA" + bytes_of(uint64_t{rows.size()}, order) + table + packed;
}

}  // namespace tailrace::cube
