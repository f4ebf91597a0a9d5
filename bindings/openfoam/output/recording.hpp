// Recording: what the program writes to a file, kept so that the numbers are formatted later, by another thread.
//
// Formatting a double takes many times as long as copying it. So a number is recorded with its eight bytes and the
// precision of the stream, and replay() makes the text of it that std::ostream would make. All other output is text,
// or the bytes of a binary file, and is copied.
#pragma once

#include <cstdint>
#include <cstring>
#include <streambuf>

#include "openfoam/output/chunk.hpp"

namespace tailrace::openfoam {

class Recording : public std::streambuf {
 public:
  // In a recorded chunk, bytes below kText are letters; a code is followed by its operand.
  enum Code : uint8_t { kText = 0x80, kPrecision, kDouble, kFloat, kInteger };

  // The taker must live as long as this.
  explicit Recording(ChunkTaker& taker) : taker_(taker) {}

  void put(char letter) {
    if (chunk_.kind != Chunk::Kind::recorded || chunk_.room() == 0 || (letter & 0x80) != 0) return text(&letter, 1);
    *chunk_.end() = static_cast<std::byte>(letter);
    ++chunk_.used;
  }
  void text(const char* letters, size_t count);
  // Numbers, as a stream of that precision formats them that has the flags of a new one.
  void number(double value, int precision) { number(kDouble, value, precision); }
  void number(float value, int precision) { number(kFloat, value, precision); }
  void number(int64_t value) { number(kInteger, value, precision_); }
  // Passes what is left to the taker. Nothing may be recorded afterwards.
  void end();

 protected:
  int_type overflow(int_type letter) override;
  std::streamsize xsputn(const char* letters, std::streamsize count) override;

 private:
  static constexpr size_t kOperation = 1 + 8;  // bytes of the longest code with its operand

  void make_room(size_t bytes, Chunk::Kind kind);
  void pass_on();
  void plain(const char* letters, size_t count);
  template <typename T>
  void number(Code code, T value, int precision) {
    if (precision != precision_ || chunk_.kind != Chunk::Kind::recorded || chunk_.room() < 1 + sizeof value) {
      make_room(2 * kOperation, Chunk::Kind::recorded);
      if (precision >= 0) operation(kPrecision, precision_ = precision);
    }
    operation(code, value);
  }
  template <typename T>
  void operation(Code code, T operand) {
    *chunk_.end() = std::byte{code};
    std::memcpy(chunk_.end() + 1, &operand, sizeof operand);
    chunk_.used += 1 + sizeof operand;
  }

  ChunkTaker& taker_;
  Chunk chunk_;
  size_t chunks_ = 0;   // how many were begun
  int precision_ = -1;  // the latest in this chunk; -1: none
};

// Takes text as it is made.
class TextSink {
 public:
  virtual ~TextSink() = default;
  virtual void write(const char* text, size_t count) = 0;
};

// Writes the text of a recorded chunk.
void replay(const Chunk& chunk, TextSink& sink);

}  // namespace tailrace::openfoam
