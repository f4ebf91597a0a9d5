#include "format/openpmd/attributes.hpp"

#include <algorithm>
#include <vector>

#include "format/openpmd/handle.hpp"

namespace tailrace::impl {
namespace {

bool put(hid_t object, const char* name, hid_t type, const Handle& space, const void* value) {
  if (!space.valid()) return false;
  const Handle attribute(H5Acreate2(object, name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  static constexpr char kNothing = 0;  // HDF5 requires an address even for no elements
  return attribute.valid() && H5Awrite(attribute.id(), type, value != nullptr ? value : &kNothing) >= 0;
}

Handle scalar() { return {H5Screate(H5S_SCALAR), H5Sclose}; }

Handle vector_of(size_t count) {
  const hsize_t size = count;
  return {H5Screate_simple(1, &size, nullptr), H5Sclose};
}

Handle text_type(size_t size) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  if (H5Tset_size(type.id(), size) < 0) type.reset();
  if (type.valid() && H5Tset_cset(type.id(), H5T_CSET_UTF8) < 0) type.reset();
  return type;
}

}  // namespace

bool put_text(hid_t object, const char* name, const std::string& text) {
  const Handle type = text_type(text.size() + 1);
  return type.valid() && put(object, name, type.id(), scalar(), text.c_str());
}

bool put_texts(hid_t object, const char* name, std::span<const std::string> texts) {
  size_t longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  const size_t width = longest + 1;
  std::vector<char> table(width * texts.size(), '\0');
  for (size_t i = 0; i < texts.size(); ++i) std::copy(texts[i].begin(), texts[i].end(), &table[i * width]);
  const Handle type = text_type(width);
  return type.valid() && put(object, name, type.id(), vector_of(texts.size()), table.data());
}

bool put_double(hid_t object, const char* name, double value) {
  return put(object, name, H5T_NATIVE_DOUBLE, scalar(), &value);
}

bool put_doubles(hid_t object, const char* name, std::span<const double> values) {
  return put(object, name, H5T_NATIVE_DOUBLE, vector_of(values.size()), values.data());
}

bool put_uint32(hid_t object, const char* name, uint32_t value) {
  return put(object, name, H5T_NATIVE_UINT32, scalar(), &value);
}

bool put_int64(hid_t object, const char* name, int64_t value) {
  return put(object, name, H5T_NATIVE_INT64, scalar(), &value);
}

bool put_value(hid_t object, const char* name, const AttributeValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return put_int64(object, name, *whole);
  if (const auto* real = std::get_if<double>(&value)) return put_double(object, name, *real);
  if (const auto* text = std::get_if<std::string>(&value)) return put_text(object, name, *text);
  if (const auto* reals = std::get_if<std::vector<double>>(&value)) return put_doubles(object, name, *reals);
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) return put_texts(object, name, *texts);
  const auto& wholes = std::get<std::vector<int64_t>>(value);
  return put(object, name, H5T_NATIVE_INT64, vector_of(wholes.size()), wholes.data());
}

bool put_uint64s(hid_t object, const char* name, std::span<const uint64_t> values) {
  return put(object, name, H5T_NATIVE_UINT64, vector_of(values.size()), values.data());
}

}  // namespace tailrace::impl
