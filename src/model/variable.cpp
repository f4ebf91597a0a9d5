#include "model/variable.hpp"

#include "base/assert.hpp"

namespace tailrace::impl {

uint64_t Layout::elements() const {
  uint64_t product = 1;
  for (const uint64_t extent : shape) product *= extent;
  return product;
}

uint64_t Layout::bytes() const { return elements() * size_of(type); }

uint64_t size_of(ElementType type) {
  switch (type) {
    case ElementType::int8:
    case ElementType::uint8:
    case ElementType::boolean: return 1;
    case ElementType::int16:
    case ElementType::uint16:
    case ElementType::float16: return 2;
    case ElementType::int32:
    case ElementType::uint32:
    case ElementType::float32: return 4;
    case ElementType::int64:
    case ElementType::uint64:
    case ElementType::float64:
    case ElementType::complex64: return 8;
    case ElementType::complex128: return 16;
    case ElementType::long_double: return sizeof(long double);
  }
  TAILRACE_ASSERT(false);
}

bool is_floating(ElementType type) {
  return type == ElementType::float32 || type == ElementType::float64 || type == ElementType::long_double;
}

const char* name_of(ElementType type) {
  switch (type) {
    case ElementType::int8: return "int8";
    case ElementType::int16: return "int16";
    case ElementType::int32: return "int32";
    case ElementType::int64: return "int64";
    case ElementType::uint8: return "uint8";
    case ElementType::uint16: return "uint16";
    case ElementType::uint32: return "uint32";
    case ElementType::uint64: return "uint64";
    case ElementType::float32: return "float32";
    case ElementType::float64: return "float64";
    case ElementType::long_double: return "long_double";
    case ElementType::boolean: return "bool";
    case ElementType::float16: return "float16";
    case ElementType::complex64: return "complex64";
    case ElementType::complex128: return "complex128";
  }
  TAILRACE_ASSERT(false);
}

const char* name_of(Compressor compressor) {
  switch (compressor) {
    case Compressor::none: return "none";
    case Compressor::deflate: return "deflate";
    case Compressor::zstd: return "zstd";
  }
  TAILRACE_ASSERT(false);
}

}  // namespace tailrace::impl
