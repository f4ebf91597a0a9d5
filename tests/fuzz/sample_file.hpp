// SampleFile: the bytes of a file that tailrace writes, and a way to damage it that knows where its metadata are.
//
// For fuzz_recovery alone. A damage is a short script, so that inputs stay small and every byte of them matters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/config/config.hpp"

namespace tailrace::fuzz {

// Reads numbers from the front of an input; zeros after its end.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool ended() const { return at_ == size_; }
  uint64_t number(size_t bytes);
  const uint8_t* rest() const { return data_ + at_; }
  size_t left() const { return size_ - at_; }

 private:
  const uint8_t* data_;
  size_t size_;
  size_t at_ = 0;
};

class SampleFile {
 public:
  // Makes a file of iteration 7 with `variables` variables v0, v1, … of 40 float64 each.
  explicit SampleFile(size_t variables);

  static constexpr int64_t iteration = 7;
  static constexpr uint64_t bytes_of_variable = 40 * sizeof(double);
  static std::string name_of(size_t variable) { return "v" + std::to_string(variable); }
  static impl::Layout layout();

  size_t variables() const { return variables_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  // Returns where the raw data of each variable are.
  const std::vector<uint64_t>& offsets() const { return offsets_; }

  // Runs the script. Sets `forged` to true if it corrected checksums, which no accident does.
  std::vector<std::byte> damaged(Input& script, bool& forged) const;

 private:
  // Bytes followed by their checksum.
  struct Summed {
    size_t begin, end;
  };

  size_t metadata_at(uint64_t index) const { return metadata_[index % metadata_.size()]; }
  void find_sums();
  void forge(std::vector<std::byte>& bytes) const;
  void edit(Input& script, uint64_t operation, std::vector<std::byte>& bytes) const;

  size_t variables_;
  std::vector<std::byte> bytes_;
  std::vector<uint64_t> offsets_;
  std::vector<size_t> metadata_;  // offsets of metadata bytes that are not zero
  std::vector<Summed> sums_;
};

}  // namespace tailrace::fuzz
