#include "mpiio/files/open_file.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "collective/plan.hpp"
#include "collective/read/collective_read.hpp"
#include "mpiio/collective/hints.hpp"
#include "mpiio/files/failures.hpp"
#include "mpiio/mpi/memory_of_call.hpp"
#include "mpiio/mpi/real_mpi.hpp"
#include "mpiio/pending/pending.hpp"

namespace tailrace::mpiio {

using collective::Algorithm;

namespace {

const std::byte* bytes_at(const void* memory) { return static_cast<const std::byte*>(memory); }

Obstacle obstacle_of(const char* representation, const FlatType* etype, const FlatType* filetype) {
  if (std::strcmp(representation, "native") != 0) return Obstacle::representation;
  if (etype == nullptr || etype->size() == 0) return Obstacle::etype;
  if (filetype == nullptr) return Obstacle::filetype;
  const bool below_zero = filetype->size() > 0 && filetype->runs()[0].offset < 0;
  return filetype->ascends() && !below_zero ? Obstacle::none : Obstacle::overlap;
}

}  // namespace

OpenFile::OpenFile(MPI_File handle, std::string path, Mode mode, std::shared_ptr<const Group> group, MPI_Info hints)
    : handle_(handle), mode_(mode), group_(std::move(group)), output_(std::move(path), own_), reads_(own_, output_) {
  all_.comm = group_->comm();
  all_.choices = read_hints(hints, mpiio::choices());
}

OpenFile::~OpenFile() {
  if (has_own_comm_) TAILRACE_REAL(MPI_Comm_free)(&all_.comm);
}

// The processes exchange what they know when they next need it: until then it has arrived, and nothing waits.
void OpenFile::open(Obstacle mine, MPI_Offset position) {
  if (mine == Obstacle::none) not_opened_ = own_.open(output_.path(), mode_.reads, mode_.writes);
  const bool opens = mine == Obstacle::none && not_opened_ == 0;
  if (mine == Obstacle::none && !opens) mine = Obstacle::not_opened;
  if (opens && !own_.has_twin()) {
    own_.close();
    mine = Obstacle::renamed;
  }
  known_view_ = mine == Obstacle::none;
  position_ = position;
  openings_.assign(static_cast<size_t>(group_->size()), Opening{mine, Pending::instance().node(), all_.choices});
  group_->begin_gather(openings_, &gathering_);
  if (exchanges_in_background()) agree();
}

void OpenFile::agree() {
  const auto locked = lock();
  if (openings_.empty()) return;
  TAILRACE_REAL(MPI_Wait)(&gathering_, MPI_STATUS_IGNORE);
  const std::vector<Opening> all = std::exchange(openings_, {});
  if (tell_obstacles(all)) {
    is_obstructed_ = true;
    if (!std::exchange(known_view_, false)) return;
    if (const int failed = drain(); failed != MPI_SUCCESS) keep(failed);  // this process may have carried data
    TAILRACE_REAL(MPI_File_seek)(handle_, position_, MPI_SEEK_SET);
    return;
  }
  all_.choices = all[0].choices;
  for (const Opening& one : all) {
    const auto first = std::find_if(all.begin(), all.end(), [&](const Opening& of) { return of.node == one.node; });
    all_.nodes.push_back(static_cast<int>(first - all.begin()));
  }
  two_copies_.assign(all.size(), two_copies());
  choose_aggregation();
}

// Tells what is in the way of carrying the file, by the first process that knows it. Returns false if nothing is.
template <class Told>
bool OpenFile::tell_obstacles(const std::vector<Told>& all) const {
  const auto first =
      std::find_if(all.begin(), all.end(), [](const Told& one) { return one.obstacle != Obstacle::none; });
  if (first == all.end()) return false;
  if (first - all.begin() == group_->rank()) tell_obstacle(output_.path(), first->obstacle, not_opened_);
  return true;
}

void OpenFile::change_hints(MPI_Info hints) {
  agree();
  if (is_obstructed_) return;
  all_.choices = group_->gather(read_hints(hints, all_.choices))[0];
  choose_aggregation();
}

void OpenFile::set_view(uint64_t displacement, MPI_Datatype etype, MPI_Datatype filetype, const char* representation,
                        MPI_Info hints) {
  agree();
  if (is_obstructed_) return;
  const std::shared_ptr<const FlatType> element = flatten(etype);
  const std::shared_ptr<const FlatType> pattern = flatten(filetype);
  const Obstacle mine = obstacle_of(representation, element.get(), pattern.get());
  view_ = View();
  if (mine == Obstacle::none && pattern->size() > 0 && pattern->is_contiguous()) {
    view_ = View(displacement + static_cast<uint64_t>(pattern->runs()[0].offset), element->size(), nullptr);
  } else if (mine == Obstacle::none) {
    view_ = View(displacement, element->size(), pattern);
  }
  const std::vector<Viewing> all = group_->gather(Viewing{mine, read_hints(hints, all_.choices), two_copies()});
  all_.choices = all[0].choices;
  position_ = 0;
  known_view_ = !tell_obstacles(all);
  if (!known_view_) return;
  for (size_t i = 0; i < all.size(); ++i) two_copies_[i] = all[i].two_copies;
  choose_aggregation();
}

// Decides whether collective accesses in this view may go through aggregators. Processes of one node share a page
// cache: each reads what it needs from there faster than others could send it. MPI lets the processes pass different
// hints: those of the first one are in force.
void OpenFile::choose_aggregation() {
  const auto may_aggregate = [this](const collective::Options& options) {
    if (all_.nodes.size() == 1 || options.algorithm == Algorithm::individual) return false;
    return options.algorithm != Algorithm::automatic ||
           collective::choose(two_copies_, options.large_piece) != Algorithm::individual;
  };
  aggregates_ = may_aggregate(all_.choices.writes);
  const bool one_node = std::set<int>(all_.nodes.begin(), all_.nodes.end()).size() == 1;
  const bool share_cache = one_node && all_.choices.reads.algorithm == Algorithm::automatic;
  aggregates_reads_ = !share_cache && may_aggregate(all_.choices.reads);
  reads_.reader().set_sieve(all_.choices.sieve_bytes);
  // An exchange that goes on in the background may not meet those of other files.
  if (aggregates_ && exchanges_in_background() && !has_own_comm_) {
    has_own_comm_ = true;
    TAILRACE_REAL(MPI_Comm_dup)(group_->comm(), &all_.comm);
  }
}

uint32_t OpenFile::next_number() { return has_own_comm_ ? number_++ : group_->next_number(); }

// Returns what a write of two copies of the view's pattern would bring: it shows whether the processes' data may be
// small and interleaved. Each access decides by what it has.
collective::Contribution OpenFile::two_copies() const {
  return MemoryData(view_, 0, nullptr, view_.two_copies(), nullptr).contribution();
}

void OpenFile::set_atomic(bool atomic) {
  atomic_ = atomic;
  if (atomic && group_->rank() == 0) tell_obstacle(output_.path(), Obstacle::atomic);
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
  const Outcome end = finish(*begun.in_background);
  if (begun.in_background->is_individual()) return write_own(begun.in_background->data());
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
  return {{error, 0}, std::make_shared<AggregatedWrite>(output_, all_, next_number(), std::move(data))};
}

// Cuts what has many places in the file, or lies apart in memory: lists and copies of all might need more memory than
// the bytes.
Outcome OpenFile::write_own(const MemoryData& data) {
  const uint64_t most = data.is_plain() ? data.bytes() : kAtOnce;
  for (uint64_t done = 0; done < data.bytes(); done += most) {
    const uint64_t length = std::min(most, data.bytes() - done);
    std::vector<tailrace_extent> extents;
    data.find(done, length, extents);
    const std::byte* from = data.plain(done);
    if (from == nullptr) {
      packed_.resize(std::max<size_t>(packed_.size(), length));
      data.copy(done, length, packed_.data());
      from = packed_.data();
    }
    const Refusal refused = output_.write(extents, from);
    if (refused.status != TAILRACE_OK) return {report_failure(refused.message, refused.system_errno), done};
  }
  return {take_failures(output_.path()), data.bytes()};
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
  MpiExchange exchange(all_.comm, next_number());
  collective::CollectiveRead read({exchange, reads_, space}, space.contribution(), all_.nodes, all_.choices.reads);
  while (!read.has_ended()) {
    if (!read.progress()) sched_yield();
  }
  if (error != MPI_SUCCESS || earlier != MPI_SUCCESS) return {error != MPI_SUCCESS ? error : earlier, 0};
  return read.is_individual() ? read_own(space) : ended({read.bytes(), read.error()});
}

Outcome OpenFile::read_own(MemorySpace& space) {
  const collective::Source::End end = reads_.read(space);
  const int earlier = unreported_.exchange(MPI_SUCCESS);
  const int failed = take_failures(output_.path());
  if (earlier != MPI_SUCCESS || failed != MPI_SUCCESS) return {earlier != MPI_SUCCESS ? earlier : failed, 0};
  return ended(end);
}

// Returns how a read has ended.
Outcome OpenFile::ended(const collective::Source::End& end) const {
  if (end.error == 0) return {MPI_SUCCESS, end.bytes};
  return {report_failure(output_.path() + " cannot be read: " + std::strerror(end.error), end.error), end.bytes};
}

int OpenFile::drain() {
  const auto locked = lock();
  const int earlier = unreported_.exchange(MPI_SUCCESS);
  const Refusal refused = Pending::instance().has(own_.key()) ? Pending::instance().flush() : Refusal();
  const int failed = take_failures(output_.path());
  if (earlier != MPI_SUCCESS || failed != MPI_SUCCESS) return earlier != MPI_SUCCESS ? earlier : failed;
  return refused.status == TAILRACE_OK ? MPI_SUCCESS : report_failure(refused.message, refused.system_errno);
}

void OpenFile::wait_for_others() { Pending::instance().wait_for_others(own_.key()); }

Outcome finish(AggregatedWrite& write) {
  while (!write.has_ended()) {
    if (!write.progress()) sched_yield();
  }
  return {write.error(), write.error() == MPI_SUCCESS ? write.data().bytes() : 0};
}

}  // namespace tailrace::mpiio
