// Raw files in tests: lists of extents from a seed, and a plain model of a file for comparison.
//
// It uses the public C header, for every place.
#pragma once

#include <gtest/gtest.h>
#include <tailrace/tailrace.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <list>
#include <random>
#include <string>
#include <vector>

#include "run_rig.hpp"

namespace test {

using Bytes = std::vector<char>;
using Extents = std::vector<tailrace_extent>;

inline uint64_t total_of(const Extents& extents) {
  uint64_t total = 0;
  for (const tailrace_extent& extent : extents) total += extent.length;
  return total;
}

inline Bytes bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

inline uint64_t seed_of_test() {
  const char* const given = std::getenv("TAILRACE_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

// Returns up to `most` extents of [begin, end) in any order, without overlaps; some of them are empty.
inline Extents some_extents(std::mt19937_64& random, uint64_t begin, uint64_t end, size_t most) {
  std::vector<uint64_t> cuts(2 * (1 + random() % most));
  for (uint64_t& cut : cuts) cut = begin + random() % (end - begin + 1);
  std::sort(cuts.begin(), cuts.end());
  Extents extents;
  for (size_t i = 0; i < cuts.size(); i += 2) extents.push_back({cuts[i], cuts[i + 1] - cuts[i]});
  std::shuffle(extents.begin(), extents.end(), random);
  return extents;
}

inline Bytes some_bytes(std::mt19937_64& random, uint64_t count) {
  Bytes bytes(count);
  for (char& byte : bytes) byte = static_cast<char>(1 + random() % 255);
  return bytes;
}

// The contents of a file after all writes so far, applied one by one.
class FileModel {
 public:
  void write(const Extents& extents, const Bytes& data) {
    auto from = data.begin();
    for (const tailrace_extent& extent : extents) {
      if (extent.length == 0) continue;
      bytes_.resize(std::max<uint64_t>(bytes_.size(), extent.offset + extent.length));
      std::copy_n(from, extent.length, bytes_.begin() + static_cast<ptrdiff_t>(extent.offset));
      from += static_cast<ptrdiff_t>(extent.length);
    }
  }
  Bytes read(const Extents& extents) const {
    Bytes data;
    for (const tailrace_extent& extent : extents) {
      const auto begin = bytes_.begin() + static_cast<ptrdiff_t>(extent.offset);
      data.insert(data.end(), begin, begin + static_cast<ptrdiff_t>(extent.length));
    }
    return data;
  }
  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

inline tailrace_status write(tailrace_file file, const Extents& extents, const Bytes& data) {
  return tailrace_file_write(file, extents.size(), extents.data(), data.data());
}

// Writes a random list within [begin, end) into the file and into the model.
inline void write_somewhere(tailrace_file file, FileModel& model, std::mt19937_64& random, uint64_t begin,
                            uint64_t end) {
  const Extents extents = some_extents(random, begin, end, 40);
  const Bytes data = some_bytes(random, total_of(extents));
  ASSERT_EQ(write(file, extents, data), TAILRACE_OK) << last_error(file.client).message;
  model.write(extents, data);
}

// Memory that the library may read until the ticket has ended.
struct Lent {
  tailrace_ticket ticket;
  Bytes data;
};

// Lends the bytes of one random extent, which stay in `lent`.
inline void lend_somewhere(tailrace_file file, FileModel& model, std::mt19937_64& random, uint64_t begin,
                           uint64_t end, std::list<Lent>& lent) {
  const Extents extents = some_extents(random, begin, end, 1);
  Lent& of = lent.emplace_back(Lent{{}, some_bytes(random, total_of(extents))});
  ASSERT_EQ(tailrace_file_borrow(file, extents.size(), extents.data(), of.data.data(), &of.ticket), TAILRACE_OK)
      << last_error(file.client).message;
  model.write(extents, of.data);
}

// Waits for the oldest loan, and changes its bytes.
inline void take_back(std::list<Lent>& lent) {
  if (lent.empty()) return;
  ASSERT_EQ(tailrace_wait(lent.front().ticket, -1), TAILRACE_OK);
  std::fill(lent.front().data.begin(), lent.front().data.end(), uint8_t{0xdd});
  lent.pop_front();
}

// Reads a random list within the file, and compares.
inline void read_somewhere(tailrace_file file, const FileModel& model, std::mt19937_64& random) {
  if (model.bytes().empty()) return;
  Extents extents = some_extents(random, 0, model.bytes().size(), 20);
  if (random() % 4 == 0) extents.push_back(extents.front());  // they may overlap
  Bytes data(total_of(extents));
  ASSERT_EQ(tailrace_file_read(file, extents.size(), extents.data(), data.data()), TAILRACE_OK)
      << last_error(file.client).message;
  ASSERT_EQ(data, model.read(extents));
}

}  // namespace test
