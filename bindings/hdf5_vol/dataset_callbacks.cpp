// Datasets: made so that their data have a place at once, and written past HDF5 where that is possible.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "callbacks.hpp"
#include "carrier.hpp"
#include "dataset.hpp"
#include "inquiry.hpp"
#include "object.hpp"
#include "parallel.hpp"
#include "prefetch_dataset.hpp"
#include "request.hpp"
#include "small_carried.hpp"

namespace tailrace::hdf5 {
namespace {

// What may be larger than the file system lets a file be (ext4: 16 TiB) has its place from the first write on, as the
// program perhaps never writes; only that first write is not carried then.
constexpr uint64_t kLargest = uint64_t{1} << 44;  // bytes

// Of a dataset that is to be made. There may be very many small ones, and asking takes time.
struct Form {
  uint64_t bytes = 0;
  bool large;  // enough to be carried if it is contiguous
  bool tiny;   // too small for chunks that are carried, now and later
  H5D_layout_t layout;

  Form(const Host& host, hid_t type, hid_t space, hid_t dcpl) {
    hsize_t extent[H5S_MAX_RANK];
    hsize_t most[H5S_MAX_RANK];
    const int rank = host.H5Sget_simple_extent_dims(space, extent, most);
    if (rank >= 0) bytes = std::accumulate(extent, extent + rank, host.bytes_of(type), std::multiplies<uint64_t>());
    const uint64_t smallest = Carrier::instance().smallest();
    large = bytes >= smallest;
    const bool grows = rank < 0 || !std::equal(extent, extent + rank, most);
    tiny = bytes < Chunked::smallest_chunk(smallest) && !grows && !File::any_parallel();
    layout = dcpl == host.dataset_creation ? H5D_CONTIGUOUS : host.H5Pget_layout(dcpl);
  }
  // One in chunks may grow, and a virtual one may be small and show large ones.
  bool stays_small() const {
    return (tiny && layout != H5D_VIRTUAL) || (!large && (layout == H5D_CONTIGUOUS || layout == H5D_COMPACT));
  }
};

// How a dataset is made whose place in the file is to be known at once, though the program has not asked for that.
class EarlyPlace {
 public:
  EarlyPlace(const Object& at, H5I_type_t kind, hid_t type, const Form& form, hid_t dcpl) : host_(at.host) {
    H5D_alloc_time_t time{};
    H5D_fill_value_t fill{};
    H5D_fill_time_t fill_time{};
    const bool may_be = form.large && form.bytes <= kLargest && form.layout == H5D_CONTIGUOUS &&
                        host_.H5Pget_external_count(dcpl) == 0 && host_.H5Pget_alloc_time(dcpl, &time) >= 0 &&
                        time == H5D_ALLOC_TIME_LATE && host_.H5Pfill_value_defined(dcpl, &fill) >= 0 &&
                        host_.H5Pget_fill_time(dcpl, &fill_time) >= 0;
    if (!may_be) return;
    fills_ = fill == H5D_FILL_VALUE_USER_DEFINED && fill_time != H5D_FILL_TIME_NEVER;
    file_ = Dataset::file_around(at, kind);
    // In a file of several processes HDF5 gives it its place at once, and knows which of them fills.
    if (file_ == nullptr || file_->is_parallel() || file_->is_refused()) return;
    if (fills_ && (!is_number(type) || !file_->ready())) return;
    dcpl_ = host_.H5Pcopy(dcpl);
    if (dcpl_ < 0) return;
    host_.H5Pset_alloc_time(dcpl_, H5D_ALLOC_TIME_EARLY);
    if (!fills_) return;
    // HDF5 would fill it when it is made, and wait for that; what the program writes then would be written twice.
    host_.H5Pset_fill_time(dcpl_, H5D_FILL_TIME_NEVER);
    element_.resize(host_.H5Tget_size(type));
    host_.H5Pget_fill_value(dcpl, type, element_.data());
  }
  ~EarlyPlace() {
    if (dcpl_ >= 0) host_.close_list(dcpl_);
  }
  EarlyPlace(const EarlyPlace&) = delete;
  EarlyPlace& operator=(const EarlyPlace&) = delete;

