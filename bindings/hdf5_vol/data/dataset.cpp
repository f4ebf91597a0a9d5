#include "hdf5_vol/data/dataset.hpp"

#include <optional>
#include <utility>

#include "hdf5_vol/data/object.hpp"
#include "hdf5_vol/data/parallel.hpp"
#include "hdf5_vol/host/errors.hpp"
#include "hdf5_vol/host/inquiry.hpp"
#include "hdf5_vol/host/transfer_list.hpp"
#include "hdf5_vol/process/process.hpp"

namespace tailrace::hdf5 {

Dataset::~Dataset() {
  if (file_ != nullptr) file_->ahead().forget(key());
}

std::shared_ptr<Dataset> Dataset::left_to_hdf5(Host& host) {
  if (host.left_to_hdf5 == nullptr) {
    host.left_to_hdf5.reset(new Dataset(host));
    host.left_to_hdf5->small_ = true;
  }
  return host.left_to_hdf5;
}

std::shared_ptr<Dataset> Dataset::look_at(const Object& object, Which which) {
  Host& host = object.host;
  std::shared_ptr<Dataset> dataset(new Dataset(host));
  if (!File::any()) {
    dataset->files_then_ = File::made();
    return dataset;
  }
  // Asked for the creation properties of any other, HDF5 would convert the fill value, and keep what our properties
  // of the transfer say of memory for the rest of the program's call, which may say otherwise.
  DatasetFacts facts;
  facts.is_flat = dataset->elements_.take_type(object.under);
  if (way_of(facts).way == Way::hdf5) {
    dataset->elements_.give_back();
    return dataset;
  }
  facts.small_too = which == Which::small_too;
  dataset->look_at_place(object, facts);
  if (dataset->file_ == nullptr) dataset->elements_.give_back();
  return dataset;
}

void Dataset::look_at_place(const Object& object, DatasetFacts& facts) {
  const H5O_info2_t identity = identity_of(object.host, object.under, H5I_DATASET);
  const std::shared_ptr<File> file = file_of(host_, identity.fileno);
  if (file == nullptr) files_then_ = File::made();
  facts.is_of_carried_file = file != nullptr;
  facts.is_parallel = file != nullptr && file->is_parallel();
  const hid_t dcpl = object.is_usual ? host_.dataset_creation : get(object.host, object.under, H5VL_DATASET_GET_DCPL);
  if (dcpl < 0) return;
  if (!object.is_usual) facts.layout = look_at_layout(dcpl);
  if (way_of(facts).way != Way::hdf5) {
    facts.layout == Layout::chunked ? find_chunks(object, file, identity.token, dcpl)
                                    : find_place(object, file, dcpl, facts);
  }
  if (!object.is_usual) host_.H5Pclose(dcpl);
}

Layout Dataset::look_at_layout(hid_t dcpl) {
  const H5D_layout_t layout = host_.H5Pget_layout(dcpl);
  is_virtual_ = layout == H5D_VIRTUAL;
  if (layout == H5D_CHUNKED) return Layout::chunked;
  if (layout != H5D_CONTIGUOUS) return Layout::other;
  return host_.H5Pget_external_count(dcpl) == 0 ? Layout::contiguous : Layout::external;
}

void Dataset::find_chunks(const Object& object, const std::shared_ptr<File>& file, const H5O_token_t& token,
                          hid_t dcpl) {
  // It may have been open otherwise before.
  if (file->writes().any(Chunked::key_of(token))) file->drain();
  const hid_t dapl = get(object.host, object.under, H5VL_DATASET_GET_DAPL);
  const hid_t space = get(object.host, object.under, H5VL_DATASET_GET_SPACE);
  chunked_ = Chunked::look_at(file, token, dcpl, space, dapl, elements_.type());
  if (space >= 0) host_.H5Sclose(space);
  host_.close_list(dapl);
  if (chunked_ == nullptr) return;
  file_ = file;
  chunks_key_ = Chunked::key_of(token);
}

void Dataset::find_place(const Object& object, const std::shared_ptr<File>& file, hid_t dcpl, DatasetFacts& facts) {
  elements_.take_extent(object.under);
  facts.bytes = elements_.bytes();
  facts.smallest = Process::instance().smallest();
  const Answer by_size = way_of(facts);
  small_ = by_size.why == Reason::small && !facts.is_parallel;
  if (by_size.way == Way::hdf5) return;
  const haddr_t address = place_of(object.host, object.under);
  facts.has_place = address != HADDR_UNDEF;
  changes_ = !facts.has_place && !facts.is_parallel;
  std::optional<Unplaced> unplaced;
  if (way_of(facts).way == Way::placed_first) unplaced = Unplaced::look_at(host_, dcpl, elements_.type());
  facts.has_fill = facts.has_place || unplaced.has_value();
  facts.is_refused = file->writes().is_refused();
  if (way_of(facts).way == Way::hdf5) return;
  contiguous_.emplace(host_, file, elements_, address, std::move(unplaced));
  file_ = file;
}

void Dataset::look_together(Object& object) {
  if (File::any_parallel() && object.dataset == nullptr) object.dataset = look_at(object);
}

std::shared_ptr<File> Dataset::file_around(const Object& object, H5I_type_t type) {
  if (object.file != nullptr || !File::any()) return object.file;
  return file_of(object.host, identity_of(object.host, object.under, type).fileno);
}

// Whole chunks, from one run of memory. The extent of the dataset may have changed since the last time.
Outcome Dataset::write_chunks(const Object& object, const Transfer& transfer, const void* data, Request* request) {
  elements_.take_extent(object.under);
  Move move{};
  ChunkWriteFacts facts{.has_usual_list = is_usual_transfer(host_, transfer.list)};
  if (why_not(facts) == Reason::none) facts.transfer = elements_.plan(transfer, data, move);
  const std::byte* run = nullptr;
  if (why_not(facts) == Reason::none) {
    if (move.elements == 0) return Outcome::done;
    run = elements_.one_run(move, data);
    facts.is_one_run = run != nullptr;
  }
  if (why_not(facts) == Reason::none &&
      chunked_->write(object.under, transfer.memory_type, move.file_space, run, request)) {
    return Outcome::done;
  }
  chunked_->settle();
  return Outcome::pass;
}

Outcome Dataset::write(const Object& object, const Transfer& transfer, const void* data, Request* request) {
  if (is_virtual_) prepare_sources();
  if (chunked_) return write_chunks(object, transfer, data, request);
  return contiguous_ ? contiguous_->write(object, transfer, data, request) : Outcome::pass;
}

Outcome Dataset::read(const Transfer& transfer, void* data) {
  if (is_virtual_) prepare_sources();
  settle_chunks();
  return contiguous_ ? contiguous_->read(transfer, data) : Outcome::pass;
}

// HDF5 opens them by itself, wherever they are.
void Dataset::prepare_sources() const {
  drain_all(host_);
  Process::instance().detached().wait_for_all();
}

Carried Dataset::carried(hid_t file_space) const {
  if (chunked_ && chunked_->filters()) return Carried::chunks;
  const bool some = file_space <= H5S_PLIST || host_.H5Sget_select_npoints(file_space) > 0;
  return some ? Carried::data : Carried::nothing;
}

void Dataset::settle_chunks() {
  if (chunked_) chunked_->settle();
}

void Dataset::show_place() {
  if (file_ != nullptr && !(contiguous_ && !contiguous_->has_place())) file_->show(key());
}

bool Dataset::close_later(void* under) { return chunked_ && chunked_->close_later(under); }

bool Dataset::ends_with_close(const Object& object) const {
  if (file_ == nullptr || !(file_->is_parallel() ? file_->has_unlinked : file_->writes().any(key()))) return false;
  return identity_of(object.host, object.under, H5I_DATASET).rc == 0;
}

bool Dataset::tell_failures() const {
  if (file_ == nullptr) return true;
  const std::vector<std::string> failures = file_->take_failures();
  for (const std::string& failure : failures) push_error(host_, "H5Dwrite", failure);
  return failures.empty();
}

}  // namespace tailrace::hdf5
