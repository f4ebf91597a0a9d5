#include "mpiio/files/open_file.hpp"

#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <type_traits>
#include <utility>

#include "collective/plan.hpp"
#include "collective/read/collective_read.hpp"
#include "mpiio/collective/hints.hpp"
#include "mpiio/collective/ranks.hpp"
#include "mpiio/files/failures.hpp"
#include "mpiio/files/memory_of_call.hpp"
#include "mpiio/mpi/real_mpi.hpp"
#include "mpiio/pending/pending.hpp"

namespace tailrace::mpiio {

using collective::Algorithm;

namespace {

const std::byte* bytes_at(const void* memory) { return static_cast<const std::byte*>(memory); }

}  // namespace

OpenFile::OpenFile(std::string path, Mode mode, MPI_Comm comm, MPI_Info hints) : mode_(mode) {
  all_.path = std::move(path);
  all_.comm = comm;
  all_.choices = read_hints(hints, mpiio::choices());
}

OpenFile::~OpenFile() {
  if (open_) carrier().close(all_.raw);
  TAILRACE_REAL(MPI_Comm_free)(&all_.comm);
}

bool OpenFile::open() {
  const bool could = !all_.path.empty() && carries_anything() && reads_.reader().open(all_.path) == 0;
  all_.key = reads_.reader().key();
  open_ = could && mode_.writes && carrier().open(all_.path, &all_.raw) && has_its_name();
  if (!agree(could && open_ == mode_.writes)) return false;
  all_.nodes = nodes_of(all_.comm);
  choose_aggregation();
  return true;
}

// Returns true if the path still leads to the file. All processes have opened it, but none has returned to the
// program, so no process of the program has renamed it; who else has done that has been noticed.
bool OpenFile::has_its_name() const {
  struct stat found {};
  return ::stat(all_.path.c_str(), &found) == 0 && FileKey{found.st_dev, found.st_ino} == all_.key;
}

void OpenFile::change_hints(MPI_Info hints) {
  all_.choices = read_hints(hints, all_.choices);
  choose_aggregation();
}

// Returns true if all processes say yes.
bool OpenFile::agree(bool mine) const {
  int yes = mine ? 1 : 0;
  int all = 0;
  return TAILRACE_REAL(MPI_Allreduce)(&yes, &all, 1, MPI_INT, MPI_MIN, all_.comm) == MPI_SUCCESS && all == 1;
}

void OpenFile::set_view(uint64_t displacement, MPI_Datatype etype, MPI_Datatype filetype, const char* representation,
                        MPI_Info hints) {
  all_.choices = read_hints(hints, all_.choices);
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

// Decides whether accesses of all in this view may go through aggregators. Processes of one node share a page cache:
// each reads what it needs from there faster than others could send it. MPI lets the processes pass different hints:
// those of the first one are in force.
void OpenFile::choose_aggregation() {
  static_assert(std::is_trivially_copyable_v<Choices>);
  TAILRACE_REAL(MPI_Bcast)(&all_.choices, sizeof all_.choices, MPI_BYTE, 0, all_.comm);
  std::vector<collective::Contribution> all;
  const auto may_aggregate = [this, &all](const collective::Options& options) {
    if (all_.nodes.size() == 1 || options.algorithm == Algorithm::individual) return false;
    if (options.algorithm != Algorithm::automatic) return true;
    if (all.empty()) all = gather_two_copies();
    return collective::choose(all, options.large_piece) != Algorithm::individual;
  };
  aggregates_ = may_aggregate(all_.choices.writes);
  const bool one_node = std::set<int>(all_.nodes.begin(), all_.nodes.end()).size() == 1;
  const bool share_cache = one_node && all_.choices.reads.algorithm == Algorithm::automatic;
  aggregates_reads_ = !share_cache && may_aggregate(all_.choices.reads);
  reads_.reader().set_sieve(all_.choices.sieve_bytes);
}

// Returns what a write of two copies of the view's pattern would bring, by process: it shows whether the processes'
// data may be small and interleaved. Each access decides by what it has.
std::vector<collective::Contribution> OpenFile::gather_two_copies() {
  MpiExchange exchange(all_.comm, number_++);
  exchange.gather(MemoryData(view_, 0, nullptr, view_.two_copies(), nullptr).contribution());
  const std::vector<collective::Contribution>* all = nullptr;
  while ((all = exchange.gathered()) == nullptr) sched_yield();
  return *all;
}

Outcome OpenFile::write(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type) {
  const auto locked = lock();
  int error = MPI_SUCCESS;
  const auto data = memory_of_call<MemoryData>(view_, begin, bytes_at(memory), count, type, error);
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
  const bool exchanges =
      aggregates_ && all_.choices.writes.algorithm != Algorithm::automatic && exchanges_in_background();
  return exchanges ? exchange(begin, memory, count, type) : Begun{write(begin, memory, count, type)};
}

// Writes first what this process has handed over: those bytes, and those that an aggregator writes for it, may
// overlap. A process whose arguments are wrong takes part without data.
Begun OpenFile::exchange(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type) {
  unreported_ = drain();
  int error = MPI_SUCCESS;
  auto data = memory_of_call<MemoryData>(view_, begin, bytes_at(memory), count, type, error);
  return {{error, 0}, std::make_unique<WriteOfAll>(all_, number_++, std::move(data))};
}

// Cuts what has many places in the file, or lies apart in memory: lists and copies of all might need more memory than
// the bytes.
Outcome OpenFile::write_own(const MemoryData& data) {
  const uint64_t most = data.is_plain() ? data.bytes() : kAtOnce;
  for (uint64_t done = 0; done < data.bytes(); done += most) {
    const int error = hand_over(data, done, std::min(most, data.bytes() - done));
    if (error != MPI_SUCCESS) return {error, done};
  }
  return {take_failures(all_.path), data.bytes()};
}

int OpenFile::hand_over(const MemoryData& data, uint64_t begin, uint64_t length) {
  std::vector<tailrace_extent> extents;
  data.find(begin, length, extents);
  const std::byte* from = data.plain(begin);
  if (from == nullptr) {
    packed_.resize(std::max<size_t>(packed_.size(), length));
    data.copy(begin, length, packed_.data());
    from = packed_.data();
  }
  Pending::instance().wait_for_others(all_.key, extents);
  const Pending::HandingOver handing_over(all_.key, extents);
  const Refusal refused = carrier().write(all_.raw, extents, from);
  return refused.status == TAILRACE_OK ? MPI_SUCCESS : report_failure(refused.message, refused.system_errno);
}

Outcome OpenFile::read(uint64_t begin, void* memory, int64_t count, MPI_Datatype type) {
  const auto locked = lock();
  int error = MPI_SUCCESS;
  auto space = memory_of_call<MemorySpace>(view_, begin, static_cast<std::byte*>(memory), count, type, error);
  return error == MPI_SUCCESS ? read_own(space) : Outcome{error, 0};
}

// Writes first what this process has handed over: an aggregator may read it. A process whose arguments are wrong
// takes part without data.
Outcome OpenFile::read_all(uint64_t begin, void* memory, int64_t count, MPI_Datatype type) {
  const auto locked = lock();
  if (!aggregates_reads_) return read(begin, memory, count, type);
  const int earlier = drain();
  int error = MPI_SUCCESS;
  auto space = memory_of_call<MemorySpace>(view_, begin, static_cast<std::byte*>(memory), count, type, error);
  MpiExchange exchange(all_.comm, number_++);
  collective::CollectiveRead read({exchange, reads_, space}, space.contribution(), all_.nodes, all_.choices.reads);
  while (!read.has_ended()) {
    if (!read.progress()) sched_yield();
  }
  if (error != MPI_SUCCESS || earlier != MPI_SUCCESS) return {error != MPI_SUCCESS ? error : earlier, 0};
  return read.is_individual() ? read_own(space) : ended({read.bytes(), read.error()});
}

Outcome OpenFile::read_own(MemorySpace& space) {
  const collective::Source::End end = reads_.read(space, open_ ? std::optional(all_.raw) : std::nullopt);
  const int earlier = unreported_.exchange(MPI_SUCCESS);
  const int failed = take_failures(all_.path);
  if (earlier != MPI_SUCCESS || failed != MPI_SUCCESS) return {earlier != MPI_SUCCESS ? earlier : failed, 0};
  return ended(end);
}

// Returns how a read has ended.
Outcome OpenFile::ended(const collective::Source::End& end) const {
  if (end.error == 0) return {MPI_SUCCESS, end.bytes};
  return {report_failure(all_.path + " cannot be read: " + std::strerror(end.error), end.error), end.bytes};
}

int OpenFile::drain() {
  const auto locked = lock();
  const int earlier = unreported_.exchange(MPI_SUCCESS);
  const Refusal refused = Pending::instance().has(all_.key) ? Pending::instance().flush() : Refusal();
  const int failed = take_failures(all_.path);
  if (earlier != MPI_SUCCESS || failed != MPI_SUCCESS) return earlier != MPI_SUCCESS ? earlier : failed;
  return refused.status == TAILRACE_OK ? MPI_SUCCESS : report_failure(refused.message, refused.system_errno);
}

void OpenFile::wait_for_others() { Pending::instance().wait_for_others(all_.key); }

void OpenFile::meet() const { TAILRACE_REAL(MPI_Barrier)(all_.comm); }

Outcome finish(WriteOfAll& write) {
  while (!write.has_ended()) {
    if (!write.progress()) sched_yield();
  }
  return {write.error(), write.error() == MPI_SUCCESS ? write.data().bytes() : 0};
}

}  // namespace tailrace::mpiio
