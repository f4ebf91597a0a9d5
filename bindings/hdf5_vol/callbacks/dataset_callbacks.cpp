// Callbacks of datasets: creates them as the program asks, and lets data bypass HDF5 where possible.
#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "hdf5_vol/callbacks/callbacks.hpp"
#include "hdf5_vol/callbacks/lead_out.hpp"
#include "hdf5_vol/data/dataset.hpp"
#include "hdf5_vol/data/object.hpp"
#include "hdf5_vol/data/parallel.hpp"
#include "hdf5_vol/data/prefetch_dataset.hpp"
#include "hdf5_vol/data/unlinked.hpp"
#include "hdf5_vol/files/request.hpp"
#include "hdf5_vol/files/small_carried.hpp"
#include "hdf5_vol/host/inquiry.hpp"
#include "hdf5_vol/host/transfer_list.hpp"
#include "hdf5_vol/policy/carry_policy.hpp"
#include "hdf5_vol/process/process.hpp"
#include "process_client/bytes/sieve.hpp"

namespace tailrace::hdf5 {
namespace {

// The form of a dataset that is about to be created. There may be very many small ones, and queries take time.
struct Form {
  NewDatasetFacts facts;
  H5D_layout_t layout;

  Form(const Host& host, hid_t type, hid_t space, hid_t dcpl) {
    hsize_t extent[H5S_MAX_RANK];
    hsize_t most[H5S_MAX_RANK];
    const int rank = host.H5Sget_simple_extent_dims(space, extent, most);
    if (rank >= 0) {
      facts.bytes = std::accumulate(extent, extent + rank, host.bytes_of(type), std::multiplies<uint64_t>());
    }
    layout = dcpl == host.dataset_creation ? H5D_CONTIGUOUS : host.H5Pget_layout(dcpl);
    facts.smallest = Process::instance().smallest();
    facts.grows = rank < 0 || !std::equal(extent, extent + rank, most);
    facts.is_one_piece = layout == H5D_CONTIGUOUS || layout == H5D_COMPACT;
    facts.is_virtual = layout == H5D_VIRTUAL;
    facts.is_among_parallel = File::any_parallel();
  }
};

// Access properties for a dataset whose chunks may bypass HDF5: without a chunk cache, which would become stale.
class UncachedAccess {
 public:
  UncachedAccess(const Object& at, H5I_type_t kind, hid_t type, hid_t space, const Form& form, hid_t dcpl, hid_t dapl)
      : host_(at.host), program_(dapl), dapl_(dapl) {
    if (form.layout != H5D_CHUNKED) return;
    DatasetFacts facts = Chunked::facts_of(host_, dcpl, space, type);
    if (way_of(facts).way != Way::plain_chunks) return;
    const std::shared_ptr<File> file = Dataset::file_around(at, kind);
    facts.is_of_carried_file = file != nullptr;
    facts.is_parallel = file != nullptr && file->is_parallel();
    facts.has_userblock = file != nullptr && file->userblock != 0;
    if (way_of(facts).way == Way::hdf5) return;
    facts.is_refused = !file->ready();
    if (way_of(facts).way == Way::hdf5) return;
    own_ = host_.H5Pcopy(dapl);
    if (own_ < 0 || !ChunkCache{1, 0, 0.75}.set_in(host_, own_)) return;
    dapl_ = own_;
    file_ = file;
  }
  ~UncachedAccess() {
    if (own_ >= 0) host_.close_list(own_);
  }
  UncachedAccess(const UncachedAccess&) = delete;
  UncachedAccess& operator=(const UncachedAccess&) = delete;
  hid_t dapl() const { return dapl_; }
  // Keeps the program's properties of the dataset that was made with these.
  void keep_for(const Object& made) const {
    if (file_ == nullptr) return;
    const H5O_token_t token = identity_of(host_, made.under, H5I_DATASET).token;
    file_->chunks().keep_cache(token, ChunkCache::of_dataset(host_, program_, file_->cache));
  }

