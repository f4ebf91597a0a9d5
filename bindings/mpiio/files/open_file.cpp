#include "mpiio/files/open_file.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <utility>

#include "collective/read/collective_read.hpp"
#include "mpiio/collective/hints.hpp"
#include "mpiio/files/aggregated_read.hpp"
#include "mpiio/files/background_reads.hpp"
#include "mpiio/mpi/memory_of_call.hpp"
#include "mpiio/mpi/real_mpi.hpp"
#include "mpiio/pending/pending.hpp"
#include "mpiio/transfer/failures.hpp"

namespace tailrace::mpiio {

using Use = NodeWrites::Use;

namespace {

// Returns the use that a collective write makes of the node's buffer: the wanted one, or none.
Use use_of(const NodeWrites& writes, const Collectives& collectives, Use wanted) {
  using Kind = Collectives::Kind;
  const Kind kind = wanted == Use::waiting ? Kind::blocking : Kind::nonblocking;
  return collectives.uses_node_buffer(kind) && writes.is_open() ? wanted : Use::none;
}

bool has_bytes(int64_t count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (type != MPI_DATATYPE_NULL) TAILRACE_REAL(MPI_Type_size_x)(type, &size);
  return count > 0 && size > 0;
}

const std::byte* bytes_at(const void* memory) { return static_cast<const std::byte*>(memory); }

Obstacle obstacle_of(const char* representation, const FlatType* etype, const FlatType* filetype) {
  if (std::strcmp(representation, "native") != 0) return Obstacle::representation;
  if (etype == nullptr || etype->size() == 0) return Obstacle::etype;
  if (filetype == nullptr) return Obstacle::filetype;
  const bool below_zero = filetype->size() > 0 && filetype->runs()[0].offset < 0;
  return filetype->ascends() && !below_zero ? Obstacle::none : Obstacle::overlap;
}

// Returns the first process that knows what is in the way of carrying the file; all.end() if none does.
template <class Told>
auto first_obstacle(const std::vector<Told>& all) {
  return std::find_if(all.begin(), all.end(), [](const Told& one) { return one.obstacle != Obstacle::none; });
}

}  // namespace

OpenFile::OpenFile(MPI_File handle, std::string path, Mode mode, std::shared_ptr<const Group> group, MPI_Info hints)
    : handle_(handle),
      mode_(mode),
      output_(std::move(path), own_),
      collectives_(std::move(group), read_hints(hints, mpiio::choices())),
      node_writes_(output_, own_,
                   {[this](const Refusal& refused) { keep(report_failure(refused.message, refused.system_errno)); },
                    [this] {
                      int found = 0;
                      TAILRACE_REAL(MPI_Iprobe)
                      (MPI_ANY_SOURCE, MPI_ANY_TAG, collectives_.group().comm(), &found, MPI_STATUS_IGNORE);
                    }}),
      reads_(own_, output_),
      background_reads_(own_, output_) {}

// The program has waited for its reads, or is wrong.
OpenFile::~OpenFile() { BackgroundReads::instance().finish(); }

// The processes exchange what they know when they next need it: until then it has arrived, and nothing waits.
void OpenFile::open(Obstacle mine, MPI_Offset position) {
  if (mine == Obstacle::none) not_opened_ = own_.open(output_.path(), mode_.reads, mode_.writes);
  const bool opens = mine == Obstacle::none && not_opened_ == 0;
  const bool has_mpis_too = opens && own_.has_twin();
  if (mine == Obstacle::none && !opens) mine = Obstacle::not_opened;
  known_view_ = mine == Obstacle::none;
  position_ = position;
  const Opening here{mine, collectives_.own(opens && own_.shares_cache()), own_.key(), has_mpis_too};
  openings_.assign(static_cast<size_t>(collectives_.group().size()), here);
  collectives_.group().begin_gather(openings_, &gathering_);
  if (exchanges_in_background() || any_thread_may_call() || (opens && !has_mpis_too)) agree();
}

// An MPI may open a file in some processes only, which then access it for the others (ROMIO's `romio_no_indep_rw`). A
// process where it has not done so has the same file if its inode is that of a process where the MPI has: nodes give
// one device different numbers, and an inode is not used again while it is open. If it is none of these, the name led
// to another file when it was opened again.
void OpenFile::refuse_renamed(std::vector<Opening>& all) {
  std::set<uint64_t> mpis;
  for (const Opening& one : all) {
    if (one.has_mpis_too) mpis.insert(one.file.inode);
  }
  for (Opening& one : all) {
    if (one.obstacle == Obstacle::none && !mpis.contains(one.file.inode)) one.obstacle = Obstacle::renamed;
  }
}

void OpenFile::agree() {
  const auto locked = lock();
  if (openings_.empty()) return;
  TAILRACE_REAL(MPI_Wait)(&gathering_, MPI_STATUS_IGNORE);
  std::vector<Opening> all = std::exchange(openings_, {});
  refuse_renamed(all);
  const auto rank = static_cast<size_t>(collectives_.group().rank());
  if (all[rank].obstacle == Obstacle::renamed) own_.close();
  if (const auto first = first_obstacle(all); first != all.end()) {
    if (first == all.begin() + static_cast<ptrdiff_t>(rank)) {
      tell_obstacle(output_.path(), first->obstacle, not_opened_);
    }
    is_obstructed_ = true;
    if (!std::exchange(known_view_, false)) return;
    if (const int failed = drain(); failed != MPI_SUCCESS) keep(failed);  // this process may have carried data
    TAILRACE_REAL(MPI_File_seek)(handle_, position_, MPI_SEEK_SET);
    return;
  }
  std::vector<Collectives::Member> members;
  for (const Opening& one : all) members.push_back(one.member);
  collectives_.meet(members, view_);
  follow_choices();
}

void OpenFile::change_hints(MPI_Info hints) {
  agree();
  if (is_obstructed_) return;
  collectives_.set_choices(collectives_.group().gather(read_hints(hints, collectives_.choices()))[0]);
  follow_choices();
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
  const Group& group = collectives_.group();
  const std::vector<Viewing> all =
      group.gather(Viewing{mine, read_hints(hints, collectives_.choices()), Collectives::two_copies(view_)});
  position_ = 0;
  const auto first = first_obstacle(all);
  known_view_ = first == all.end();
  if (!known_view_ && first - all.begin() == group.rank()) tell_obstacle(output_.path(), first->obstacle);
  std::vector<collective::Contribution> two_copies;
  for (const Viewing& one : all) two_copies.push_back(one.two_copies);
  collectives_.set_view(std::move(two_copies), all[0].choices);
  follow_choices();
}

void OpenFile::follow_choices() {
  if (collectives_.uses_node_buffer(Collectives::Kind::nonblocking)) {
    const Group& group = collectives_.group();
    node_writes_.open(collectives_.last_write(), static_cast<uint32_t>(group.size()),
                      static_cast<uint32_t>(group.rank()), [&](bool mine) {
                        const std::vector<char> all = group.gather(static_cast<char>(mine));
                        return std::find(all.begin(), all.end(), 0) == all.end();
                      });
  }
  collectives_.tune(output_.path());
  reads_.reader().set_sieve(collectives_.choices().sieve_bytes);
  const std::lock_guard lock(background_);
  background_reads_.reader().set_sieve(collectives_.choices().sieve_bytes);
}

void OpenFile::set_atomic(bool atomic) {
  atomic_ = atomic;
  if (atomic && collectives_.group().rank() == 0) tell_obstacle(output_.path(), Obstacle::atomic);
}

Outcome OpenFile::write(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type, uint64_t access,
                        Use use) {
  const auto locked = lock();
  int error = MPI_SUCCESS;
  const auto data = memory_of_call<MemoryData>(view_, begin, bytes_at(memory), count, type, error);
  const Outcome end = error == MPI_SUCCESS ? write_own(data, access, use) : Outcome{error, 0};
  if (access != 0) node_writes_.arrive(access);
  return end;
}

Outcome OpenFile::write_all(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type) {
  const auto locked = lock();
  if (!collectives_.is_trial() || !collectives_.begin_trial(has_bytes(count, type))) {
    return write_all_now(begin, memory, count, type);
  }
  const auto start = std::chrono::steady_clock::now();
  Outcome end = write_all_now(begin, memory, count, type);
  if (collectives_.is_last_of_trial()) {
    const int failed = drain();
    if (failed != MPI_SUCCESS && end.error == MPI_SUCCESS) end = {failed, 0};
    (void)::fdatasync(own_.get());  // a failure is that of a later sync, too
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  collectives_.end_trial(took.count(), end.error != MPI_SUCCESS);
  return end;
}

Outcome OpenFile::write_all_now(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type) {
  const uint64_t access = collectives_.next_write();
  const Use use = use_of(node_writes_, collectives_, Use::waiting);
  if (!collectives_.aggregates_writes() || use != Use::none) return write(begin, memory, count, type, access, use);
  int error = MPI_SUCCESS;
  const std::shared_ptr<AggregatedWrite> begun = begin_exchange(begin, memory, count, type, false, error);
  Outcome end = finish(*begun);
  if (begun->is_individual()) end = write_own(begun->data(), access, Use::none);
  node_writes_.arrive(access);
  if (begun->is_individual()) return end;
  if (error != MPI_SUCCESS) return {error, 0};
  const int earlier = unreported_.exchange(MPI_SUCCESS);
  return earlier != MPI_SUCCESS ? Outcome{earlier, 0} : end;
}

Begun OpenFile::begin_write_all(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type) {
  const auto locked = lock();
  const uint64_t access = collectives_.next_write();
  if (!collectives_.aggregates_in_background()) {
    return {write(begin, memory, count, type, access, use_of(node_writes_, collectives_, Use::without_waiting))};
  }
  Begun begun;
  begun.in_background = begin_exchange(begin, memory, count, type, true, begun.outcome.error);
  node_writes_.arrive(access);
  return begun;
}

// Writes first what this process has handed over of the same part of the file: an aggregator may write other bytes
// there for it. A process whose arguments are wrong takes part without data.
std::shared_ptr<AggregatedWrite> OpenFile::begin_exchange(uint64_t begin, const void* memory, int64_t count,
                                                          MPI_Datatype type, bool in_background, int& error) {
  auto data = memory_of_call<MemoryData>(view_, begin, bytes_at(memory), count, type, error);
  const collective::Contribution part = data.contribution();
  if (part.bytes > 0 && Pending::instance().has(own_.key(), part.begin, part.end)) unreported_ = drain();
  return collectives_.begin(output_, std::move(data), in_background);
}

// Cuts what has many places in the file, or lies apart in memory: lists and copies of all might need more memory than
// the bytes.
Outcome OpenFile::write_own(const MemoryData& data, uint64_t access, Use use) {
  const uint64_t most = data.is_plain() ? data.bytes() : kAtOnce;
  const collective::Contribution part = data.contribution();
  const bool meets = use != Use::none && part.bytes < part.pieces * collectives_.choices().writes.large_piece;
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
    const Refusal refused =
        meets ? node_writes_.write(extents, from, access, use) : output_.write(extents, from, access);
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
  if (!collectives_.aggregates_reads()) return read(begin, memory, count, type);
  const int earlier = drain();
  int error = MPI_SUCCESS;
  auto space = memory_of_call<MemorySpace>(view_, begin, static_cast<std::byte*>(memory), count, type, error);
  const auto [comm, number] = collectives_.next_exchange();
  MpiExchange exchange(comm, number);
  collective::CollectiveRead read({exchange, reads_, space}, space.contribution(), collectives_.nodes(),
                                  collectives_.choices().reads);
  while (!read.has_ended()) {
    if (!read.progress()) sched_yield();
  }
  if (error != MPI_SUCCESS || earlier != MPI_SUCCESS) return {error != MPI_SUCCESS ? error : earlier, 0};
  return read.is_individual() ? read_own(space) : ended({read.bytes(), read.error()});
}

// A process that has an error to report takes part in a read through aggregators without data.
Begun OpenFile::begin_read(uint64_t begin, void* memory, int64_t count, MPI_Datatype type, bool together) {
  const auto locked = lock();
  const bool aggregates = together && collectives_.aggregates_reads_in_background();
  Begun begun;
  begun.outcome.error = unreported_.exchange(MPI_SUCCESS);
  if (begun.outcome.error == MPI_SUCCESS) begun.outcome.error = take_failures(output_.path());
  const bool has_failed = begun.outcome.error != MPI_SUCCESS;
  if (has_failed && !aggregates) return begun;
  auto space = memory_of_call<MemorySpace>(view_, begin, static_cast<std::byte*>(memory), has_failed ? 0 : count,
                                           type, begun.outcome.error);
  const auto alone = [this](MemorySpace& to) { return ended(background_reads_.read(to)); };
  if (aggregates) {
    const auto settle = [this] {
      if (Pending::instance().has(own_.key())) (void)Pending::instance().flush();  // failures belong to the file
    };
    const auto outcome_of = [this](const collective::Source::End& end) { return ended(end); };
    const auto [comm, number] = collectives_.next_exchange();
    const AggregatedRead::File file{background_, background_reads_, settle, alone, outcome_of};
    begun.in_background = std::make_shared<AggregatedRead>(file, comm, number, std::move(space), collectives_.nodes(),
                                                           collectives_.choices().reads);
  } else if (space.bytes() > 0) {
    const auto read = std::make_shared<BackgroundRead>(std::move(space), [this, alone](MemorySpace& to) {
      const std::lock_guard in_use(background_);
      return alone(to);
    });
    BackgroundReads::instance().begin([read] { read->run(); });
    begun.in_background = read;
  }
  return begun;
}

void OpenFile::refresh() {
  reads_.reader().refresh();
  const std::lock_guard lock(background_);
  background_reads_.reader().refresh();
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
  const int elsewhere = node_writes_.settle();
  const int earlier = unreported_.exchange(MPI_SUCCESS);
  const Refusal refused = Pending::instance().has(own_.key()) ? Pending::instance().flush() : Refusal();
  const int failed = take_failures(output_.path());
  if (earlier != MPI_SUCCESS || failed != MPI_SUCCESS) return earlier != MPI_SUCCESS ? earlier : failed;
  if (refused.status != TAILRACE_OK) return report_failure(refused.message, refused.system_errno);
  if (elsewhere == 0) return MPI_SUCCESS;
  return report_failure(
      output_.path() + ": another process could not write bytes of this one: " + std::strerror(elsewhere), elsewhere);
}

void OpenFile::wait_for_others() { Pending::instance().wait_for_others(own_.key()); }

Outcome finish(BackgroundAccess& access) {
  while (!access.has_ended()) {
    if (!access.progress()) sched_yield();
  }
  return access.outcome();
}

}  // namespace tailrace::mpiio
