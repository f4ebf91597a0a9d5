// Writes attributes as openPMD requires them: scalars, vectors and fixed-length strings, on groups and datasets.
//
// The caller holds LibraryLock. Each function returns false if HDF5 failed; the caller then reads the error stack.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <span>
#include <string>

#include "model/attribute.hpp"

namespace tailrace::impl {

bool put_text(hid_t object, const char* name, const std::string& text);
bool put_texts(hid_t object, const char* name, std::span<const std::string> texts);
bool put_double(hid_t object, const char* name, double value);
bool put_doubles(hid_t object, const char* name, std::span<const double> values);
bool put_uint32(hid_t object, const char* name, uint32_t value);
bool put_int64(hid_t object, const char* name, int64_t value);
// Writes a value: int64, float64, a text, or a vector of these.
bool put_value(hid_t object, const char* name, const AttributeValue& value);
bool put_uint64s(hid_t object, const char* name, std::span<const uint64_t> values);

}  // namespace tailrace::impl
