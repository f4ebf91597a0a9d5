// Gzip: compresses a file's bytes as gzopen() and gzwrite() of zlib do, byte for byte.
#pragma once

#include <zlib.h>

#include "openfoam/output/recording.hpp"

namespace tailrace::openfoam {

class Gzip : public TextSink {
 public:
  // Compressed bytes go to `sink`. Throws std::bad_alloc if there is no memory.
  explicit Gzip(TextSink& sink);
  ~Gzip() override;
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  void write(const char* text, size_t count) override;
  // Writes the rest. Nothing may be written afterwards.
  void end();

 private:
  void compress(int flush);

  TextSink& sink_;
  z_stream stream_{};
};

}  // namespace tailrace::openfoam
