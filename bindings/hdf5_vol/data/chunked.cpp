#include "hdf5_vol/data/chunked.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "hdf5_vol/data/known_filters.hpp"
#include "hdf5_vol/files/request.hpp"
#include "hdf5_vol/host/errors.hpp"
#include "hdf5_vol/process/process.hpp"
#include "process_client/bytes/extents.hpp"

namespace tailrace::hdf5 {
namespace {

uint64_t product(const std::vector<hsize_t>& of) {
  return std::accumulate(of.begin(), of.end(), uint64_t{1}, std::multiplies<>());
}

// The next index inside `count`, in the order of memory, in steps; false at the end. The last dimension stays.
bool next_row(std::vector<hsize_t>& at, const std::vector<hsize_t>& count) {
  for (size_t axis = at.size() - 1; axis-- > 0;) {
    if (++at[axis] < count[axis]) return true;
    at[axis] = 0;
  }
  return false;
}

uint64_t index_in(const std::vector<hsize_t>& at, const std::vector<hsize_t>& shape) {
  uint64_t index = 0;
  for (size_t axis = 0; axis < at.size(); ++axis) index = index * shape[axis] + at[axis];
  return index;
}

// Returns the numbers of elements of a chunk; empty on an error, or if the layout is another one.
std::vector<hsize_t> shape_of_chunk(const Host& host, hid_t dcpl) {
  hsize_t shape[H5S_MAX_RANK];
  const int rank = host.H5Pget_chunk(dcpl, H5S_MAX_RANK, shape);
  return {shape, shape + std::max(rank, 0)};
}

// Sets the fill value of one element, if the program has given one; returns false if HDF5 does not tell it.
bool take_fill(const Host& host, hid_t dcpl, hid_t type, std::byte* element) {
  H5D_fill_value_t fill{};
  if (host.H5Pfill_value_defined(dcpl, &fill) < 0) return false;
  return fill != H5D_FILL_VALUE_USER_DEFINED || host.H5Pget_fill_value(dcpl, type, element) >= 0;
}

bool is_uncached(const Host& host, hid_t dapl) {
  size_t slots = 0;
  size_t bytes = 0;
  double preemption = 0;
  return host.H5Pget_chunk_cache(dapl, &slots, &bytes, &preemption) >= 0 && bytes == 0;
}

}  // namespace

std::unique_ptr<Chunked> Chunked::look_at(const std::shared_ptr<File>& file, const H5O_token_t& token, hid_t dcpl,
                                          hid_t space, hid_t dapl, hid_t type) {
  const Host& host = file->host();
  std::unique_ptr<Chunked> chunked(new Chunked(host, file));
  DatasetFacts facts = facts_of(host, dcpl, space, type);
  chunked->goes_past_ = way_of(facts).way == Way::plain_chunks;
  if (chunked->goes_past_) {
    facts.is_cached = !is_uncached(host, dapl);
    facts.has_userblock = file->userblock != 0;
    if (way_of(facts).way != Way::hdf5) facts.is_refused = !file->ready();
  } else if (way_of(facts).way != Way::hdf5) {
    chunked->filters_ = known_filters(host, dcpl);
    facts.knows_filters = !chunked->filters_.empty();
  }
  if (way_of(facts).way == Way::hdf5) return nullptr;
  chunked->fill_.resize(host.H5Tget_size(type));
  facts.has_fill = take_fill(host, dcpl, type, chunked->fill_.data());
  if (way_of(facts).way == Way::hdf5) return nullptr;
  chunked->chunk_ = shape_of_chunk(host, dcpl);
  chunked->type_ = type;
  chunked->key_ = key_of(token);
  chunked->size_left_out_ = size_if_left_out(chunked->filters_, facts.chunk_bytes);
  chunked->queue_ = file->chunks().queue_of(token);
  return chunked;
}

// Where its header is: no data lie there.
uint64_t Chunked::key_of(const H5O_token_t& token) {
  uint64_t key = 0;
  std::memcpy(&key, token.__data, sizeof key);
  return key;
}

DatasetFacts Chunked::facts_of(const Host& host, hid_t dcpl, hid_t space, hid_t type) {
  DatasetFacts facts;
  const std::vector<hsize_t> chunk = shape_of_chunk(host, dcpl);
  unsigned options = 0;
  facts.layout = chunk.empty() ? Layout::other : Layout::chunked;
  facts.has_chunk_options = host.H5Pget_chunk_opts(dcpl, &options) < 0 || options != 0;
  facts.chunk_bytes = product(chunk) * host.H5Tget_size(type);
  facts.smallest = Process::instance().smallest();
  facts.has_large_chunks = facts.chunk_bytes > largest_chunk(carrier().budget());
  facts.has_filters = host.H5Pget_nfilters(dcpl) != 0;
  if (way_of(facts).way != Way::plain_chunks) return facts;
  H5D_alloc_time_t time{};
  facts.is_early = host.H5Pget_alloc_time(dcpl, &time) >= 0 && time == H5D_ALLOC_TIME_EARLY;
  if (facts.is_early) facts.reports_places = ChunkPlaces::can_be_told(host, space);
  return facts;
}

// The selection, if it is one block.
std::optional<Chunked::Box> Chunked::box_of(hid_t file_space) const {
  const size_t rank = chunk_.size();
  std::vector<hsize_t> begin(rank);
  std::vector<hsize_t> end(rank);
  if (host_.H5Sget_select_bounds(file_space, begin.data(), end.data()) < 0) return std::nullopt;
  Box box{begin, end};
  for (size_t axis = 0; axis < rank; ++axis) box.count[axis] = end[axis] - begin[axis] + 1;
  const H5S_sel_type kind = host_.H5Sget_select_type(file_space);
  if (kind != H5S_SEL_ALL && kind != H5S_SEL_HYPERSLABS) return std::nullopt;
  const hssize_t selected = host_.H5Sget_select_npoints(file_space);
  return selected > 0 && static_cast<uint64_t>(selected) == product(box.count) ? std::optional(box) : std::nullopt;
}

// A box that ends within a chunk, where the dataset may still grow, does not cover that chunk: a program that appends
// writes it again.
bool Chunked::covers_whole_chunks(const Box& box, hid_t file_space) const {
  std::vector<hsize_t> shape(chunk_.size());
  std::vector<hsize_t> largest(chunk_.size());
  if (host_.H5Sget_simple_extent_dims(file_space, shape.data(), largest.data()) < 0) return false;
  for (size_t axis = 0; axis < chunk_.size(); ++axis) {
    const hsize_t end = box.begin[axis] + box.count[axis];
    if (box.begin[axis] % chunk_[axis] != 0) return false;
    const bool is_last = end == shape[axis] && shape[axis] == largest[axis];
    if (end % chunk_[axis] != 0 && !is_last) return false;
  }
  return true;
}

Chunked::Part Chunked::part_of(const Box& box, const std::vector<hsize_t>& at) const {
  Part part{at, at, at};
  for (size_t axis = 0; axis < at.size(); ++axis) {
    const hsize_t begin = std::max(at[axis], box.begin[axis]);
    const hsize_t end = std::min(at[axis] + chunk_[axis], box.begin[axis] + box.count[axis]);
    part.in_box[axis] = begin - box.begin[axis];
    part.in_chunk[axis] = begin - at[axis];
    part.count[axis] = end - begin;
  }
  return part;
}

Reason Chunked::why_not_written(const std::optional<Box>& box, hid_t file_space) const {
  ChunkWriteFacts facts{.is_block = box.has_value(),
                        .is_left_alone = file_->writes().is_left_alone(),
                        .goes_past = goes_past_,
                        .is_shown = file_->is_shown(key_),
                        .filters_fail = queue_->mostly_fails()};
  if (why_not(facts) == Reason::none) facts.has_whole_chunks = goes_past_ || covers_whole_chunks(*box, file_space);
  return why_not(facts);
}

// `file_space` has the extent that the dataset has now.
bool Chunked::write(void* under, hid_t memory_type, hid_t file_space, const std::byte* data, Request* request) {
  file_->chunks().place();
  const std::optional<Box> box = box_of(file_space);
  if (why_not_written(box, file_space) != Reason::none) {
    settle();
    return false;
  }
  std::vector<hsize_t> first(chunk_.size());
  std::vector<hsize_t> chunks(chunk_.size());
  for (size_t axis = 0; axis < chunk_.size(); ++axis) {
    first[axis] = box->begin[axis] / chunk_[axis];
    chunks[axis] = (box->begin[axis] + box->count[axis] - 1) / chunk_[axis] - first[axis] + 1;
  }
  std::vector<hsize_t> at(chunk_.size());
  for (uint64_t i = 0, count = product(chunks); i < count; ++i) {
    uint64_t rest = i;
    for (size_t axis = chunk_.size(); axis-- > 0; rest /= chunks[axis]) {
      at[axis] = (first[axis] + rest % chunks[axis]) * chunk_[axis];
    }
    const bool taken = goes_past_ ? send_part(under, *box, at, memory_type, data, request)
                                  : add_chunk(under, *box, at, memory_type, data, request);
    if (!taken) {
      settle();
      return false;  // HDF5 writes all of it again
    }
  }
  return true;
}

void Chunked::make_room(uint64_t bytes) {
  const uint64_t budget = carrier().budget();
  while (ChunkQueue::bytes() + bytes > budget && file_->chunks().place_oldest()) {
  }
}

bool Chunked::add_chunk(void* under, const Box& box, const std::vector<hsize_t>& at, hid_t memory_type,
                        const std::byte* data, Request* request) {
  const bool left_out = size_left_out_ > 0 && may_be_left_out(under, at);
  if (why_not(ChunkWriteFacts{.may_be_left_out = left_out}) != Reason::none) return false;
  make_room(product(chunk_) * fill_.size());
  const Part part = part_of(box, at);
  std::optional<ByteBuffer> rows = rows_of(box, part, memory_type, data);
  if (!rows) return false;
  auto job = std::make_shared<ChunkJob>();
  job->filters = filters_;
  job->bytes = whole_chunk(std::move(*rows), part);
  if (request != nullptr) request->add(file_, queue_, job);
  queue_->add(under, at, chunk_, std::move(job));
  return true;
}

// Returns true if HDF5 may have stored the chunk that begins at `at` without its compressor. If HDF5 (1.14.5 to 2.0)
// read such a chunk at once, it would take a new one for it. A missing chunk is an error to HDF5.
bool Chunked::may_be_left_out(void* under, const std::vector<hsize_t>& at) const {
  const Quiet quiet(host_);
  if (!quiet.can()) return true;
  hsize_t size = 0;
  H5VL_native_dataset_optional_args_t asked{};
  asked.get_chunk_storage_size = {at.data(), &size};
  H5VL_optional_args_t arguments{H5VL_NATIVE_DATASET_GET_CHUNK_STORAGE_SIZE, &asked};
  const herr_t done = host_.H5VLdataset_optional(under, host_.native, &arguments, host_.transfer, nullptr);
  return done >= 0 && size == size_left_out_;
}

bool Chunked::send_part(void* under, const Box& box, const std::vector<hsize_t>& at, hid_t memory_type,
                        const std::byte* data, Request* request) {
  const haddr_t place = places_.find(host_, under, file_->resized, at);
  if (why_not(ChunkWriteFacts{.goes_past = true, .has_place = place != HADDR_UNDEF}) != Reason::none) return false;
  const Part part = part_of(box, at);
  std::optional<ByteBuffer> rows = rows_of(box, part, memory_type, data);
  if (!rows) return false;
  const bool sent = write_for(request, *file_, key_, extents_of(part, place), rows->data()).status == TAILRACE_OK;
  Process::instance().crew().give_back(std::move(*rows), carrier().budget());
  return sent;
}

// One row after the other, as elements of the dataset's type.
std::optional<ByteBuffer> Chunked::rows_of(const Box& box, const Part& part, hid_t memory_type,
                                           const std::byte* data) const {
  const size_t element = fill_.size();
  const bool converts = host_.H5Tequal(memory_type, type_) <= 0;
  const size_t from_element = converts ? host_.H5Tget_size(memory_type) : element;
  const uint64_t found = product(part.count);
  const uint64_t row = part.count.back() * from_element;
  ByteBuffer rows = Process::instance().crew().take_buffer(found * std::max(element, from_element));
  std::vector<hsize_t> index(chunk_.size());
  std::vector<hsize_t> where(chunk_.size());
  std::byte* to = rows.data();
  do {
    for (size_t axis = 0; axis < where.size(); ++axis) where[axis] = part.in_box[axis] + index[axis];
    std::memcpy(to, data + index_in(where, box.count) * from_element, row);
    to += row;
  } while (next_row(index, part.count));
  if (converts && host_.H5Tconvert(memory_type, type_, found, rows.data(), nullptr, host_.transfer) < 0) return {};
  rows.set_size(found * element);
  return rows;
}

// With the rows of a part that begins where the chunk does. What of it lies beyond the extent of the dataset has the
// fill value.
ByteBuffer Chunked::whole_chunk(ByteBuffer rows, const Part& part) const {
  const size_t element = fill_.size();
  const uint64_t elements = product(chunk_);
  if (rows.size() == elements * element) return rows;
  ByteBuffer chunk = Process::instance().crew().take_buffer(elements * element);
  chunk.set_size(elements * element);
  for (uint64_t i = 0; i < elements; ++i) std::copy(fill_.begin(), fill_.end(), chunk.data() + i * element);
  std::vector<hsize_t> index(chunk_.size());
  const std::byte* from = rows.data();
  const uint64_t row = part.count.back() * element;
  do {
    std::memcpy(chunk.data() + index_in(index, chunk_) * element, from, row);
    from += row;
  } while (next_row(index, part.count));
  return chunk;
}

// Where the rows of a part of the chunk at `place` lie in the file.
std::vector<tailrace_extent> Chunked::extents_of(const Part& part, uint64_t place) const {
  const size_t element = fill_.size();
  std::vector<tailrace_extent> extents;
  std::vector<hsize_t> index(chunk_.size());
  std::vector<hsize_t> where(chunk_.size());
  do {
    for (size_t axis = 0; axis < where.size(); ++axis) where[axis] = part.in_chunk[axis] + index[axis];
    process::append(extents, {place + index_in(where, chunk_) * element, part.count.back() * element});
  } while (next_row(index, part.count));
  return extents;
}

void Chunked::settle() {
  queue_->place(true, file_->failures());
  if (goes_past_ && file_->writes().any(key_)) file_->drain();
}

bool Chunked::close_later(void* under) {
  file_->chunks().place();
  if (queue_->empty() || file_->opens == 0) {
    settle();
    return false;
  }
  queue_->close_later(under);
  return true;
}

}  // namespace tailrace::hdf5
