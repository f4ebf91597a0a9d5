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
  if (lists_.active()) end_list();
  recording.end();
  writer_.end(file, std::uncaught_exceptions() == exceptions_);
}

// The record has room for the precision, but for no other property of a stream. Few objects set any.
bool ObjectStream::has_plain_format() const {
  constexpr auto kPlain = std::ios_base::skipws | std::ios_base::dec;
  return stream.flags() == kPlain && stream.width() == 0;
}

template <typename... Part>
bool ObjectStream::list_takes(Part... part) {
  if (!lists_.active()) return false;
  const bool taken = lists_.takes(part...);
  if (!taken || !lists_.active()) end_list();
  return taken;
}

void ObjectStream::end_list() {
  lists_.leave();
  format(streamFormat::ASCII);
}

Foam::Ostream& ObjectStream::write(const char letter) {
  if (letter == Foam::token::NL) ++lineNumber_;
  if (list_takes(letter)) return *this;
  if (stream.width() != 0) {
    stream << letter;
  } else {
    recording.put(letter);
  }
  return *this;
}

Foam::Ostream& ObjectStream::write(const char* text) {
  if (lists_.active()) end_list();
  return OSstream::write(text);
}

Foam::Ostream& ObjectStream::write(const Foam::word& text) {
  if (lists_.active()) end_list();
  OSstream::write(text);
  if (format() == streamFormat::ASCII && has_plain_format() && lists_.begins(text)) format(streamFormat::BINARY);
  return *this;
}

Foam::Ostream& ObjectStream::writeQuoted(const std::string& text, const bool quoted) {
  if (lists_.active()) end_list();
  return OSstream::writeQuoted(text, quoted);
}

Foam::Ostream& ObjectStream::write(const int32_t value) {
  if (list_takes(int64_t{value})) return *this;
  if (!has_plain_format()) return OSstream::write(value);
  recording.number(int64_t{value});
  return *this;
}

Foam::Ostream& ObjectStream::write(const int64_t value) {
  if (list_takes(value)) return *this;
  if (!has_plain_format()) return OSstream::write(value);
  recording.number(value);
  return *this;
}

Foam::Ostream& ObjectStream::write(const Foam::floatScalar value) {
  if (lists_.active()) end_list();
  if (!has_plain_format()) return OSstream::write(value);
  recording.number(value, static_cast<int>(stream.precision()));
  return *this;
}

Foam::Ostream& ObjectStream::write(const Foam::doubleScalar value) {
  if (lists_.active()) end_list();
  if (!has_plain_format()) return OSstream::write(value);
  recording.number(value, static_cast<int>(stream.precision()));
  return *this;
}

Foam::Ostream& ObjectStream::write(const char* bytes, std::streamsize count) {
  if (!lists_.expects(static_cast<size_t>(count))) return OSstream::write(bytes, count);  // by the functions below
  lists_.record(reinterpret_cast<const std::byte*>(bytes), precision());
  end_list();
  return *this;
}

// An indirect list comes piece by piece.
bool ObjectStream::beginRawWrite(std::streamsize count) {
  if (lists_.expects(static_cast<size_t>(count))) {
    lists_.begin_gathering();
    return true;
  }
  if (lists_.active()) end_list();
  return OSstream::beginRawWrite(count);
}

Foam::Ostream& ObjectStream::writeRaw(const char* bytes, std::streamsize count) {
  if (!lists_.gathers()) return OSstream::writeRaw(bytes, count);
  lists_.gather(reinterpret_cast<const std::byte*>(bytes), static_cast<size_t>(count));
  return *this;
}

bool ObjectStream::endRawWrite() {
  if (!lists_.gathers()) return OSstream::endRawWrite();
  if (!lists_.record_gathered(precision())) setBad();  // the object reports that when it checks the stream
  end_list();
  return good();
}

void ObjectStream::endl() { write('\n'); }

}  // namespace tailrace::openfoam
