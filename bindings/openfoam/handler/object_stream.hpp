// ObjectStream: the stream to which an object of OpenFOAM writes itself, recorded for the writer.
#pragma once

#include <OSstream.H>

#include <memory>
#include <ostream>
#include <string>

#include "openfoam/handler/whole_lists.hpp"
#include "openfoam/output/recording.hpp"
#include "openfoam/output/writer.hpp"

namespace tailrace::openfoam {

// Before the base class in the order of construction, which needs its stream.
struct RecordedFile {
  explicit RecordedFile(std::shared_ptr<ChunkTaker> taker)
      : file(std::move(taker)), recording(*file), stream(&recording) {}

  const std::shared_ptr<ChunkTaker> file;
  Recording recording;
  std::ostream stream;
};

class ObjectStream : private RecordedFile, public Foam::OSstream {
 public:
  // The file is begun now, and ended by the destructor. The writer must live as long as this.
  ObjectStream(Writer& writer, const OutputFile& what, streamFormat format, versionNumber version,
               compressionType compression);
  ~ObjectStream() override;
  ObjectStream(const ObjectStream&) = delete;
  ObjectStream& operator=(const ObjectStream&) = delete;

  using OSstream::write;
  Ostream& write(const char letter) override;
  Ostream& write(const char* text) override;
  Ostream& write(const Foam::word& text) override;
  Ostream& writeQuoted(const std::string& text, const bool quoted) override;
  Ostream& write(const int32_t value) override;
  Ostream& write(const int64_t value) override;
  Ostream& write(const Foam::floatScalar value) override;
  Ostream& write(const Foam::doubleScalar value) override;
  Ostream& write(const char* bytes, std::streamsize count) override;
  bool beginRawWrite(std::streamsize count) override;
  Ostream& writeRaw(const char* bytes, std::streamsize count) override;
  bool endRawWrite() override;
  // Does nothing: the file gets its name when it is complete.
  void flush() override {}
  void endl() override;

 private:
  bool has_plain_format() const;
  // Returns true if what comes is a part of a list (lists_). Otherwise no list is active any more.
  template <typename... Part>
  bool list_takes(Part... part);
  void end_list();

  Writer& writer_;
  const int exceptions_;  // in flight when it was constructed
  WholeLists lists_{recording};
};

}  // namespace tailrace::openfoam
