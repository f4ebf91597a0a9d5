// The common memory and its barrier. See the header.
#include "shared_peers.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <new>

#include "error.hpp"
#include "numbers_list.hpp"

namespace tsunami {
namespace {

constexpr std::size_t line = 64;  // bytes of a cache line
constexpr std::uint32_t stopped = 1, one_meeting = 2;
constexpr std::size_t longest_message = 2000;

using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC, as for the kernel's deadline

std::size_t whole_lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }

// Sleeps while `word` is `value`, until woken or until the deadline. Returns false if the deadline has passed.
bool sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value, Clock::time_point deadline) {
  const auto since = deadline.time_since_epoch();
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(since);
  const timespec until{static_cast<time_t>(whole.count()), std::chrono::nanoseconds(since - whole).count()};
  // Not FUTEX_PRIVATE: the waiters are other processes.
  const long result = ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, value, &until, nullptr, FUTEX_BITSET_MATCH_ANY);
  return result == 0 || errno != ETIMEDOUT;
}

void wake_all(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Memory from mmap is zero, the initial value of all of these.
struct CrewMemory::Head {
  // Twice the number of meetings, plus 1 once the crew has been stopped. All waiters sleep on this word.
  alignas(line) std::atomic<std::uint32_t> word;
  // Number of processes that have come to the present meeting. The last one resets it.
  alignas(line) std::atomic<std::uint32_t> arrived;

  enum : std::uint32_t { none, being_told, told };
  alignas(line) std::atomic<std::uint32_t> failure;
  // Written by the process that set `failure` to being_told, read by processes that found it told.
  int failure_rank;
  char message[longest_message];
};

struct alignas(line) CrewMemory::Seat {
  // Written by its process before a meeting, read by all after it.
  double mine[2];
  std::uint64_t gathered[2];
  // The number of meetings that its process has come to; only for messages.
  std::atomic<std::uint64_t> round;
};

CrewMemory::CrewMemory(int processes, std::size_t halo, std::size_t gathered)
    : processes_(processes),
      halo_(whole_lines(halo * sizeof(double)) / sizeof(double)),
      gathered_(whole_lines(gathered * sizeof(double)) / sizeof(double)) {
  const auto n = static_cast<std::size_t>(processes);
  bytes_ = sizeof(Head) + n * sizeof(Seat) + 2 * n * (2 * halo_ + gathered_) * sizeof(double);
  void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw Error("cannot map " + std::to_string(bytes_) + " bytes of memory for " + std::to_string(processes) +
                " processes: " + std::strerror(errno));
  }
  memory_ = static_cast<std::byte*>(memory);
  new (memory_) Head;
  for (int rank = 0; rank < processes; ++rank) new (&seat(rank)) Seat;
}

CrewMemory::~CrewMemory() { ::munmap(memory_, bytes_); }

CrewMemory::Head& CrewMemory::head() const { return *reinterpret_cast<Head*>(memory_); }

CrewMemory::Seat& CrewMemory::seat(int rank) const { return reinterpret_cast<Seat*>(memory_ + sizeof(Head))[rank]; }

std::span<double> CrewMemory::box(int set, int rank, Side side) const {
  auto* boxes =
      reinterpret_cast<double*>(memory_ + sizeof(Head) + static_cast<std::size_t>(processes_) * sizeof(Seat));
  const auto which = static_cast<std::size_t>((set * processes_ + rank) * 2 + (side == Side::north ? 1 : 0));
  return {boxes + which * halo_, halo_};
}

std::span<double> CrewMemory::pile(int set, int rank) const {
  const auto n = static_cast<std::size_t>(processes_);
  auto* piles = reinterpret_cast<double*>(memory_ + sizeof(Head) + n * sizeof(Seat)) + 4 * n * halo_;
  return {piles + static_cast<std::size_t>(set * processes_ + rank) * gathered_, gathered_};
}

void CrewMemory::stop() {
  // seq_cst, as it is rare. If a sleeper read the word before this, it finds the word changed when it goes to sleep.
  head().word.fetch_or(stopped);
  wake_all(head().word);
}

void CrewMemory::tell_failure(int rank, const std::string& message) {
  std::uint32_t expected = Head::none;
  if (!head().failure.compare_exchange_strong(expected, Head::being_told)) return;
  head().failure_rank = rank;
  const std::size_t length = std::min(message.size(), longest_message - 1);
  std::memcpy(head().message, message.data(), length);
  head().message[length] = '\0';
  head().failure.store(Head::told, std::memory_order_release);  // partner: failure()
}

