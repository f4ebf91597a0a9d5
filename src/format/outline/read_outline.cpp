#include "format/outline/read_outline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "format/hdf5/reading_driver.hpp"
#include "format/openpmd/handle.hpp"

namespace tailrace::impl {
namespace {

// Below an iteration: particles, a species, a record, a component.
constexpr int kDeepest = 4;
constexpr size_t kMostObjects = 1'000'000;  // of one file
constexpr size_t kMostElements = 1 << 16;   // of an attribute that is shown
constexpr size_t kMostAttributes = 1'000;   // of an object
constexpr size_t kLongestText = size_t{1} << 20;

std::vector<uint64_t> extents_of(hid_t space) {
  std::vector<hsize_t> shape(static_cast<size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  return {shape.begin(), shape.end()};
}

uint64_t product(const std::vector<uint64_t>& shape, uint64_t times) {
  uint64_t all = times;
  for (const uint64_t extent : shape) {
    if (__builtin_mul_overflow(all, extent, &all)) return UINT64_MAX;
  }
  return all;
}

// Returns true for the type by which Python and others store truth values: FALSE is 0, and TRUE 1.
bool is_bool(hid_t type) {
  if (H5Tget_class(type) != H5T_ENUM || H5Tget_nmembers(type) != 2 || H5Tget_size(type) != 1) return false;
  std::array<char, 16> name{};
  const int8_t no = 0;
  const int8_t yes = 1;
  return H5Tenum_nameof(type, &no, name.data(), name.size()) >= 0 && std::string_view(name.data()) == "FALSE" &&
         H5Tenum_nameof(type, &yes, name.data(), name.size()) >= 0 && std::string_view(name.data()) == "TRUE";
}

// Returns the name of a complex type: a compound of two floating-point numbers r and i.
std::string complex_name(hid_t type) {
  if (H5Tget_nmembers(type) != 2) return {};
  for (unsigned member : {0U, 1U}) {
    char* const name = H5Tget_member_name(type, member);
    const bool fits = name != nullptr && std::string_view(name) == (member == 0 ? "r" : "i");
    H5free_memory(name);
    if (!fits || H5Tget_member_class(type, member) != H5T_FLOAT) return {};
  }
  return fmt::format("complex{}", 8 * H5Tget_size(type));
}

// Returns the name that NumPy has for the type.
std::string type_name(hid_t type) {
  const size_t size = H5Tget_size(type);
  const H5T_class_t kind = H5Tget_class(type);
  const bool is_swapped = size > 1 && H5Tget_order(type) == H5T_ORDER_BE;
  const bool is_signed = kind != H5T_INTEGER || H5Tget_sign(type) == H5T_SGN_2;
  switch (kind) {
    case H5T_INTEGER:
      if (is_swapped) return fmt::format(">{}{}", is_signed ? 'i' : 'u', size);
      return fmt::format("{}int{}", is_signed ? "" : "u", 8 * size);
    case H5T_FLOAT: return is_swapped ? fmt::format(">f{}", size) : fmt::format("float{}", 8 * size);
    case H5T_STRING: return H5Tis_variable_str(type) > 0 ? "object" : fmt::format("|S{}", size);
    case H5T_ENUM: {
      const Handle super(H5Tget_super(type), H5Tclose);
      return is_bool(type) ? "bool" : type_name(super.id());
    }
    case H5T_COMPOUND: {
      const std::string complex = complex_name(type);
      return complex.empty() ? "compound" : complex;
    }
    case H5T_VLEN: return "object";
    default: return "other";
  }
}

template <class T>
bool read_numbers(hid_t attribute, hid_t memory, size_t count, OutlineValue& to) {
  std::vector<T> values(count);
  if (H5Aread(attribute, memory, values.data()) < 0) return false;
  for (const T value : values) to.elements.emplace_back(value);
  return true;
}

bool read_texts(hid_t attribute, hid_t type, hid_t space, size_t count, OutlineValue& to) {
  if (H5Tis_variable_str(type) > 0) {
    std::vector<char*> texts(count, nullptr);
    const Handle memory(H5Tcopy(type), H5Tclose);
    if (H5Aread(attribute, memory.id(), texts.data()) < 0) return false;
    for (const char* text : texts) {
      to.elements.emplace_back(std::string(text == nullptr ? "" : text).substr(0, kLongestText));
    }
    H5Treclaim(memory.id(), space, H5P_DEFAULT, texts.data());
    return true;
  }
  const size_t size = H5Tget_size(type);
  if (size == 0 || size > kLongestText || count * size > kLongestText) return false;
  std::string all(count * size, '\0');
  if (H5Aread(attribute, type, all.data()) < 0) return false;
  for (size_t at = 0; at < count; ++at) {
    const std::string text = all.substr(at * size, size);
    to.elements.emplace_back(text.substr(0, text.find('\0')));
  }
  return true;
}

OutlineValue value_of(hid_t attribute) {
  const Handle type(H5Aget_type(attribute), H5Tclose);
  const Handle space(H5Aget_space(attribute), H5Sclose);
  OutlineValue value{{}, extents_of(space.id())};
  const hssize_t points = H5Sget_simple_extent_npoints(space.id());
  if (points <= 0 || static_cast<size_t>(points) > kMostElements) return value;
  const auto count = static_cast<size_t>(points);
  bool read = false;
  switch (H5Tget_class(type.id())) {
    case H5T_INTEGER:
      read = H5Tget_sign(type.id()) == H5T_SGN_2 ? read_numbers<int64_t>(attribute, H5T_NATIVE_INT64, count, value)
                                                 : read_numbers<uint64_t>(attribute, H5T_NATIVE_UINT64, count, value);
      break;
    case H5T_FLOAT: read = read_numbers<double>(attribute, H5T_NATIVE_DOUBLE, count, value); break;
    case H5T_STRING: read = read_texts(attribute, type.id(), space.id(), count, value); break;
    case H5T_ENUM:
      if (is_bool(type.id())) {
        std::vector<int8_t> values(count);
        read = H5Aread(attribute, type.id(), values.data()) >= 0;
        for (const int8_t one : values) value.elements.emplace_back(one != 0);
      }
      break;
    default: break;
  }
  if (!read) value.elements.assign(count, std::monostate());
  return value;
}

herr_t add_attribute(hid_t object, const char* name, const H5A_info_t* info, void* to) {
  auto& attributes = *static_cast<std::map<std::string, OutlineValue>*>(to);
  if (attributes.size() >= kMostAttributes) return 1;
  if (info->data_size > kLongestText) return 0;
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  if (attribute.valid()) attributes[name] = value_of(attribute.id());
  return 0;
}

void read_attributes(hid_t object, OutlineObject& to) {
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_attribute, &to.attributes);
}

struct Names {
  std::vector<std::string> all{};
};

herr_t add_name(hid_t, const char* name, const H5L_info2_t* info, void* to) {
  auto& names = static_cast<Names*>(to)->all;
  // Links to other files are not followed.
  if (info->type == H5L_TYPE_HARD || info->type == H5L_TYPE_SOFT) names.emplace_back(name);
  return names.size() < kMostObjects ? 0 : 1;
}

std::vector<std::string> names_in(hid_t group) {
  Names names;
  hsize_t at = 0;
  H5Literate2(group, H5_INDEX_NAME, H5_ITER_INC, &at, add_name, &names);
  return std::move(names.all);
}

// Reads the objects of one file, as many as are allowed.
class Reader {
 public:
  OutlineObject object(hid_t id, int depth) {
    OutlineObject made;
    if (++objects_ > kMostObjects) return made;
    made.is_dataset = H5Iget_type(id) == H5I_DATASET;
    read_attributes(id, made);
    if (made.is_dataset) {
      const Handle type(H5Dget_type(id), H5Tclose);
      const Handle space(H5Dget_space(id), H5Sclose);
      made.type = type_name(type.id());
      made.shape = extents_of(space.id());
      made.bytes = product(made.shape, H5Tget_size(type.id()));
    } else if (depth > 0 && H5Iget_type(id) == H5I_GROUP) {
      for (const std::string& name : names_in(id)) {
        const Handle child(H5Oopen(id, name.c_str(), H5P_DEFAULT), H5Oclose);
        if (child.valid()) made.children.emplace_back(name, object(child.id(), depth - 1));
      }
    }
    return made;
  }