 private:
  const Host& host_;
  const hid_t program_;
  hid_t dapl_;
  std::shared_ptr<File> file_;  // null: these are the program's
  hid_t own_ = H5I_INVALID_HID;
};

// Carries a small dataset from now on.
void carry_small(Object& object) {
  object.dataset = Dataset::look_at(object, Dataset::Which::small_too);
  if (object.dataset->file() != nullptr) SmallCarried::note(object.is_new);
}

Dataset& dataset_of(Object& object) {
  if (object.dataset == nullptr || object.dataset->changes()) object.dataset = Dataset::look_at(object);
  if (object.dataset->is_small() && SmallCarried::may_be(object.is_new)) {
    // If several processes share open files, HDF5 may ask all of them at once for this one's file.
    File::any_parallel() ? drain_all(object.host) : carry_small(object);
  }
  return *object.dataset;
}

// Counts the parts of a small dataset that HDF5 writes, and carries the dataset when there are many. HDF5 must not
// gather them in a file whose data may bypass it, so it writes each part at once; the connector gathers them. To
// begin to carry a dataset takes as long as HDF5 needs for about ten parts.
void look_for_parts(Object& object, hid_t file_space) {
  if (file_space == H5S_ALL || object.parts > SmallCarried::kMany) return;
  const bool is_small = object.dataset->is_small();
  if ((!is_small && object.parts == 0) || File::any_parallel()) return;
  if (is_small && object.parts >= SmallCarried::few()) carry_small(object);
  if (++object.parts == SmallCarried::kMany) SmallCarried::note_parts(object.parts);
}

// Notes, when an object is closed, that carrying it did not pay, since only a few parts were written through it.
void look_back_at_parts(const Object& object) {
  const bool few = object.parts > 0 && object.parts < SmallCarried::kMany;
  if (few && object.dataset->file() != nullptr) SmallCarried::note_parts(object.parts);
}

void* dataset_create(void* pointer, const H5VL_loc_params_t* where, const char* name, hid_t lcpl, hid_t type,
                     hid_t space, hid_t dcpl, hid_t dapl, hid_t dxpl, void**) {
  Object& object = object_at(pointer);
  Host& host = object.host;
  const Form form(host, type, space, dcpl);
  const UncachedAccess access(object, where->obj_type, type, space, form, dcpl, dapl);
  if (form.layout == H5D_CHUNKED) drain_before_mpi(host);  // HDF5 fills it
  void* const made = wrap(object, call_leading_out(host, [&] {
                            return host.H5VLdataset_create(object.under, where, host.native, name, lcpl, type, space,
                                                           dcpl, access.dapl(), dxpl, nullptr);
                          }));
  if (made == nullptr) return nullptr;
  Object& dataset = object_at(made);
  access.keep_for(dataset);
  dataset.is_new = true;
  dataset.is_usual = dcpl == host.dataset_creation;
  if (stays_small(form.facts)) dataset.dataset = Dataset::left_to_hdf5(host);
  Dataset::look_together(dataset);
  if (name == nullptr) note_unlinked(object, where->obj_type);
  return made;
}

void* dataset_open(void* pointer, const H5VL_loc_params_t* where, const char* name, hid_t dapl, hid_t dxpl, void**) {
  Object& object = object_at(pointer);
  Host& host = object.host;
  drain_before_mpi(host);  // HDF5 allocates the chunks that have no place yet, and fills them
  void* const opened =
      wrap(object, call_leading_out(host, [&] {
             return host.H5VLdataset_open(object.under, where, host.native, name, dapl, dxpl, nullptr);
           }));
  if (opened != nullptr) Dataset::look_together(object_at(opened));
  return opened;
}

// Notes that the selection was read. If that predicts the next read, its bytes are prefetched.
void go_ahead(Object& object, hid_t file_space) {
  if (object.prefetch_dataset == nullptr) object.prefetch_dataset = PrefetchDataset::look_at(object);
  object.prefetch_dataset->has_read(file_space);
}

// Reports, in the transfer list, a transfer that HDF5 has not made, or has made with another list.
void describe(const Dataset& dataset, const Host& host, hid_t file_space, hid_t transfer) {
  if (transfer == host.transfer) return;
  describe_transfer(host, transfer, dataset.carried(file_space), dataset.passes_alone());
}

herr_t dataset_read(size_t count, void* pointers[], hid_t memory_types[], hid_t memory_spaces[], hid_t file_spaces[],
                    hid_t dxpl, void* data[], void**) {
  herr_t result = 0;
  for (size_t i = 0; i < count; ++i) {
    Object& object = object_at(pointers[i]);
    const Host& host = object.host;
    Dataset& dataset = dataset_of(object);
    const Outcome outcome = dataset.read({memory_types[i], memory_spaces[i], file_spaces[i], dxpl}, data[i]);
    if (outcome == Outcome::pass && call_leading_out(host, [&] {
                                      return host.H5VLdataset_read(1, &object.under, host.native, &memory_types[i],
                                                                   &memory_spaces[i], &file_spaces[i], dxpl, &data[i],
                                                                   nullptr);
                                    }) < 0) {
      result = -1;
    }
    if (outcome == Outcome::done) describe(dataset, host, file_spaces[i], dxpl);
    if (result >= 0 && PrefetchFile::any()) go_ahead(object, file_spaces[i]);
    if (!dataset.tell_failures() || outcome == Outcome::failed) result = -1;
  }
  return result;
}

// Passes a write to the library below; `alone`: of several processes, only this one does.
herr_t write_below(const Object& object, bool alone, hid_t memory_type, hid_t memory_space, hid_t file_space,
                   hid_t dxpl, const void* data) {
  const Host& host = object.host;
  std::optional<AloneTransfer> apart;
  if (alone) apart.emplace(host, dxpl);
  if (!alone && is_collective(host, dxpl)) drain_before_mpi(host);
  process::Sieves::forget_all();  // HDF5 writes past them
  void* under = object.under;
  return host.H5VLdataset_write(1, &under, host.native, &memory_type, &memory_space, &file_space,
                                alone ? apart->transfer() : dxpl, &data, nullptr);
}

// A failure with one dataset does not end the call: other processes may be waiting in HDF5 for the next ones.
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
    const Outcome outcome =
        dataset.write(object, {memory_types[i], memory_spaces[i], file_spaces[i], dxpl}, data[i], request.get());
    if (!dataset.tell_failures() || outcome == Outcome::failed) {
      result = -1;
    } else if (outcome == Outcome::pass && write_below(object, dataset.passes_alone(), memory_types[i],
                                                       memory_spaces[i], file_spaces[i], dxpl, data[i]) < 0) {
      result = -1;
    } else if (outcome == Outcome::done || dataset.passes_alone()) {
      describe(dataset, object.host, file_spaces[i], dxpl);
    }
  }
  if (result >= 0 && request != nullptr && !request->empty()) {
    *to_wait_for = wrap(object_at(pointers[0]).host, std::move(request));
  }
  return result;
}

