// Recorded text and numbers, compared with what a std::ostream makes of them; and compression, with zlib's own files.
#include "openfoam/output/recording.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "openfoam/output/gzip.hpp"
#include "testing/dice.hpp"
#include "testing/scratch.hpp"
#include "testing/seeds.hpp"

namespace tailrace::openfoam {
namespace {

using impl::Dice;

class StringSink : public TextSink {
 public:
  void write(const char* letters, size_t count) override { text.append(letters, count); }
  std::string text;
};

// Replays chunks as they come. Its chunks are small, so that all boundaries are met.
class Replayed : public ChunkTaker {
 public:
  explicit Replayed(size_t size) : size_(size) {}
  Chunk fresh(size_t) override { return {std::unique_ptr<std::byte[]>(new std::byte[size_]), size_}; }
  void take(Chunk chunk) override {
    EXPECT_GT(chunk.used, 0u);
    if (chunk.kind == Chunk::Kind::recorded) return replay(chunk, sink);
    sink.write(reinterpret_cast<const char*>(chunk.memory.get()), chunk.used);
  }
  StringSink sink;

 private:
  const size_t size_;
};

double some_number(Dice& dice) {
  switch (dice.below(8)) {
    case 0: return 0.0;
    case 1: return -0.0;
    case 2: return static_cast<double>(dice.below(2'000'000)) - 1e6;
    case 3: return static_cast<double>(dice.below(1'000'000)) / 1000.0;
    case 4: return std::numeric_limits<double>::infinity();
    case 5: return std::nan("");
    case 6: return std::numeric_limits<double>::denorm_min() * static_cast<double>(dice.below(1000));
    default: {
      const uint64_t bits = dice.below(UINT64_MAX);
      double value;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
  }
}

std::string some_text(Dice& dice) {
  const uint64_t longest = dice.chance(5) ? 100'000 : dice.chance(30) ? 300 : 6;
  std::string text(dice.below(longest), ' ');
  const uint64_t letters = dice.chance(20) ? 256 : 128;
  for (char& letter : text) letter = static_cast<char>(dice.below(letters));
  return text;
}

// Some rows, also as the stream writes them.
template <typename T>
std::vector<T> some_rows(Dice& dice, Row row, std::ostream& expected) {
  std::vector<T> numbers(row.numbers * dice.below(dice.chance(10) ? 2000 : 20));
  for (size_t at = 0; at < numbers.size(); ++at) {
    numbers[at] = static_cast<T>(some_number(dice));
    const bool first = at % row.numbers == 0, last = (at + 1) % row.numbers == 0;
    expected << (first && row.parentheses ? "(" : "") << numbers[at]
             << (last ? (row.parentheses ? ")\n" : "\n") : " ");
  }
  return numbers;
}

void record_rows(Dice& dice, Recording& recording, int precision, std::ostream& expected) {
  Row row{static_cast<uint8_t>(dice.between(1, 9)), sizeof(double), static_cast<uint8_t>(dice.below(2))};
  if (dice.chance(50)) {
    const auto numbers = some_rows<double>(dice, row, expected);
    const auto* const bytes = reinterpret_cast<const std::byte*>(numbers.data());
    return recording.rows(bytes, numbers.size() / row.numbers, row, precision);
  }
  row.size = sizeof(float);
  const auto numbers = some_rows<float>(dice, row, expected);
  const auto* const bytes = reinterpret_cast<const std::byte*>(numbers.data());
  for (size_t at = 0; at < numbers.size() / row.numbers; ++at) {
    recording.row(bytes + at * row.bytes(), row, precision);
    recording.put('\n');
  }
}

TEST(Recording, IsReplayedAsAStreamWouldHaveWrittenIt) {
  impl::for_seeds(200, [](uint64_t seed) {
    Dice dice(seed);
    Replayed replayed(dice.between(32, 3000));
    Recording recording(replayed);
    std::ostream direct(&recording);
    std::ostringstream expected;
    for (int step = 0; step < 300; ++step) {
      const int precision = dice.chance(10) ? static_cast<int>(dice.below(20)) : 6;
      expected.precision(precision);
      switch (dice.below(7)) {
        case 6: record_rows(dice, recording, precision, expected); break;
        case 0: {
          const double value = some_number(dice);
          expected << value;
          recording.number(value, precision);
          break;
        }
        case 1: {
          const auto value = static_cast<float>(some_number(dice));
          expected << value;
          recording.number(value, precision);
          break;
        }
        case 2: {
          const auto value = static_cast<int64_t>(dice.below(UINT64_MAX)) >> dice.below(64);
          expected << value;
          recording.number(value);
          break;
        }
        case 3: {
          const auto letter = static_cast<char>(dice.below(256));
          expected << letter;
          recording.put(letter);
          break;
        }
        default: {
          const std::string text = some_text(dice);
          expected << text;
          direct << text;
        }
      }
    }
    recording.end();
    ASSERT_TRUE(direct.good());
    ASSERT_TRUE(replayed.sink.text == expected.str());
  });
}

TEST(Gzip, MakesTheFileThatZlibMakes) {
  impl::for_seeds(10, [](uint64_t seed) {
    Dice dice(seed);
    const impl::ScratchDirectory scratch;
    std::string text;
    for (uint64_t i = dice.below(100'000); i > 0; --i) {
      text += std::to_string(dice.below(5000)) + (i % 7 == 0 ? "\n" : " ");
    }
    const gzFile file = gzopen((scratch / "a.gz").c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);

    StringSink sink;
    Gzip gzip(sink);
    for (size_t at = 0; at < text.size();) {
      const size_t part = std::min(text.size() - at, static_cast<size_t>(dice.between(1, 70'000)));
      gzip.write(text.data() + at, part);
      at += part;
    }
    gzip.end();
    const auto bytes = impl::bytes_of_file(scratch / "a.gz");
    ASSERT_TRUE(bytes.has_value());
    ASSERT_EQ(bytes->size(), sink.text.size());
    ASSERT_EQ(std::memcmp(bytes->data(), sink.text.data(), bytes->size()), 0);
  });
}

}  // namespace
}  // namespace tailrace::openfoam
