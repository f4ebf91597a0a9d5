#include "mpiio/files/open_file.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "collective/plan.hpp"
#include "mpiio/collective/hints.hpp"
#include "mpiio/collective/ranks.hpp"
#include "mpiio/files/failures.hpp"
#include "mpiio/mpi/read_type.hpp"
#include "mpiio/mpi/real_mpi.hpp"

namespace tailrace::mpiio {

using collective::Algorithm;

namespace {

std::shared_ptr<const FlatType> flatten(MPI_Datatype type) {
  const TypePointer tree = read_type(type);
  return tree != nullptr ? std::make_shared<const FlatType>(*tree) : nullptr;
}

}  // namespace

OpenFile::OpenFile(std::string path, MPI_Comm comm, MPI_Info hints) {
  all_.path = std::move(path);
  all_.comm = comm;
  all_.options = read_hints(hints, collective_options());
}

OpenFile::~OpenFile() {
  if (open_) carrier().close(all_.raw);
  TAILRACE_REAL(MPI_Comm_free)(&all_.comm);
}

bool OpenFile::open() {
  open_ = !all_.path.empty() && carries_anything() && carrier().open(all_.path, &all_.raw);
  if (!agree(open_)) return false;
  all_.nodes = nodes_of(all_.comm);
  choose_aggregation();
  return true;
}

void OpenFile::change_hints(MPI_Info hints) {
  all_.options = read_hints(hints, all_.options);
  choose_aggregation();
}

// MPI lets the processes pass different hints: those of the first one are in force.
void OpenFile::share_options() {
  static_assert(std::is_trivially_copyable_v<collective::Options>);
  TAILRACE_REAL(MPI_Bcast)(&all_.options, sizeof all_.options, MPI_BYTE, 0, all_.comm);
}

// Returns true if all processes say yes.
bool OpenFile::agree(bool mine) const {
  int yes = mine ? 1 : 0;
  int all = 0;
  return TAILRACE_REAL(MPI_Allreduce)(&yes, &all, 1, MPI_INT, MPI_MIN, all_.comm) == MPI_SUCCESS && all == 1;
}

void OpenFile::set_view(uint64_t displacement, MPI_Datatype etype, MPI_Datatype filetype, const char* representation,
                        MPI_Info hints) {
  all_.options = read_hints(hints, all_.options);
  const std::shared_ptr<const FlatType> element = flatten(etype);
  const std::shared_ptr<const FlatType> pattern = flatten(filetype);
  const bool known = std::strcmp(representation, "native") == 0 && element != nullptr && pattern != nullptr &&
                     element->size() > 0 && pattern->size() > 0 && pattern->ascends() &&
                     pattern->runs()[0].offset >= 0;
  known_view_ = agree(known);
  position_ = 0;
  if (!known_view_) return;
  if (pattern->is_contiguous()) {
    view_ = View(displacement + static_cast<uint64_t>(pattern->runs()[0].offset), element->size(), nullptr);
  } else {
    view_ = View(displacement, element->size(), pattern);
  }
  choose_aggregation();
}

// Decides whether writes of all in this view may go through aggregators. All processes decide together.
void OpenFile::choose_aggregation() {
  share_options();
  const Algorithm algorithm = all_.options.algorithm;
  const bool could = all_.nodes.size() > 1 && algorithm != Algorithm::individual;
  aggregates_ = agree(could) && (algorithm != Algorithm::automatic || choose_by_view());
}

// Returns true if the processes' data in this view may be small and interleaved. Each write decides by what it has.
bool OpenFile::choose_by_view() {
  MpiExchange exchange(all_.comm, number_++);
  exchange.gather(MemoryData(view_, 0, nullptr, view_.two_copies(), nullptr).contribution());
  const std::vector<collective::Contribution>* all = nullptr;
  while ((all = exchange.gathered()) == nullptr) sched_yield();
  return collective::choose(*all, all_.options.large_piece) != Algorithm::individual;
}

// Returns no data, and the error, where the arguments are wrong.
MemoryData OpenFile::data_of(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type, int& error) const {
  const auto* from = static_cast<const std::byte*>(memory);
  const auto copies = static_cast<uint64_t>(count);
  uint64_t size = 0;
  std::shared_ptr<const FlatType> apart;
  if (!is_predefined(type, size) || size == 0) {
    apart = flatten(type);
    if (apart == nullptr) {
      error = MPI_ERR_TYPE;
      return {view_, begin, from, 0, nullptr};
    }
    size = apart->size();
    if (size > 0 && apart->is_contiguous()) from += std::exchange(apart, nullptr)->runs()[0].offset;
  }
  if (size * copies % view_.etype() == 0) return {view_, begin, from, size * copies, std::move(apart)};
  error = MPI_ERR_ARG;
  return {view_, begin, from, 0, nullptr};
}

Outcome OpenFile::write(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type) {
  const auto locked = lock();
  int error = MPI_SUCCESS;
  const MemoryData data = data_of(begin, memory, count, type, error);
  return error == MPI_SUCCESS ? write_own(data) : Outcome{error, 0};
}

Outcome OpenFile::write_all(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type) {
  const auto locked = lock();
  if (!aggregates_) return write(begin, memory, count, type);
  const Begun begun = exchange(begin, memory, count, type);
  const Outcome end = finish(*begun.going_on);
  if (begun.going_on->is_individual()) return write_own(begun.going_on->data());
  if (begun.outcome.error != MPI_SUCCESS) return begun.outcome;
  const int earlier = unreported_.exchange(MPI_SUCCESS);
  return earlier != MPI_SUCCESS ? Outcome{earlier, 0} : end;
}

Begun OpenFile::begin_write_all(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type) {
  const auto locked = lock();
  const bool exchanges = aggregates_ && all_.options.algorithm != Algorithm::automatic && exchanges_in_background();
  return exchanges ? exchange(begin, memory, count, type) : Begun{write(begin, memory, count, type)};
}

// Writes first what this process has handed over: those bytes, and those that an aggregator writes for it, may
// overlap. A process whose arguments are wrong takes part without data.
Begun OpenFile::exchange(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type) {
  unreported_ = drain();
  int error = MPI_SUCCESS;
  MemoryData data = data_of(begin, memory, count, type, error);
  return {{error, 0}, std::make_unique<WriteOfAll>(all_, number_++, std::move(data))};
}

// Cuts what has many places in the file, or lies apart in memory: lists and copies of all might need more memory than
// the bytes.
Outcome OpenFile::write_own(const MemoryData& data) {
  const uint64_t most = view_.is_contiguous() && data.is_plain() ? data.bytes() : kAtOnce;
  for (uint64_t done = 0; done < data.bytes(); done += most) {
    const int error = hand_over(data, done, std::min(most, data.bytes() - done));
    if (error != MPI_SUCCESS) return {error, done};
  }
  return {take_failures(all_.path), data.bytes()};
}

int OpenFile::hand_over(const MemoryData& data, uint64_t begin, uint64_t length) {
  pending_ = true;
  std::vector<tailrace_extent> extents;
  data.find(begin, length, extents);
  const std::byte* from = data.plain(begin);
  if (from == nullptr) {
    packed_.resize(std::max<size_t>(packed_.size(), length));
    data.copy(begin, length, packed_.data());
    from = packed_.data();
  }
  const Refusal refused = carrier().write(all_.raw, extents, from);
  return refused.status == TAILRACE_OK ? MPI_SUCCESS : report_failure(refused.message, refused.system_errno);
}

int OpenFile::drain() {
  const auto locked = lock();
  const int earlier = unreported_.exchange(MPI_SUCCESS);
  const int error = write_pending();
  return earlier != MPI_SUCCESS ? earlier : error;
}

int OpenFile::write_pending() {
  if (!std::exchange(pending_, false)) return take_failures(all_.path);
  const Refusal refused = carrier().flush();
  const int error = take_failures(all_.path);
  if (refused.status == TAILRACE_OK || error != MPI_SUCCESS) return error;
  return report_failure(refused.message, refused.system_errno);
}

void OpenFile::meet() const { TAILRACE_REAL(MPI_Barrier)(all_.comm); }

Outcome finish(WriteOfAll& write) {
  while (!write.has_ended()) {
    if (!write.progress()) sched_yield();
  }
  return {write.error(), write.error() == MPI_SUCCESS ? write.data().bytes() : 0};
}

}  // namespace tailrace::mpiio
