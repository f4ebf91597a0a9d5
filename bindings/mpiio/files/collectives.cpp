#include "mpiio/files/collectives.hpp"

#include <sys/vfs.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <set>
#include <sstream>

#include "collective/plan.hpp"
#include "mpiio/files/tunings.hpp"
#include "mpiio/mpi/real_mpi.hpp"
#include "mpiio/pending/pending.hpp"
#include "mpiio/process/process.hpp"

namespace tailrace::mpiio {

using collective::Algorithm;

namespace {

#ifdef OPEN_MPI
constexpr const char* kMpi = "Open MPI";
#else
constexpr const char* kMpi = "MPICH";
#endif

// Returns a number that no other opening of any process has, as far as chance goes. Numbers of openings far apart
// are far apart. To ask the device each time would take as long as the MPI takes to open a file.
uint64_t random_number() {
  static std::atomic<uint64_t> next = [] {
    std::random_device source;
    return (uint64_t{source()} << 32) | source();
  }();
  constexpr uint64_t kStep = 0x9e3779b97f4a7c15;  // 2⁶⁴ / the golden ratio, odd (Knuth, TAOCP 3, §6.4)
  return next.fetch_add(kStep, std::memory_order_relaxed);
}

}  // namespace

Collectives::Collectives(std::shared_ptr<const Group> group, const Choices& choices) : group_(std::move(group)) {
  all_.comm = group_->comm();
  asked_ = all_.choices = choices;
}

Collectives::~Collectives() {
  if (has_own_comm_) TAILRACE_REAL(MPI_Comm_free)(&all_.comm);
}

Collectives::Member Collectives::own(bool shares_cache) const {
  return {Pending::instance().node(), random_number(),    shares_cache,
          any_thread_may_call(),      may_share_buffer(), asked_};
}

collective::Contribution Collectives::two_copies(const View& view) {
  return MemoryData(view, 0, nullptr, view.two_copies(), nullptr).contribution();
}

void Collectives::meet(const std::vector<Member>& all, const View& view) {
  asked_ = all_.choices = all[0].choices;
  writes_ = all[0].number;
  for (const Member& one : all) {
    const auto first = std::find_if(all.begin(), all.end(), [&](const Member& of) { return of.node == one.node; });
    all_.nodes.push_back(static_cast<int>(first - all.begin()));
  }
  share_cache_ = std::all_of(all.begin(), all.end(),
                             [&](const Member& one) { return one.shares_cache && one.node == all[0].node; });
  may_share_buffer_ =
      share_cache_ && std::all_of(all.begin(), all.end(), [](const Member& one) { return one.may_share_buffer; });
  has_progress_thread_ =
      std::all_of(all.begin(), all.end(), [](const Member& one) { return one.any_thread_may_call; });
  two_copies_.assign(all.size(), two_copies(view));
  choose_aggregation();
}

void Collectives::set_choices(const Choices& choices) {
  asked_ = all_.choices = choices;
  tuning_.reset();
  choose_aggregation();
}

void Collectives::set_view(std::vector<collective::Contribution> two_copies, const Choices& choices) {
  two_copies_ = std::move(two_copies);
  set_choices(choices);
}

void Collectives::choose_aggregation() {
  const auto may_aggregate = [this](const collective::Options& options) {
    if (all_.nodes.size() == 1 || options.algorithm == Algorithm::individual) return false;
    return options.algorithm != Algorithm::automatic ||
           collective::choose(two_copies_, options.large_piece) != Algorithm::individual;
  };
  aggregates_ = may_aggregate(all_.choices.writes);
  aggregates_as_asked_ = may_aggregate(asked_.writes);
  aggregates_reads_ = may_aggregate(all_.choices.reads);
  if (share_cache_ && all_.choices.reads.algorithm == Algorithm::automatic) aggregates_reads_ = false;
  // An exchange that goes on in the background may not meet those of other files.
  const bool may_exchange = aggregates_ || aggregates_as_asked_ || aggregates_reads_;
  if (may_exchange && (exchanges_in_background() || has_progress_thread_) && !has_own_comm_) {
    has_own_comm_ = true;
    TAILRACE_REAL(MPI_Comm_dup)(group_->comm(), &all_.comm);
  }
}

void Collectives::tune(const std::string& path) {
  const bool may = asked_.tunes && all_.nodes.size() > 1 && !exchanges_in_background();
  if (!may || collective::choose(two_copies_, UINT64_MAX) == Algorithm::individual) return;
  tuned_ = path;
  collective::Tuning::State mine;
  if (group_->rank() == 0) mine = Tunings::instance().find(pattern_ = pattern(path));
  const auto nodes = static_cast<uint32_t>(std::set<int>(all_.nodes.begin(), all_.nodes.end()).size());
  tuning_.emplace(asked_.writes, static_cast<uint32_t>(group_->size()), nodes, group_->gather(mine)[0]);
  use(tuning_->options());
  if (tuning_->has_ended()) tell_tuned(" (known before)");
}

// The first process alone describes the pattern.
std::string Collectives::pattern(const std::string& path) const {
  uint64_t bytes = 0;
  uint64_t pieces = 0;
  for (const collective::Contribution& one : two_copies_) {
    bytes += one.bytes;
    pieces += one.pieces;
  }
  struct statfs found {};
  (void)::statfs(path.c_str(), &found);
  std::ostringstream text;
  const size_t nodes = std::set<int>(all_.nodes.begin(), all_.nodes.end()).size();
  const bool has_merger = asked_.writes.large_piece < collective::Options{}.large_piece;
  text << kMpi << ", " << group_->size() << " processes on " << nodes << (nodes == 1 ? " node" : " nodes")
       << (has_merger ? " with a merger" : "") << ", view of " << std::bit_floor(bytes / 2) << " bytes in pieces of "
       << std::bit_floor(bytes / std::max<uint64_t>(pieces, 1)) << " or more, file system " << std::hex
       << found.f_type << std::dec;
  if (nodes == 1 && !may_share_buffer_ && !has_merger) text << ", no buffer of the node";
  // Hints say what belongs to each way, or leave others to try.
  const collective::Options usual;
  const auto add = [&text](const char* name, uint64_t value, uint64_t otherwise) {
    if (value != otherwise) text << ", " << name << ' ' << value;
  };
  add("aggregators", asked_.writes.aggregators, usual.aggregators);
  add("aggregators of a group", asked_.writes.aggregators_per_group, usual.aggregators_per_group);
  add("bytes of a buffer", asked_.writes.cycle_bytes, usual.cycle_bytes);
  add("alignment", asked_.writes.alignment, usual.alignment);
  return text.str();
}

bool Collectives::begin_trial(bool has_bytes) {
  const std::vector<char> all = group_->gather(static_cast<char>(has_bytes));
  return std::find(all.begin(), all.end(), 1) != all.end();
}

void Collectives::end_trial(double seconds, bool has_failed) {
  if (has_failed) seconds = std::numeric_limits<double>::infinity();  // then the most is that, too
  if (!tuning_->next_ends_trial()) {
    tuning_->wrote(seconds);
    if (group_->rank() == 0) Tunings::instance().keep(pattern_, *tuning_);
    return;
  }
  const std::vector<double> all = group_->gather(tuning_->begun_seconds() + seconds);
  const double most = *std::max_element(all.begin(), all.end());
  if (std::isfinite(most)) {
    tuning_->tried(most);
  } else {
    tuning_->forget_begun();
  }
  use(tuning_->options());
  if (group_->rank() == 0) Tunings::instance().keep(pattern_, *tuning_);
  if (tuning_->has_ended()) tell_tuned("");
}

void Collectives::tell_tuned(const char* how) const {
  if (group_->rank() != 0 || !carrier().summary()) return;
  std::fprintf(stderr, "tailrace: %s: collective writes, %s: %s%s\n", tuned_.c_str(), pattern_.c_str(),
               tuning_->text().c_str(), how);
}

void Collectives::use(const collective::Options& writes) {
  all_.choices.writes = writes;
  choose_aggregation();
}

// A view without pieces, as each file has at first, needs no buffer: to open one takes longer than to open a file.
bool Collectives::uses_node_buffer(Kind kind) const {
  const bool may = kind == Kind::blocking ? aggregates_ : aggregates_as_asked_;
  const collective::Options& writes = kind == Kind::blocking ? all_.choices.writes : asked_.writes;
  const bool has_pieces = std::any_of(two_copies_.begin(), two_copies_.end(),
                                      [](const collective::Contribution& one) { return one.pieces > 1; });
  return has_pieces && may && may_share_buffer_ && writes.algorithm == Algorithm::automatic;
}

bool Collectives::aggregates_in_background() const {
  const bool is_named = asked_.writes.algorithm != Algorithm::automatic;
  if (!is_named) return aggregates_as_asked_ && has_progress_thread_ && !share_cache_;
  return aggregates_as_asked_ && (has_progress_thread_ || exchanges_in_background());
}

uint64_t Collectives::next_write() { return ++writes_ != 0 ? writes_ : ++writes_; }

std::shared_ptr<AggregatedWrite> Collectives::begin(Output& output, MemoryData data, bool in_background) {
  AggregatedWrite::Processes all = all_;
  collective::Options& writes = all.choices.writes;
  if (in_background) writes = asked_.writes;
  if (in_background && writes.algorithm == Algorithm::automatic) writes.algorithm = Algorithm::dynamic;
  return std::make_shared<AggregatedWrite>(output, all, next_exchange().second, std::move(data), in_background);
}

std::pair<MPI_Comm, uint32_t> Collectives::next_exchange() {
  return {all_.comm, has_own_comm_ ? exchanges_++ : group_->next_number()};
}

}  // namespace tailrace::mpiio
