#include "hdf5_vol/data/dataset.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "hdf5_vol/data/object.hpp"
#include "hdf5_vol/data/parallel.hpp"
#include "hdf5_vol/files/request.hpp"
#include "hdf5_vol/host/errors.hpp"
#include "hdf5_vol/host/inquiry.hpp"
#include "hdf5_vol/host/transfer_list.hpp"
#include "hdf5_vol/process/process.hpp"

namespace tailrace::hdf5 {
namespace {

// Returns true if the elements hold all of their data. Data that lie elsewhere, or that refer to objects, are HDF5's
// own.
bool is_flat(const Host& host, hid_t type) {
  return host.H5Tdetect_class(type, H5T_VLEN) == 0 && host.H5Tdetect_class(type, H5T_REFERENCE) == 0 &&
         host.H5Tis_variable_str(type) == 0 && host.H5Tdetect_class(type, H5T_STRING) == 0;
}

// Returns true if the data may be computed on their way. HDF5 treats the question as an error if nothing was set; if
// it cannot be kept from printing that error, it is not asked.
bool may_transform(const Host& host, hid_t transfer) {
  const Quiet quiet(host);
  if (!quiet.can()) return true;
  return host.H5Pget_data_transform(transfer, nullptr, 0) > 0;
}

}  // namespace

Dataset::~Dataset() {
  give_back();
  if (file_ != nullptr) file_->ahead().forget(offset_);
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
  facts.is_flat = dataset->take_type(object);
  if (way_of(facts).way == Way::hdf5) {
    dataset->give_back();
    return dataset;
  }
  facts.small_too = which == Which::small_too;
  dataset->look_at_place(object, facts);
  if (dataset->file_ == nullptr) dataset->give_back();
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
  chunked_ = Chunked::look_at(file, token, dcpl, space, dapl, type_);
  if (space >= 0) host_.H5Sclose(space);
  host_.close_list(dapl);
  if (chunked_ == nullptr) return;
  file_ = file;
  offset_ = Chunked::key_of(token);
}

// Copies a named type: the original would hold the file open.
bool Dataset::take_type(const Object& object) {
  const hid_t type = get(object.host, object.under, H5VL_DATASET_GET_TYPE);
  if (type < 0) return false;
  type_ = host_.H5Tcopy(type);
  host_.H5Tclose(type);
  if (type_ < 0 || !is_flat(host_, type_)) return false;
  element_ = host_.H5Tget_size(type_);
  return true;
}

void Dataset::find_place(const Object& object, const std::shared_ptr<File>& file, hid_t dcpl, DatasetFacts& facts) {
  space_ = get(object.host, object.under, H5VL_DATASET_GET_SPACE);
  look_at_extent();
  facts.bytes = elements_ * element_;
  facts.smallest = Process::instance().smallest();
  const Answer by_size = way_of(facts);
  small_ = by_size.why == Reason::small && !facts.is_parallel;
  if (by_size.way == Way::hdf5) return;
  const haddr_t address = place_of(object.host, object.under);
  facts.has_place = address != HADDR_UNDEF;
  changes_ = !facts.has_place && !facts.is_parallel;
  if (way_of(facts).way == Way::placed_first) unplaced_ = Unplaced::look_at(host_, dcpl, type_);
  facts.has_fill = facts.has_place || unplaced_.has_value();
  facts.is_refused = file->writes().is_refused();
  if (way_of(facts).way == Way::hdf5) return;
  offset_ = address;
  file_ = file;
}

void Dataset::look_at_extent() {
  elements_ = space_ >= 0 ? static_cast<uint64_t>(host_.H5Sget_simple_extent_npoints(space_)) : 0;
  if (space_ >= 0) extent_ = Extent::of(host_, space_);
}

void Dataset::look_together(Object& object) {
  if (File::any_parallel() && object.dataset == nullptr) object.dataset = look_at(object);
}

std::shared_ptr<File> Dataset::file_around(const Object& object, H5I_type_t type) {
  if (object.file != nullptr || !File::any()) return object.file;
  return file_of(object.host, identity_of(object.host, object.under, type).fileno);
}

void Dataset::give_back() {
  if (type_ >= 0) host_.H5Tclose(type_);
  if (space_ >= 0) host_.H5Sclose(space_);
  type_ = space_ = H5I_INVALID_HID;
}

// One that cannot be changed need not be looked at again.
bool Dataset::is_of_type(hid_t type) const {
  if (type == same_type_) return true;
  const bool same = host_.H5Tequal(type, type_) > 0;
  if (same && host_.is_predefined(type)) same_type_ = type;
  return same;
}

// Between numbers.
bool Dataset::may_convert(hid_t memory_type) const {
  const auto simple = [this](hid_t type) {
    const H5T_class_t of = host_.H5Tget_class(type);
    return of == H5T_INTEGER || of == H5T_FLOAT || of == H5T_BITFIELD || of == H5T_ENUM;
  };
  return simple(memory_type) && simple(type_);
}

// Whole chunks, from one run of memory.
Dataset::Outcome Dataset::write_chunks(const Object& object, hid_t memory_type, hid_t memory_space, hid_t file_space,
                                       hid_t transfer, const void* data, Request* request) {
  // Its extent may have changed since the last time.
  if (space_ >= 0) host_.H5Sclose(space_);
  space_ = get(object.host, object.under, H5VL_DATASET_GET_SPACE);
  look_at_extent();
  Move move{};
  ChunkWriteFacts facts;
  facts.has_usual_list = is_usual_transfer(host_, transfer);
  if (why_not(facts) == Reason::none) {
    facts.transfer = plan(memory_type, memory_space, file_space, transfer, data, move);
  }
  if (why_not(facts) == Reason::none) {
    if (move.elements == 0) return Outcome::done;
    const std::byte* const run = one_run(move, data);
    facts.is_one_run = run != nullptr;
    if (why_not(facts) == Reason::none && chunked_->write(object.under, memory_type, move.file_space, run, request)) {
      return Outcome::done;
    }
  }
  chunked_->settle();
  return Outcome::pass;
}

// Makes the move, as far as it can be made. Returns why HDF5 has to make it instead.
Reason Dataset::plan(hid_t memory_type, hid_t memory_space, hid_t file_space, hid_t transfer, const void* data,
                     Move& move) const {
  TransferFacts facts;
  facts.has_data = data != nullptr;
  if (facts.has_data) facts.is_transformed = transfer != host_.transfer && may_transform(host_, transfer);
  if (why_not(facts) != Reason::none) return why_not(facts);
  facts.has_selection = select(memory_space, file_space, move);
  if (why_not(facts) != Reason::none) return why_not(facts);
  move.converts = facts.converts = !is_of_type(memory_type);
  move.memory_element = move.converts ? host_.H5Tget_size(memory_type) : element_;
  facts.has_numbers = !move.converts || may_convert(memory_type);
  return why_not(facts);
}

// Sets where the elements lie. Returns false if that is not understood, or is wrong.
bool Dataset::select(hid_t memory_space, hid_t file_space, Move& move) const {
  if (space_ < 0) return false;
  move.file_space = space_;
  move.in_file = {elements_, false, 0};
  if (file_space != H5S_ALL) {
    if (file_space <= H5S_PLIST) return false;
    const auto selected = Selection::look(host_, file_space, &extent_);
    if (!selected) return false;
    move.file_space = file_space;
    move.in_file = *selected;
  }
  move.elements = move.in_file.elements;
  move.memory_space = memory_space == H5S_ALL ? file_space : memory_space;
  if (move.memory_space == H5S_BLOCK) move.memory_space = H5S_ALL;
  if (move.memory_space == H5S_PLIST) return false;
  move.first_in_memory = 0;
  if (move.memory_space != H5S_ALL) {
    const auto selected = Selection::look(host_, move.memory_space, nullptr);
    if (!selected || selected->elements != move.elements) return false;
    move.first_in_memory = selected->first;
  }
  return true;
}

// Returns true if all of the dataset is written. (A selection of points may have some of them twice.)
bool Dataset::is_whole(const Move& move) const { return move.elements == elements_ && !move.in_file.is_points; }

// Where the elements begin, if they lie one after the other in memory; else null.
const std::byte* Dataset::one_run(const Move& move, const void* data) const {
  const auto* bytes = static_cast<const std::byte*>(data);
  if (move.first_in_memory) return bytes + *move.first_in_memory * move.memory_element;
  SelectionWalk walk(host_, move.memory_space, move.memory_element);
  uint64_t begin = 0;
  return walk.ok() && walk.is_one_run(move.elements, begin) ? bytes + begin : nullptr;
}

// Where the elements lie in the file; empty on an error.
std::vector<tailrace_extent> Dataset::runs_in_file(const Move& move) const {
  if (move.in_file.first) return {{offset_ + *move.in_file.first * element_, move.elements * element_}};
  SelectionWalk walk(host_, move.file_space, element_);
  std::vector<tailrace_extent> runs;
  if (!walk.ok() || !walk.next(move.elements, offset_, runs)) runs.clear();
  return runs;
}

// The bytes among which the elements lie in the file.
tailrace_extent Dataset::bounds(const Move& move) const {
  if (move.in_file.first) return {offset_ + *move.in_file.first * element_, move.elements * element_};
  return {offset_, elements_ * element_};
}

Dataset::Outcome Dataset::write(const Object& object, hid_t memory_type, hid_t memory_space, hid_t file_space,
                                hid_t transfer, const void* data, Request* request) {
  if (is_virtual_) prepare_sources();
  if (chunked_) return write_chunks(object, memory_type, memory_space, file_space, transfer, data, request);
  if (file_ == nullptr) return Outcome::pass;
  Move move{};
  const Decision decision = decide(memory_type, memory_space, file_space, transfer, data, request, move);
  if (decision.turn == Turn::hdf5_when_written && !unplaced_) file_->drain();
  if (decision.turn != Turn::carried) return Outcome::pass;
  if (move.elements == 0) return Outcome::done;
  if (unplaced_) {
    const Outcome placed = take_place(object, move);
    if (placed != Outcome::done) return placed;
  }
  const std::byte* const run = move.converts ? nullptr : one_run(move, data);
  if (run == nullptr) {
    return write_in_parts(move, memory_type, transfer, static_cast<const std::byte*>(data), request);
  }
  const std::vector<tailrace_extent> runs = runs_in_file(move);
  if (!runs.empty()) return write_runs(runs, run, true, request);
  file_->drain();
  return Outcome::pass;
}

Decision Dataset::decide(hid_t memory_type, hid_t memory_space, hid_t file_space, hid_t transfer, const void* data,
                         const Request* request, Move& move) {
  WriteFacts facts{.is_shown = file_->is_shown(offset_)};
  if (facts.is_shown) return turn_of(facts);
  facts.transfer = plan(memory_type, memory_space, file_space, transfer, data, move);
  facts.is_asynchronous = request != nullptr;
  facts.is_parallel = file_->is_parallel();
  facts.is_detached = file_->detaching().is_detached();
  facts.is_pending = file_->writes().any(offset_);
  facts.dataset_bytes = elements_ * element_;
  facts.smallest = Process::instance().smallest();
  if (counts(facts)) {
    const bool fills = unplaced_ && unplaced_->fills() && !is_whole(move);
    const PendingWrites::Counted counted = file_->writes().count((fills ? elements_ : move.elements) * element_);
    facts.writes = counted.writes;
    facts.bytes = counted.bytes;
  }
  if (turn_of(facts).turn == Turn::carried) facts.is_refused = !file_->ready();
  return turn_of(facts);
}

// Fills the elements that the first write leaves out, as HDF5 would.
Dataset::Outcome Dataset::take_place(const Object& object, const Move& move) {
  if (!unplaced_->place(object, type_, extent_.rank)) return Outcome::failed;
  const haddr_t address = place_of(object.host, object.under);
  if (address == HADDR_UNDEF) return Outcome::pass;
  offset_ = address;
  if (unplaced_->fills() && !is_whole(move))
    file_->writes().fill(offset_, elements_ * element_, unplaced_->element());
  unplaced_.reset();
  changes_ = false;
  return Outcome::done;
}

// A selection of points may have one twice, and then the later counts: such runs go one by one.
Dataset::Outcome Dataset::write_runs(const std::vector<tailrace_extent>& runs, const std::byte* data, bool data_stay,
                                     Request* request) {
  const Refusal refused = write_for(request, *file_, offset_, runs, data, data_stay);
  if (refused.status == TAILRACE_OK) return Outcome::done;
  if (refused.status != TAILRACE_INVALID_ARGUMENT || runs.size() == 1) return refuse("H5Dwrite", refused);
  for (const tailrace_extent& run : runs) {
    const Refusal why = write_for(request, *file_, offset_, {&run, 1}, data);
    if (why.status != TAILRACE_OK) return refuse("H5Dwrite", why);
    data += run.length;
  }
  return Outcome::done;
}

// Gathers what lies apart in memory, and converts what has another type there.
Dataset::Outcome Dataset::write_in_parts(const Move& move, hid_t memory_type, hid_t transfer, const std::byte* data,
                                         Request* request) {
  Parts parts(host_, move, element_, offset_);
  if (!parts.ok()) return Outcome::failed;
  while (parts.next()) {
    parts.gather(data);
    if (!parts.convert(memory_type, type_, transfer)) return Outcome::failed;
    const Outcome written = write_runs(parts.in_file(), parts.bytes(), false, request);
    if (written != Outcome::done) return written;
  }
  return parts.failed() ? Outcome::failed : Outcome::done;
}

// HDF5 opens them by itself, wherever they are.
void Dataset::prepare_sources() {
  drain_all();
  Process::instance().detached().wait_for_all();
}

// Lets HDF5 read at once what is in the file, unless it has been read ahead. Other data come with the writes that are
// still on their way. If that fails, as it does when the file is shorter than its datasets, the read waits for the
// writes. A transfer by a list of its own is not planned where HDF5 can do it: to look at that list takes longer than
// a call of the system.
Dataset::Outcome Dataset::read(hid_t memory_type, hid_t memory_space, hid_t file_space, hid_t transfer, void* data) {
  if (is_virtual_) prepare_sources();
  if (file_ == nullptr || unplaced_) return Outcome::pass;
  if (chunked_) {
    chunked_->settle();
    return Outcome::pass;
  }
  ReadFacts facts{.is_shown = file_->is_shown(offset_)};
  if (!facts.is_shown && passes_alone() && is_collective(host_, transfer)) {
    file_->drain();  // others may ask for what is from here
  }
  facts.is_pending = file_->writes().any(offset_);
  facts.is_parallel = file_->is_parallel();
  facts.has_own_list = transfer != host_.transfer;
  if (turn_of(facts).turn == Turn::hdf5) return Outcome::pass;
  Move move{};
  facts.transfer = plan(memory_type, memory_space, file_space, transfer, data, move);
  const std::byte* const ahead = facts.transfer == Reason::none ? find_ahead(move) : nullptr;
  facts.is_held = ahead != nullptr;
  if (turn_of(facts).turn == Turn::carried && !facts.is_held)
    facts.are_bytes_pending = file_->writes().any(bounds(move));
  const Decision decision = turn_of(facts);
  if (decision.turn == Turn::hdf5) return Outcome::pass;
  if (decision.turn == Turn::carried &&
      read_parts(move, memory_type, transfer, ahead, static_cast<std::byte*>(data))) {
    return Outcome::done;
  }
  file_->drain();
  return Outcome::pass;
}

const std::byte* Dataset::find_ahead(const Move& move) {
  if (move.elements == 0 || !move.in_file.first) return nullptr;
  return file_->ahead().find({offset_, elements_ * element_}, bounds(move), file_->writes());
}

bool Dataset::read_run(const Move& move, const std::byte* ahead, std::byte* to) {
  if (ahead != nullptr) {
    std::memcpy(to, ahead, move.elements * element_);
    return true;
  }
  const std::vector<tailrace_extent> runs = runs_in_file(move);
  return !runs.empty() && file_->writes().read(runs, to).status == TAILRACE_OK;
}

bool Dataset::read_parts(const Move& move, hid_t memory_type, hid_t transfer, const std::byte* ahead,
                         std::byte* data) {
  if (move.elements == 0) return true;
  if (const std::byte* const run = move.converts ? nullptr : one_run(move, data)) {
    return read_run(move, ahead, data + (run - data));
  }
  Parts parts(host_, move, element_, offset_);
  if (!parts.ok()) return false;
  while (parts.next()) {
    if (ahead != nullptr) {
      std::memcpy(parts.bytes(), ahead, move.elements * element_);
    } else if (file_->writes().read(parts.in_file(), parts.bytes()).status != TAILRACE_OK) {
      return false;
    }
    if (!parts.convert(type_, memory_type, transfer)) return false;
    parts.scatter(data);
  }
  return !parts.failed();
}

Dataset::Outcome Dataset::refuse(const char* function, const Refusal& why) const {
  push_error(host_, function, why.message);
  return Outcome::failed;
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
  if (file_ != nullptr && !unplaced_) file_->show(offset_);
}

bool Dataset::close_later(void* under) { return chunked_ && chunked_->close_later(under); }

bool Dataset::ends_with_close(const Object& object) const {
  if (file_ == nullptr || !(file_->is_parallel() ? file_->has_unlinked : file_->writes().any(offset_))) return false;
  return identity_of(object.host, object.under, H5I_DATASET).rc == 0;
}

bool Dataset::tell_failures() const {
  if (file_ == nullptr) return true;
  const std::vector<std::string> failures = file_->take_failures();
  for (const std::string& failure : failures) push_error(host_, "H5Dwrite", failure);
  return failures.empty();
}

}  // namespace tailrace::hdf5