  hid_t dcpl_or(hid_t other) const { return dcpl_ >= 0 ? dcpl_ : other; }
  bool leaves_unfilled() const { return !element_.empty(); }
  // The dataset has been made; by a link perhaps in another file. In space that was in use before there is something,
  // though nobody has written to the dataset: HDF5 would show its own fill value, 0, until then.
  void remember(const Object& made, hid_t type) {
    if (dcpl_ < 0 || Dataset::file_around(made, H5I_DATASET) != file_) return;
    const uint64_t place = place_of(made);
    file_->placed_early(place);
    if (fills_ || place >= file_->bytes_there()) return;
    if (file_->ready()) {
      element_.resize(host_.H5Tget_size(type));
    } else {
      zero(made, type);
    }
  }
  const std::vector<std::byte>& element() const { return element_; }

 private:
  // HDF5 does it, at once. What nobody writes to of memory that is 0 takes no space.
  void zero(const Object& made, hid_t type) const {
    const hid_t space = get(made, H5VL_DATASET_GET_SPACE);
    const hssize_t elements = space >= 0 ? host_.H5Sget_simple_extent_npoints(space) : 0;
    if (space >= 0) host_.H5Sclose(space);
    void* const zeros = std::calloc(static_cast<size_t>(elements), host_.H5Tget_size(type));
    void* under = made.under;
    hid_t all = H5S_ALL;
    const void* from = zeros;
    if (zeros != nullptr) {
      host_.H5VLdataset_write(1, &under, host_.native, &type, &all, &all, host_.transfer, &from, nullptr);
    }
    std::free(zeros);
  }

  bool is_number(hid_t type) const {
    const H5T_class_t of = host_.H5Tget_class(type);
    return of == H5T_INTEGER || of == H5T_FLOAT;
  }

  const Host& host_;
  std::shared_ptr<File> file_;
  hid_t dcpl_ = H5I_INVALID_HID;
  bool fills_ = false;
  std::vector<std::byte> element_;
};

// How a dataset is opened whose chunks may go past HDF5: what it keeps of them would be older.
class UncachedAccess {
 public:
  UncachedAccess(const Object& at, H5I_type_t kind, hid_t type, hid_t space, const Form& form, hid_t dcpl, hid_t dapl)
      : host_(at.host), dapl_(dapl) {
    if (form.layout != H5D_CHUNKED || !Chunked::may_go_past(host_, dcpl, space, type)) return;
    const std::shared_ptr<File> file = Dataset::file_around(at, kind);
    if (file == nullptr || file->is_parallel() || !file->ready()) return;
    own_ = host_.H5Pcopy(dapl);
    if (own_ >= 0 && host_.H5Pset_chunk_cache(own_, 1, 0, 0.75) >= 0) dapl_ = own_;
  }
  ~UncachedAccess() {
    if (own_ >= 0) host_.close_list(own_);
  }
  UncachedAccess(const UncachedAccess&) = delete;
  UncachedAccess& operator=(const UncachedAccess&) = delete;
  hid_t dapl() const { return dapl_; }

