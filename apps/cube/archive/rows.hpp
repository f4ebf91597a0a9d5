// Rows: the data of one metric, one row of values of all locations for each call path that has one (the members
// "<id>.index" and "<id>.data"). Rows are read when they are asked for.
//
// Layout of the data: "CUBEX.DATA", then the rows in the order of the index; or "ZCUBEX.DATA", u64 n, n times three
// u64 (place of the row uncompressed, place compressed, compressed bytes), then one zlib stream a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cube/archive/archive.hpp"
#include "cube/archive/data_type.hpp"
#include "cube/archive/index.hpp"

namespace tailrace::cube {

class Rows {
 public:
  // The archive must live as long as this. A metric without members has no rows, which is no error. Rows of a type
  // that is not known cannot be read.
  Rows(const Archive& archive, unsigned metric, DataType type, uint64_t call_paths, uint64_t locations);

  const DataType& type() const { return type_; }
  const Index& index() const { return index_; }
  bool compressed() const { return compresses_; }
  uint64_t row_bytes() const { return locations_ * type_.bytes(); }

  // Returns true if the call path with that id has a row. Without one, its values are neutral.
  bool has(uint32_t id) const { return id < row_of_.size() && row_of_[id] != kNone; }
  // Fills `to`, of row_bytes(), with the row in this machine's byte order; with neutral values if there is none. Any
  // thread may call.
  void read(uint32_t id, std::span<std::byte> to) const;
  // Fills `to` with the row as doubles, one for each location; `memory` is used for it. Throws Error if the type is
  // no number.
  void read(uint32_t id, std::span<double> to, std::vector<std::byte>& memory) const;
  // Likewise as integers; the type must be one.
  void read(uint32_t id, std::span<Integer> to, std::vector<std::byte>& memory) const;

 private:
  struct Compressed {
    uint64_t offset;  // in the member
    uint64_t bytes;
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  void read_head();
  void read_places();
  void fill_neutral(std::span<std::byte> to) const;
  [[noreturn]] void refuse_type(const char* expected) const;
  void unzip(uint32_t row, std::span<std::byte> to) const;

  const Archive& archive_;
  const DataType type_;
  const uint64_t locations_;
  Index index_;
  std::vector<uint32_t> row_of_;  // by id
  const Member* data_ = nullptr;
  bool compresses_ = false;
  std::vector<Compressed> compressed_;  // by row
  std::string name_;                    // of the data, for errors
};

}  // namespace tailrace::cube
