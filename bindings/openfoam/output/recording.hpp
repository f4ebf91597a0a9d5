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

// The text of one row of a list: its numbers with a space between them, "(" and ")" around them if `parentheses`.
struct Row {
  uint8_t numbers = 1;
  uint8_t size = sizeof(double);  // bytes of a number: of a double or a float
  uint8_t parentheses = 0;        // 1: yes

  size_t bytes() const { return size_t{numbers} * size; }
};

class Recording : public std::streambuf {
 public:
  // In a recorded chunk, bytes below kText are letters; a code is followed by its operand. That of kRows is a Row and
  // the number of rows (uint32_t), with the bytes of their numbers behind it.
  enum Code : uint8_t { kText = 0x80, kPrecision, kDouble, kFloat, kInteger, kRows };

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
  // One row, without its newline.
  void row(const std::byte* numbers, Row row, int precision);
  // Many rows, each with a newline. Their bytes are copied as they are.
  void rows(const std::byte* numbers, size_t count, Row row, int precision);
  // Passes what is left to the taker. Nothing may be recorded afterwards.
  void end();

 protected:
  int_type overflow(int_type letter) override;
  std::streamsize xsputn(const char* letters, std::streamsize count) override;

 private:
  static constexpr size_t kOperation = 1 + 8;  // bytes of the longest code with its operand, without rows' numbers

  void make_room(size_t bytes, Chunk::Kind kind);
  void pass_on();
  void plain(const char* letters, size_t count);
  void set_precision(int precision);
  template <typename T>
  void number(Code code, T value, int precision) {
    if (precision != precision_ || chunk_.kind != Chunk::Kind::recorded || chunk_.room() < 1 + sizeof value) {
      make_room(2 * kOperation, Chunk::Kind::recorded);
      set_precision(precision);
    }
    operation(code, value);
  }
  template <typename T>
  void operation(Code code, T operand) {
    *chunk_.end() = std::byte{code};
    ++chunk_.used;
    append(operand);
  }
  template <typename T>
  void append(T operand) {
    std::memcpy(chunk_.end(), &operand, sizeof operand);
    chunk_.used += sizeof operand;
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