// The program gets its own properties, not those with which the connector has made the dataset.
void restore_cache(const Object& object, hid_t dapl) {
  size_t slots = 0;
  size_t bytes = 0;
  double preemption = 0;
  if (!File::any() || object.host.H5Pget_chunk_cache(dapl, &slots, &bytes, &preemption) < 0 || bytes > 0) return;
  const H5O_info2_t identity = identity_of(object.host, object.under, H5I_DATASET);
  const std::shared_ptr<File> file = file_of(object.host, identity.fileno);
  const ChunkCache* const cache = file != nullptr ? file->chunks().cache_of(identity.token) : nullptr;
  if (cache != nullptr) cache->set_in(object.host, dapl);
}

herr_t dataset_get(void* pointer, H5VL_dataset_get_args_t* arguments, hid_t dxpl, void**) {
  Object& object = object_at(pointer);
  const bool asks_for_chunks =
      arguments->op_type == H5VL_DATASET_GET_STORAGE_SIZE || arguments->op_type == H5VL_DATASET_GET_SPACE_STATUS;
  if (asks_for_chunks) dataset_of(object).settle_chunks();
  const herr_t got = call_leading_out(object.host, [&] {
    return object.host.H5VLdataset_get(object.under, object.host.native, arguments, dxpl, nullptr);
  });
  if (got >= 0 && arguments->op_type == H5VL_DATASET_GET_DAPL)
    restore_cache(object, arguments->args.get_dapl.dapl_id);
  return got;
}

