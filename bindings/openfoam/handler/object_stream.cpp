#include "openfoam/handler/object_stream.hpp"

#include <token.H>

#include <exception>

namespace tailrace::openfoam {

ObjectStream::ObjectStream(Writer& writer, const OutputFile& what, streamFormat format, versionNumber version,
                           compressionType compression)
    : RecordedFile(writer.begin(what)),
      OSstream(stream, what.path, format, version, compression),
      writer_(writer),
      exceptions_(std::uncaught_exceptions()) {
  lineNumber_ = 1;
}

// An object that could not write itself leaves no whole file.
ObjectStream::~ObjectStream() {
  recording.end();
  writer_.end(file, std::uncaught_exceptions() == exceptions_);
}

// The record has room for the precision, but for no other property of a stream. Few objects set any.
bool ObjectStream::has_plain_format() const {
  constexpr auto kPlain = std::ios_base::skipws | std::ios_base::dec;
  return stream.flags() == kPlain && stream.width() == 0;
}

Foam::Ostream& ObjectStream::write(const char letter) {
  if (stream.width() != 0) return OSstream::write(letter);
  recording.put(letter);
  if (letter == Foam::token::NL) ++lineNumber_;
  return *this;
}

Foam::Ostream& ObjectStream::write(const int32_t value) {
  if (!has_plain_format()) return OSstream::write(value);
  recording.number(int64_t{value});
  return *this;
}

Foam::Ostream& ObjectStream::write(const int64_t value) {
  if (!has_plain_format()) return OSstream::write(value);
  recording.number(value);
  return *this;
}

Foam::Ostream& ObjectStream::write(const Foam::floatScalar value) {
  if (!has_plain_format()) return OSstream::write(value);
  recording.number(value, static_cast<int>(stream.precision()));
  return *this;
}

Foam::Ostream& ObjectStream::write(const Foam::doubleScalar value) {
  if (!has_plain_format()) return OSstream::write(value);
  recording.number(value, static_cast<int>(stream.precision()));
  return *this;
}

void ObjectStream::endl() { write('\n'); }

}  // namespace tailrace::openfoam
