#include "lab/mpiio/data.hpp"

namespace bench::mpiio {
namespace {

uint32_t value_of(uint64_t number) { return static_cast<uint32_t>(number * 2654435761u) | 1; }

}  // namespace

Data::Data(const Access& access) : words_(access.memory_bytes / sizeof(uint32_t)) {
  for (const Piece& piece : access.pieces) {
    for (uint64_t i = 0; i < piece.bytes / sizeof(uint32_t); ++i) {
      const uint64_t word = piece.memory / sizeof(uint32_t) + i;
      const uint64_t number = piece.file / sizeof(uint32_t) + i;
      words_[word] = value_of(number);
      if (number % kMark == 0) marked_.push_back({word, number});
    }
  }
}

void Data::stamp(int iteration) {
  for (const Marked& one : marked_) {
    words_[one.word] = value_of(one.number + kStep * (static_cast<uint64_t>(iteration) + 1));
  }
}

}  // namespace bench::mpiio