// Waits for writes to the object that are on their way, if there are any.
bool settle(Object& object) {
  Dataset& dataset = dataset_of(object);
  if (dataset.file() == nullptr) return true;
  dataset.file()->drain();
  return dataset.tell_failures();
}

// Returns true if the call only makes the dataset larger: then no chunk changes, and no space becomes free to which
// writes are on their way.
bool only_grows(const Object& object, const H5VL_dataset_specific_args_t& arguments) {
  if (arguments.op_type != H5VL_DATASET_SET_EXTENT) return false;
  const hid_t space = get(object.host, object.under, H5VL_DATASET_GET_SPACE);
  const Extent now = Extent::of(object.host, space);
  if (space >= 0) object.host.H5Sclose(space);
  const hsize_t* const next = arguments.args.set_extent.size;
  return now.rank > 0 && next != nullptr && std::equal(now.length, now.length + now.rank, next, std::less_equal<>());
}

// Continues, and leaves writes on their way.
bool go_on(Object& object) {
  Dataset& dataset = dataset_of(object);
  dataset.file()->chunks().place();
  return dataset.tell_failures();
}

herr_t dataset_specific(void* pointer, H5VL_dataset_specific_args_t* arguments, hid_t dxpl, void**) {
  Object& object = object_at(pointer);
  drain_before_mpi(object.host);
  bool whole = true;
  if (File* const file = dataset_of(object).file()) {
    whole = only_grows(object, *arguments) ? go_on(object) : settle(object);
    ++file->resized;
  }
  const herr_t done = object.host.H5VLdataset_specific(object.under, object.host.native, arguments, dxpl, nullptr);
  return whole ? done : -1;
}

// Returns true if the call tells the program where data lie in the file: it may look at them there, past HDF5.
bool tells_place(const H5VL_optional_args_t& arguments) {
  return arguments.op_type == H5VL_NATIVE_DATASET_GET_OFFSET ||
         arguments.op_type == H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_IDX ||
         arguments.op_type == H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_COORD ||
         arguments.op_type == H5VL_NATIVE_DATASET_CHUNK_ITER;
}

herr_t dataset_optional(void* pointer, H5VL_optional_args_t* arguments, hid_t dxpl, void**) {
  Object& object = object_at(pointer);
  dataset_of(object).settle_chunks();
  const bool whole = !tells_place(*arguments) || settle(object);
  if (tells_place(*arguments)) object.dataset->show_place();
  const herr_t done = object.host.H5VLdataset_optional(object.under, object.host.native, arguments, dxpl, nullptr);
  return whole ? done : -1;
}

// Closing the last object of a file that the program has closed closes the file, so all data must be there first.
herr_t dataset_close(void* pointer, hid_t dxpl, void**) {
  Object& object = object_at(pointer);
  if (object.under == nullptr) {
    unwrap(pointer);
    return 0;
  }
  const Host& host = object.host;
  look_back_at_parts(object);
  File* const file = object.dataset != nullptr ? object.dataset->file() : nullptr;
  const bool whole = file == nullptr || file->opens > 0 || settle(object);
  if (object.dataset != nullptr && object.dataset->ends_with_close(object)) drain_everywhere(object, H5I_DATASET);
  const bool later = object.dataset != nullptr && object.dataset->close_later(object.under);
  const herr_t closed = later ? 0 : host.H5VLdataset_close(object.under, host.native, dxpl, nullptr);
  object.under = nullptr;  // even if the close failed: HDF5 may ask for it again, and the object below is gone
  if (closed < 0 && object.within) object.within->detaching().spoil("HDF5 could not close an object of it");
  if (closed >= 0 && whole) {
    unwrap(pointer);
    return 0;
  }
  const hid_t stack = host.H5Eget_current_stack();  // the calls below would clear it
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