CrewMemory::Failure CrewMemory::failure() const {
  // Partner: the store in tell_failure(); it orders rank and message.
  if (head().failure.load(std::memory_order_acquire) != Head::told) return {};
  return {head().failure_rank, head().message};
}

SharedPeers::SharedPeers(CrewMemory& memory, int rank, Seconds limit) : memory_(memory), rank_(rank), limit_(limit) {}

std::span<double> SharedPeers::outbox(Side side) {
  if (!has_neighbour(side)) return {};
  return memory_.box(set(), rank_, side);
}

std::span<const double> SharedPeers::inbox(Side side) const {
  if (!has_neighbour(side)) return {};
  // The set of the previous meeting: round_ has advanced since.
  if (side == Side::south) return memory_.box(1 - set(), rank_ - 1, Side::north);
  return memory_.box(1 - set(), rank_ + 1, Side::south);
}

double SharedPeers::exchange(double mine) {
  const int now = set();
  memory_.seat(rank_).mine[now] = mine;
  meet();
  double greatest = memory_.seat(0).mine[now];
  for (int rank = 1; rank < size(); ++rank) greatest = std::max(greatest, memory_.seat(rank).mine[now]);
  return greatest;
}

std::vector<double> SharedPeers::gather(std::span<const double> mine) {
  const int now = set();
  const std::span<double> pile = memory_.pile(now, rank_);
  if (mine.size() > pile.size()) {
    throw Error("a process hands over " + std::to_string(mine.size()) + " numbers, expected at most " +
                std::to_string(pile.size()));
  }
  std::copy(mine.begin(), mine.end(), pile.begin());
  memory_.seat(rank_).gathered[now] = mine.size();
  meet();
  std::vector<double> all;
  for (int rank = 0; rank < size(); ++rank) {
    const std::span<double> part = memory_.pile(now, rank).first(memory_.seat(rank).gathered[now]);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

// A barrier. All processes see after it what any wrote before it.
void SharedPeers::meet() {
  CrewMemory::Head& head = memory_.head();
  const Clock::time_point begin = Clock::now();
  ++round_;
  memory_.seat(rank_).round.store(round_, std::memory_order_relaxed);
  // Cannot change before this process has arrived. Partner: the last process's fetch_add of the previous meeting.
  const std::uint32_t word = head.word.load(std::memory_order_acquire);
  // Release for this process's writes; acquire so that the last process has seen all of them, and passes them on.
  const std::uint32_t before = head.arrived.fetch_add(1, std::memory_order_acq_rel);
  if (before + 1 == static_cast<std::uint32_t>(size())) {
    // Seen by all who come to the next meeting: they have read the word after the release below.
    head.arrived.store(0, std::memory_order_relaxed);
    head.word.fetch_add(one_meeting, std::memory_order_release);  // partner: the loads in wait_for_others()
    wake_all(head.word);
  } else {
    wait_for_others(word);
  }
  seconds_ += Seconds(Clock::now() - begin).count();
}

void SharedPeers::wait_for_others(std::uint32_t word) {
  const auto limit = std::chrono::duration_cast<Clock::duration>(limit_);
  const Clock::time_point deadline = Clock::now() + limit;
  while (true) {
    const std::uint32_t now = memory_.head().word.load(std::memory_order_acquire);  // partner: fetch_add in meet()
    if ((now & stopped) != 0) throw Stopped();
    if ((now | stopped) != (word | stopped)) return;
    if (sleep_while(memory_.head().word, now, deadline)) continue;
    // The meeting may have ended at the last moment.
    if (memory_.head().word.load(std::memory_order_acquire) != now) continue;
    throw Error("waited " + shortest(limit_.count()) + " s for " + who_is_missing());
  }
}

std::string SharedPeers::who_is_missing() const {
  std::string missing;
  for (int rank = 0; rank < size(); ++rank) {
    if (memory_.seat(rank).round.load(std::memory_order_relaxed) >= round_) continue;
    missing += (missing.empty() ? "process " : ", process ") + std::to_string(rank);
  }
  return missing.empty() ? "the others" : missing;
}

}  // namespace tsunami
