// Data: a rank's memory. Each 4-byte word has a value that follows from its place in the file, so that a reader can
// check every byte.
//
// The word with number w of an iteration's region is (w · 2654435761 mod 2³²) | 1, which is never 0. So that
// iterations differ, each word whose number is a multiple of kMark has the value of number w + kStep · (iteration +
// 1) instead. lab/tailrace_lab/bench/mpiio_file.py checks that.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/mpiio/access.hpp"

namespace bench::mpiio {

constexpr uint64_t kMark = 4096;
constexpr uint64_t kStep = 40503;

class Data {
 public:
  explicit Data(const Access& access);

  // Makes the data those of an iteration.
  void stamp(int iteration);

  const char* memory() const { return reinterpret_cast<const char*>(words_.data()); }

 private:
  struct Marked {
    uint64_t word;  // in memory
    uint64_t number;
  };

  std::vector<uint32_t> words_;
  std::vector<Marked> marked_;
};

}  // namespace bench::mpiio
