#include "hdf5_vol/data/contiguous.hpp"

#include <cstring>

#include "hdf5_vol/data/object.hpp"
#include "hdf5_vol/files/request.hpp"
#include "hdf5_vol/host/errors.hpp"
#include "hdf5_vol/host/inquiry.hpp"
#include "hdf5_vol/host/transfer_list.hpp"
#include "hdf5_vol/process/process.hpp"

namespace tailrace::hdf5 {

Outcome Contiguous::write(const Object& object, const Transfer& transfer, const void* data, Request* request) {
  Move move{};
  const Decision decision = decide(transfer, data, request, move);
  if (decision.turn == Turn::hdf5_when_written && !unplaced_) file_->drain();
  if (decision.turn != Turn::carried) return Outcome::pass;
  if (move.elements == 0) return Outcome::done;
  if (unplaced_) {
    const Outcome placed = take_place(object, move);
    if (placed != Outcome::done) return placed;
  }
  const std::byte* const run = move.converts ? nullptr : elements_.one_run(move, data);
  if (run == nullptr) return write_in_parts(move, transfer, static_cast<const std::byte*>(data), request);
  const std::vector<tailrace_extent> runs = elements_.runs_in_file(move, offset_);
  if (!runs.empty()) return write_runs(runs, run, true, request);
  file_->drain();
  return Outcome::pass;
}

Decision Contiguous::decide(const Transfer& transfer, const void* data, const Request* request, Move& move) {
  WriteFacts facts{.is_shown = file_->is_shown(offset_)};
  if (facts.is_shown) return turn_of(facts);
  facts.transfer = elements_.plan(transfer, data, move);
  facts.is_asynchronous = request != nullptr;
  facts.is_parallel = file_->is_parallel();
  facts.is_detached = file_->detaching().is_detached();
  facts.dataset_bytes = elements_.bytes();
  facts.smallest = Process::instance().smallest();
  if (counts(facts)) facts.is_pending = file_->writes().any(offset_);
  if (counts(facts)) {
    const bool fills = unplaced_ && unplaced_->fills() && !elements_.is_whole(move);
    const PendingWrites::Counted counted =
        file_->writes().count((fills ? elements_.count() : move.elements) * elements_.element_bytes());
    facts.writes = counted.writes;
    facts.bytes = counted.bytes;
  }
  const Decision decision = turn_of(facts);
  if (decision.turn != Turn::carried || file_->ready()) return decision;
  facts.is_refused = true;
  return turn_of(facts);
}

// Fills the elements that the first write leaves out, as HDF5 would.
Outcome Contiguous::take_place(const Object& object, const Move& move) {
  if (!unplaced_->place(object, elements_.type(), elements_.rank())) return Outcome::failed;
  const haddr_t address = place_of(object.host, object.under);
  if (address == HADDR_UNDEF) return Outcome::pass;
  offset_ = address;
  file_->begin(offset_);
  if (unplaced_->fills() && !elements_.is_whole(move))
    file_->writes().fill(offset_, elements_.bytes(), unplaced_->element());
  unplaced_.reset();
  return Outcome::done;
}

// A selection of points may have one twice, and then the later counts: such runs go one by one.
Outcome Contiguous::write_runs(const std::vector<tailrace_extent>& runs, const std::byte* data, bool data_stay,
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
Outcome Contiguous::write_in_parts(const Move& move, const Transfer& transfer, const std::byte* data,
                                   Request* request) {
  Parts parts(host_, move, elements_.element_bytes(), offset_);
  if (!parts.ok()) return Outcome::failed;
  while (parts.next()) {
    parts.gather(data);
    if (!parts.convert(transfer.memory_type, elements_.type(), transfer.list)) return Outcome::failed;
    const Outcome written = write_runs(parts.in_file(), parts.bytes(), false, request);
    if (written != Outcome::done) return written;
  }
  return parts.failed() ? Outcome::failed : Outcome::done;
}

// Lets HDF5 read at once what is in the file, unless it has been read ahead. Other data come with the writes that are
// still on their way. If that fails, as it does when the file is shorter than its datasets, the read waits for the
// writes. A transfer by a list of its own is not planned where HDF5 can do it: to look at that list takes longer than
// a call of the system.
Outcome Contiguous::read(const Transfer& transfer, void* data) {
  if (unplaced_) return Outcome::pass;
  ReadFacts facts{.is_shown = file_->is_shown(offset_)};
  if (!facts.is_shown && file_->is_parallel() && is_collective(host_, transfer.list)) {
    file_->drain();  // others may ask for what is from here
  }
  facts.is_pending = file_->writes().any(offset_);
  facts.is_parallel = file_->is_parallel();
  facts.has_own_list = transfer.list != host_.transfer;
  if (turn_of(facts).turn == Turn::hdf5) return Outcome::pass;
  Move move{};
  facts.transfer = elements_.plan(transfer, data, move);
  const std::byte* const ahead = facts.transfer == Reason::none ? find_ahead(move) : nullptr;
  facts.is_held = ahead != nullptr;
  if (turn_of(facts).turn == Turn::carried && !facts.is_held) {
    facts.are_bytes_pending = file_->writes().any(elements_.bounds(move, offset_));
  }
  const Decision decision = turn_of(facts);
  if (decision.turn == Turn::hdf5) return Outcome::pass;
  if (decision.turn == Turn::carried && read_parts(move, transfer, ahead, static_cast<std::byte*>(data))) {
    return Outcome::done;
  }
  file_->drain();
  return Outcome::pass;
}

const std::byte* Contiguous::find_ahead(const Move& move) {
  if (move.elements == 0 || !move.in_file.first) return nullptr;
  return file_->ahead().find({offset_, elements_.bytes()}, elements_.bounds(move, offset_), file_->writes());
}

bool Contiguous::read_run(const Move& move, const std::byte* ahead, std::byte* to) {
  if (ahead != nullptr) {
    std::memcpy(to, ahead, move.elements * elements_.element_bytes());
    return true;
  }
  const std::vector<tailrace_extent> runs = elements_.runs_in_file(move, offset_);
  return !runs.empty() && file_->writes().read(runs, to).status == TAILRACE_OK;
}

bool Contiguous::read_parts(const Move& move, const Transfer& transfer, const std::byte* ahead, std::byte* data) {
  if (move.elements == 0) return true;
  if (const std::byte* const run = move.converts ? nullptr : elements_.one_run(move, data)) {
    return read_run(move, ahead, data + (run - data));
  }
  Parts parts(host_, move, elements_.element_bytes(), offset_);
  if (!parts.ok()) return false;
  while (parts.next()) {
    if (ahead != nullptr) {
      std::memcpy(parts.bytes(), ahead, move.elements * elements_.element_bytes());
    } else if (file_->writes().read(parts.in_file(), parts.bytes()).status != TAILRACE_OK) {
      return false;
    }
    if (!parts.convert(elements_.type(), transfer.memory_type, transfer.list)) return false;
    parts.scatter(data);
  }
  return !parts.failed();
}

Outcome Contiguous::refuse(const char* function, const Refusal& why) const {
  push_error(host_, function, why.message);
  return Outcome::failed;
}

}  // namespace tailrace::hdf5