 private:
  size_t objects_ = 0;
};

struct Datasets {
  Reader& reader;
  std::vector<std::pair<std::string, OutlineObject>>& to;
};

herr_t add_dataset(hid_t root, const char* name, const H5O_info2_t* info, void* to) {
  auto& datasets = *static_cast<Datasets*>(to);
  if (info->type != H5O_TYPE_DATASET) return 0;
  const Handle dataset(H5Oopen(root, name, H5P_DEFAULT), H5Oclose);
  if (dataset.valid()) datasets.to.emplace_back(name, datasets.reader.object(dataset.id(), 0));
  return datasets.to.size() < kMostObjects ? 0 : 1;
}

Result<Outline> outline(hid_t file, const OutlineWanted& wanted) {
  Outline made;
  Reader reader;
  made.root = reader.object(file, 0);
  made.has_data = H5Lexists(file, "data", H5P_DEFAULT) > 0;
  if (made.has_data && wanted.iterations) {
    const Handle data(H5Oopen(file, "data", H5P_DEFAULT), H5Oclose);
    if (data.valid() && H5Iget_type(data.id()) == H5I_GROUP) made.iterations = names_in(data.id());
  }
  for (const std::string& name : wanted.groups) {
    const Handle group(H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose);
    if (group.valid()) made.groups.emplace(name, reader.object(group.id(), wanted.below_groups ? kDeepest : 0));
  }
  Datasets datasets{reader, made.datasets};
  if (wanted.datasets) H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, add_dataset, &datasets, H5O_INFO_BASIC);
  H5Eclear2(H5E_DEFAULT);
  return made;
}

Result<Outline> look_at_outline(const std::string& path, ReadableFile& readable, const OutlineWanted& wanted) {
  for (;;) {
    if (Status status = readable.fetch(); !status.ok()) return status;
    const LibraryLock lock;
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    const bool usable = use_readable(access.id(), &readable);
    const Handle file(usable ? H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()) : H5I_INVALID_HID, H5Fclose);
    Result<Outline> found =
        file.valid() ? outline(file.id(), wanted) : Result<Outline>(hdf5_failure(TAILRACE_IO_ERROR, "open", path));
    if (!readable.is_missing_some()) return found;
    H5Eclear2(H5E_DEFAULT);
  }
}

}  // namespace

Result<Outline> read_outline(FileSystem& files, const std::string& path, const OutlineWanted& wanted) {
  const Result<Opened> opened = files.open(path, OpenMode::read, 0);
  if (!opened.ok()) return opened.status();
  const FileHandle handle = opened.value().file;
  const Result<uint64_t> size = files.size(handle);
  Result<Outline> found = size.status().ok() ? Result<Outline>(Outline()) : Result<Outline>(size.status());
  if (size.ok()) {
    ReadableFile readable(files, handle, size.value());
    found = look_at_outline(path, readable, wanted);
  }
  files.close(handle);
  return found;
}

}  // namespace tailrace::impl
