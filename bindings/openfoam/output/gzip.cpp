#include "openfoam/output/gzip.hpp"

#include <new>

namespace tailrace::openfoam {
namespace {

constexpr int kGzip = MAX_WBITS + 16;  // the format, as deflateInit2 names it
constexpr int kMemory = 8;             // zlib's default

}  // namespace

Gzip::Gzip(TextSink& sink) : sink_(sink) {
  if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
}

Gzip::~Gzip() { deflateEnd(&stream_); }

void Gzip::write(const char* text, size_t count) {
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text));  // zlib does not write there
  stream_.avail_in = static_cast<uInt>(count);                          // a chunk is small
  compress(Z_NO_FLUSH);
}

void Gzip::end() { compress(Z_FINISH); }

void Gzip::compress(int flush) {
  char out[16 << 10];
  do {
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = sizeof out;
    deflate(&stream_, flush);
    sink_.write(out, sizeof out - stream_.avail_out);
  } while (stream_.avail_out == 0);
}

}  // namespace tailrace::openfoam
