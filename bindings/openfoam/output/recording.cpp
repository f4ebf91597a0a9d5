#include "openfoam/output/recording.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace tailrace::openfoam {
namespace {

constexpr size_t kFirst = 16 << 10;  // bytes of a file's first chunk: most files are small
constexpr size_t kLarge = 1 << 20;   // bytes of its later ones
constexpr size_t kPlain = 32 << 10;  // longer pieces of bytes have chunks of their own
constexpr size_t kLiteral = 8;       // longer pieces of text are recorded with their length
constexpr size_t kLongest = 512;     // letters of the longest number

bool is_literal(const char* letters, size_t count) {
  return count < kLiteral && std::all_of(letters, letters + count,
                                         [](char letter) { return static_cast<uint8_t>(letter) < Recording::kText; });
}

template <typename T>
T operand_at(const std::byte*& at) {
  T operand;
  std::memcpy(&operand, at, sizeof operand);
  at += sizeof operand;
  return operand;
}

// Gathers text, so that the sink gets larger pieces.
class Text {
 public:
  explicit Text(TextSink& sink) : sink_(sink) {}

  void put(char letter) {
    if (used_ == sizeof letters_) pass_on();
    letters_[used_++] = letter;
  }
  void write(const char* letters, size_t count) {
    if (count > sizeof letters_ - used_) pass_on();
    if (count > sizeof letters_) return sink_.write(letters, count);
    std::memcpy(letters_ + used_, letters, count);
    used_ += count;
  }
  // Returns room for the longest number; made() says where it ends.
  char* room() {
    if (sizeof letters_ - used_ < kLongest) pass_on();
    return letters_ + used_;
  }
  void made(const char* end) { used_ = static_cast<size_t>(end - letters_); }
  void pass_on() {
    sink_.write(letters_, used_);
    used_ = 0;
  }

 private:
  TextSink& sink_;
  char letters_[32 << 10];
  size_t used_ = 0;
};

// C++17, [facet.num.put.virtuals]: a stream formats as printf does by "%.*g". std::to_chars gives the same, faster.
template <typename T>
void format(T value, int precision, Text& text) {
  char* const room = text.room();
  char* const end = room + kLongest;
  if (std::isfinite(value)) {
    const auto [last, error] = std::to_chars(room, end, value, std::chars_format::general, precision);
    if (error == std::errc()) return text.made(last);
  }
  char letters[2 * kLongest];
  const int count = std::snprintf(letters, sizeof letters, "%.*g", precision, static_cast<double>(value));
  text.write(letters, static_cast<size_t>(count));
}

void format(int64_t value, Text& text) {
  char* const room = text.room();
  text.made(std::to_chars(room, room + kLongest, value).ptr);
}

template <typename T>
void format_row(const std::byte*& at, Row row, int precision, Text& text) {
  if (row.parentheses) text.put('(');
  for (int number = 0; number < row.numbers; ++number) {
    if (number > 0) text.put(' ');
    format(operand_at<T>(at), precision, text);
  }
  if (row.parentheses) text.put(')');
  text.put('\n');
}

void format_rows(const std::byte*& at, int precision, Text& text) {
  const Row row = operand_at<Row>(at);
  for (uint32_t left = operand_at<uint32_t>(at); left > 0; --left) {
    if (row.size == sizeof(double)) {
      format_row<double>(at, row, precision, text);
    } else {
      format_row<float>(at, row, precision, text);
    }
  }
}

}  // namespace

void Recording::text(const char* letters, size_t count) {
  // A file with bytes keeps its plain chunk for the text between them.
  if (count >= kPlain || (chunk_.memory && chunk_.kind == Chunk::Kind::plain)) return plain(letters, count);
  if (is_literal(letters, count)) {
    make_room(count, Chunk::Kind::recorded);
    std::memcpy(chunk_.end(), letters, count);
    chunk_.used += count;
    return;
  }
  while (count > 0) {
    make_room(kOperation + 1, Chunk::Kind::recorded);
    const size_t part = std::min(count, chunk_.room() - 1 - sizeof(uint32_t));
    operation(kText, static_cast<uint32_t>(part));
    std::memcpy(chunk_.end(), letters, part);
    chunk_.used += part;
    letters += part;
    count -= part;
  }
}

void Recording::plain(const char* letters, size_t count) {
  while (count > 0) {
    make_room(1, Chunk::Kind::plain);
    const size_t part = std::min(count, chunk_.room());
    std::memcpy(chunk_.end(), letters, part);
    chunk_.used += part;
    letters += part;
    count -= part;
  }
}

void Recording::rows(const std::byte* numbers, size_t count, Row row, int precision) {
  constexpr size_t kHead = 1 + sizeof row + sizeof(uint32_t);
  while (count > 0) {
    make_room(kOperation + kHead + row.bytes(), Chunk::Kind::recorded);
    if (precision != precision_) set_precision(precision);
    size_t part = 1;
    if (chunk_.room() < kHead + row.bytes()) {  // a chunk so small that it takes no row
      this->row(numbers, row, precision);
      put('\n');
    } else {
      part = std::min(count, (chunk_.room() - kHead) / row.bytes());
      operation(kRows, row);
      append(static_cast<uint32_t>(part));
      std::memcpy(chunk_.end(), numbers, part * row.bytes());
      chunk_.used += part * row.bytes();
    }
    numbers += part * row.bytes();
    count -= part;
  }
}

void Recording::row(const std::byte* numbers, Row row, int precision) {
  if (row.parentheses) put('(');
  for (int left = row.numbers; left > 0; --left) {
    if (row.size == sizeof(double)) {
      number(operand_at<double>(numbers), precision);
    } else {
      number(operand_at<float>(numbers), precision);
    }
    if (left > 1) put(' ');
  }
  if (row.parentheses) put(')');
}

void Recording::set_precision(int precision) {
  if (precision >= 0) operation(kPrecision, precision_ = precision);
}

void Recording::make_room(size_t bytes, Chunk::Kind kind) {
  if (chunk_.memory && chunk_.kind == kind && chunk_.room() >= bytes) return;
  pass_on();
  chunk_ = taker_.fresh(chunks_++ == 0 ? kFirst : kLarge);
  chunk_.kind = kind;
  precision_ = -1;
}

void Recording::pass_on() {
  if (chunk_.memory) taker_.take(std::move(chunk_));
  chunk_ = {};
}

void Recording::end() { pass_on(); }

Recording::int_type Recording::overflow(int_type letter) {
  if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
  put(traits_type::to_char_type(letter));
  return letter;
}

std::streamsize Recording::xsputn(const char* letters, std::streamsize count) {
  if (count > 0) text(letters, static_cast<size_t>(count));
  return count;
}

void replay(const Chunk& chunk, TextSink& sink) {
  Text text(sink);
  int precision = 6;
  for (const std::byte* at = chunk.memory.get(); at != chunk.end();) {
    const auto code = static_cast<uint8_t>(*at++);
    switch (code) {
      case Recording::kText: {
        const auto count = operand_at<uint32_t>(at);
        text.write(reinterpret_cast<const char*>(at), count);
        at += count;
        break;
      }
      case Recording::kPrecision: precision = operand_at<int>(at); break;
      case Recording::kDouble: format(operand_at<double>(at), precision, text); break;
      case Recording::kFloat: format(operand_at<float>(at), precision, text); break;
      case Recording::kInteger: format(operand_at<int64_t>(at), text); break;
      case Recording::kRows: format_rows(at, precision, text); break;
      default: text.put(static_cast<char>(code));
    }
  }
  text.pass_on();
}

}  // namespace tailrace::openfoam