 private:
  const Host& host_;
  hid_t dapl_;
  hid_t own_ = H5I_INVALID_HID;
};

// A small dataset is carried from now on.
void carry_small(Object& object) {
  object.dataset = Dataset::look_at(object, Dataset::Which::small_too);
  if (object.dataset->file() != nullptr) SmallCarried::note(object.is_new);
}

Dataset& dataset_of(Object& object) {
  if (object.dataset == nullptr || object.dataset->changes()) object.dataset = Dataset::look_at(object);
  if (object.dataset->is_small() && SmallCarried::may_be(object.is_new)) {
    // Where files of several processes are open, HDF5 may ask all of them at once which file this one is in.
    File::any_parallel() ? drain_all() : carry_small(object);
  }
  return *object.dataset;
}

// HDF5 writes each part of a dataset at once, as it must gather nothing in a file whose data may go past it. So where
// there are many, they are gathered here; to begin with that takes as long as HDF5 needs for some ten of them.
void look_for_parts(Object& object, hid_t file_space) {
  constexpr uint8_t kFew = 8;
  if (file_space == H5S_ALL || !object.dataset->is_small() || File::any_parallel()) return;
  if (object.parts == kFew) return carry_small(object);
  ++object.parts;
}

// A link has led into a file that is not carried: it is filled at once.
herr_t fill_now(const Object& object, hid_t type, uint64_t bytes, const std::vector<std::byte>& element) {
  std::vector<std::byte> all(bytes);
  for (size_t at = 0; at < all.size(); ++at) all[at] = element[at % element.size()];
  void* under = object.under;
  hid_t whole = H5S_ALL;
  const void* data = all.data();
  return object.host.H5VLdataset_write(1, &under, object.host.native, &type, &whole, &whole, object.host.transfer,
                                       &data, nullptr);
}

void* dataset_create(void* pointer, const H5VL_loc_params_t* where, const char* name, hid_t lcpl, hid_t type,
                     hid_t space, hid_t dcpl, hid_t dapl, hid_t dxpl, void**) {
  Object& object = object_at(pointer);
  Host& host = object.host;
  const Form form(host, type, space, dcpl);
  EarlyPlace early(object, where->obj_type, type, form, dcpl);
  const UncachedAccess access(object, where->obj_type, type, space, form, dcpl, dapl);
  if (form.layout == H5D_CHUNKED) drain_before_mpi();  // it is filled
  void* const made = wrap(object, host.H5VLdataset_create(object.under, where, host.native, name, lcpl, type, space,
                                                          early.dcpl_or(dcpl), access.dapl(), dxpl, nullptr));
  if (made == nullptr) return nullptr;
  Object& dataset = object_at(made);
  dataset.is_new = true;
  dataset.is_usual = dcpl == host.dataset_creation;
  early.remember(dataset, type);
  if (form.stays_small()) dataset.dataset = Dataset::left_to_hdf5(host);
  Dataset::look_together(dataset);
  if (name == nullptr && dataset.dataset != nullptr && dataset.dataset->passes_alone()) {
    dataset.dataset->file()->has_unlinked = true;
  }
  if (!early.leaves_unfilled()) return made;
  dataset.dataset = Dataset::look_at(dataset);
  if (dataset.dataset->file() != nullptr) {
    dataset.dataset->fill_later(early.element());
  } else if (fill_now(dataset, type, form.bytes, early.element()) < 0) {
    host.H5VLdataset_close(dataset.under, host.native, dxpl, nullptr);
    unwrap(made);
    return nullptr;
  }
  return made;
}

void* dataset_open(void* pointer, const H5VL_loc_params_t* where, const char* name, hid_t dapl, hid_t dxpl, void**) {
  Object& object = object_at(pointer);
  Host& host = object.host;
  drain_before_mpi();  // chunks that have no place yet get one, and are filled
  void* const opened =
      wrap(object, host.H5VLdataset_open(object.under, where, host.native, name, dapl, dxpl, nullptr));
  if (opened != nullptr) Dataset::look_together(object_at(opened));
  return opened;
}

// What was selected has been read: if the next read can be foreseen, what it will ask for is brought meanwhile.
void go_ahead(Object& object, hid_t file_space) {
  if (object.prefetch_dataset == nullptr) object.prefetch_dataset = PrefetchDataset::look_at(object);
  object.prefetch_dataset->has_read(file_space);
}

herr_t dataset_read(size_t count, void* pointers[], hid_t memory_types[], hid_t memory_spaces[], hid_t file_spaces[],
                    hid_t dxpl, void* data[], void**) {
  herr_t result = 0;
  for (size_t i = 0; i < count; ++i) {
    Object& object = object_at(pointers[i]);
    const Host& host = object.host;
    Dataset& dataset = dataset_of(object);
    const auto outcome = dataset.read(memory_types[i], memory_spaces[i], file_spaces[i], dxpl, data[i]);
    if (outcome == Dataset::Outcome::pass &&
        host.H5VLdataset_read(1, &object.under, host.native, &memory_types[i], &memory_spaces[i], &file_spaces[i],
                              dxpl, &data[i], nullptr) < 0) {
      result = -1;
    }
    if (result >= 0 && PrefetchFile::any()) go_ahead(object, file_spaces[i]);
    if (!dataset.tell_failures() || outcome == Dataset::Outcome::failed) result = -1;
  }
  return result;
}

// What was passed: of several processes maybe by this one alone.
herr_t write_below(const Object& object, bool alone, hid_t memory_type, hid_t memory_space, hid_t file_space,
                   hid_t dxpl, const void* data) {
  const Host& host = object.host;
  std::optional<AloneTransfer> apart;
  if (alone) apart.emplace(host, dxpl);
  if (!alone && is_collective(host, dxpl)) drain_before_mpi();
  void* under = object.under;
  return host.H5VLdataset_write(1, &under, host.native, &memory_type, &memory_space, &file_space,
                                alone ? apart->transfer() : dxpl, &data, nullptr);
}

// A failure with one dataset ends nothing: other processes may wait in what HDF5 itself does for the next ones.
herr_t dataset_write(size_t count, void* pointers[], hid_t memory_types[], hid_t memory_spaces[], hid_t file_spaces[],
                     hid_t dxpl, const void* data[], void** to_wait_for) {
  herr_t result = 0;
  std::unique_ptr<Request> request;
  if (to_wait_for != nullptr && count > 0) request = std::make_unique<Request>(object_at(pointers[0]).host);
  for (size_t i = 0; i < count; ++i) {
    Object& object = object_at(pointers[i]);
    dataset_of(object);
    look_for_parts(object, file_spaces[i]);
    Dataset& dataset = *object.dataset;
    if (result < 0 && dataset.file() != nullptr) continue;
    const auto outcome =
        dataset.write(object, memory_types[i], memory_spaces[i], file_spaces[i], dxpl, data[i], request.get());
    if (!dataset.tell_failures() || outcome == Dataset::Outcome::failed) {
      result = -1;
    } else if (outcome == Dataset::Outcome::pass &&
               write_below(object, dataset.passes_alone(), memory_types[i], memory_spaces[i], file_spaces[i], dxpl,
                           data[i]) < 0) {
      result = -1;
    }
  }
  if (result >= 0 && request != nullptr && !request->empty()) {
    *to_wait_for = wrap(object_at(pointers[0]).host, std::move(request));
  }
  return result;
}

// What HDF5 would say of a dataset that it gives its place with the first write.
herr_t say_without_place(const H5VL_dataset_get_args_t& arguments) {
  if (arguments.op_type == H5VL_DATASET_GET_STORAGE_SIZE) {
    *arguments.args.get_storage_size.storage_size = 0;
  } else {
    *arguments.args.get_space_status.status = H5D_SPACE_STATUS_NOT_ALLOCATED;
  }
  return 0;
}

herr_t dataset_get(void* pointer, H5VL_dataset_get_args_t* arguments, hid_t dxpl, void**) {
  Object& object = object_at(pointer);
  const bool asks_for_chunks =
      arguments->op_type == H5VL_DATASET_GET_STORAGE_SIZE || arguments->op_type == H5VL_DATASET_GET_SPACE_STATUS;
  if (asks_for_chunks) {
    Dataset& dataset = dataset_of(object);
    dataset.settle_chunks();
    if (dataset.is_untouched()) return say_without_place(*arguments);
  }
  return object.host.H5VLdataset_get(object.under, object.host.native, arguments, dxpl, nullptr);
}

// What is on its way is waited for, if there is any; or, of a detached file, made ready if it is closed now.
bool settle(Object& object, bool closes) {
  Dataset& dataset = dataset_of(object);
  if (dataset.file() == nullptr) return true;
  closes&& dataset.file()->is_detached() ? dataset.file()->hand_over() : dataset.file()->drain();
  return dataset.tell_failures();
}

// Then no chunk changes, and nothing becomes free that is being written to.
bool only_grows(const Object& object, const H5VL_dataset_specific_args_t& arguments) {
  if (arguments.op_type != H5VL_DATASET_SET_EXTENT) return false;
  const hid_t space = get(object, H5VL_DATASET_GET_SPACE);
  const Extent now = Extent::of(object.host, space);
  if (space >= 0) object.host.H5Sclose(space);
  const hsize_t* const next = arguments.args.set_extent.size;
  return now.rank > 0 && next != nullptr && std::equal(now.length, now.length + now.rank, next, std::less_equal<>());
}

// What is on its way stays so.
bool go_on(Object& object) {
  Dataset& dataset = dataset_of(object);
  dataset.file()->place_chunks();
  return dataset.tell_failures();
}

herr_t dataset_specific(void* pointer, H5VL_dataset_specific_args_t* arguments, hid_t dxpl, void**) {
  Object& object = object_at(pointer);
  drain_before_mpi();
  bool whole = true;
  if (File* const file = dataset_of(object).file()) {
    whole = only_grows(object, *arguments) ? go_on(object) : settle(object, false);
    ++file->resized;
  }
  const herr_t done = object.host.H5VLdataset_specific(object.under, object.host.native, arguments, dxpl, nullptr);
  return whole ? done : -1;
}

herr_t dataset_optional(void* pointer, H5VL_optional_args_t* arguments, hid_t dxpl, void**) {
  Object& object = object_at(pointer);
  Dataset& dataset = dataset_of(object);
  dataset.settle_chunks();
  if (arguments->op_type == H5VL_NATIVE_DATASET_GET_OFFSET && dataset.is_untouched()) {
    *static_cast<H5VL_native_dataset_optional_args_t*>(arguments->args)->get_offset.offset = HADDR_UNDEF;
    return 0;
  }
  return object.host.H5VLdataset_optional(object.under, object.host.native, arguments, dxpl, nullptr);
}

// The last object of a file that the program has closed closes the file: then all must be there.
herr_t dataset_close(void* pointer, hid_t dxpl, void**) {
  Object& object = object_at(pointer);
  if (object.under == nullptr) {
    unwrap(pointer);
    return 0;
  }
  const Host& host = object.host;
  File* const file = object.dataset != nullptr ? object.dataset->file() : nullptr;
  const bool whole = file == nullptr || file->opens > 0 || settle(object, true);
  if (object.dataset != nullptr && object.dataset->ends_with_close(object)) drain_everywhere(object, H5I_DATASET);
  const bool later = object.dataset != nullptr && object.dataset->close_later(object.under);
  const herr_t closed = later ? 0 : host.H5VLdataset_close(object.under, host.native, dxpl, nullptr);
  object.under = nullptr;  // also if it could not be closed: HDF5 may ask for it again, and what is below is gone
  if (closed < 0 && object.within != nullptr) object.within->spoil("HDF5 could not close an object of it");
  if (closed >= 0 && whole) {
    unwrap(pointer);
    return 0;
  }
  const hid_t stack = host.H5Eget_current_stack();  // what follows would clear it
  object.dataset.reset();
  object.prefetch_dataset.reset();
  object.within.reset();
  host.H5Eset_current_stack(stack);
  return -1;
}

}  // namespace

const H5VL_dataset_class_t dataset_callbacks = {dataset_create, dataset_open,     dataset_read,     dataset_write,
                                                dataset_get,    dataset_specific, dataset_optional, dataset_close};

}  // namespace tailrace::hdf5
