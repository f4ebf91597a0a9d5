#include "storage/uring/uring_storage.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <liburing.h>
#include <sched.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>
#include <thread>

namespace tailrace::impl {
namespace {

// Marks entries of the ring that belong to no transfer.
constexpr uint64_t kNobody = std::numeric_limits<uint64_t>::max();
// The kernel's limit for one registered buffer.
constexpr size_t kBufferBytes = size_t{1} << 30;

// A write of at most this many bytes is made at once. One that took this long was made to wait.
constexpr size_t kQuickBytes = 16 << 10;
constexpr std::chrono::milliseconds kLong{2};
constexpr std::chrono::milliseconds kPause{200};

// The kernel is offered transfers again after pauses of this length.
constexpr std::chrono::microseconds kFirstPause{50};
constexpr std::chrono::milliseconds kLongestPause{10};
constexpr std::chrono::seconds kPatience{10};  // then they fail

// Returns true if the kernel may take transfers a moment later. ENXIO: before Linux 5.13, another thread registers
// buffers. EBUSY: too many completions wait to be reaped. EAGAIN: it lacks memory.
bool passes(int error) { return error == ENXIO || error == EBUSY || error == EAGAIN || error == EINTR; }

using Steady = std::chrono::steady_clock;
using Time = Steady::time_point;

std::string text_of(int error) { return std::generic_category().message(error); }

}  // namespace

void UringStorage::CloseRing::operator()(io_uring* ring) const {
  io_uring_queue_exit(ring);
  delete ring;
}

Result<std::unique_ptr<UringStorage>> UringStorage::create(Doorbell& doorbell, const Options& options) {
  TAILRACE_REQUIRE(options.depth > 0);
  TAILRACE_REQUIRE(options.depth <= kMaxDepth);
  auto raw = std::make_unique<io_uring>();
  int error = -io_uring_queue_init(options.depth, raw.get(), 0);
  if (error != 0) {
    return Status(TAILRACE_UNSUPPORTED, fmt::format("io_uring is not available here: {}", text_of(error)));
  }
  Ring ring(raw.release());
  error = -io_uring_register_eventfd(ring.get(), doorbell.fd());
  if (error != 0) {
    return Status(TAILRACE_UNSUPPORTED, fmt::format("io_uring cannot ring an eventfd here: {}", text_of(error)));
  }
  // A child of the application must not see the ring. This is a precaution, so a failure does not matter.
  (void)io_uring_ring_dontfork(ring.get());
  return std::unique_ptr<UringStorage>(new UringStorage(doorbell, options, std::move(ring)));
}

UringStorage::UringStorage(Doorbell& doorbell, const Options& options, Ring ring)
    : doorbell_(doorbell),
      cpus_(options.cpus),
      ring_(std::move(ring)),
      capabilities_{.name = "uring",
                    .depth = options.depth,
                    .max_segments = kMaxSegments,
                    .direct_alignment = options.direct ? kDirectAlignment : 0,
                    .write_behind = true},
      files_(options.direct, options.roots),
      held_(options.depth),
      ended_(options.depth) {
  waiting_.reserve(size_t{2} * options.depth);
}

UringStorage::~UringStorage() {
  begin_held();
  while (!waiting_.empty() || !held_.empty()) {
    std::this_thread::sleep_until(next_try_);
    io_uring_cqe* entry = nullptr;
    while (io_uring_peek_cqe(ring_.get(), &entry) == 0) {  // the kernel may wait for room
      if (entry->user_data != kNobody) --under_way_;
      io_uring_cqe_seen(ring_.get(), entry);
    }
    begin_held();
  }
  size_t in_kernel = under_way_ - ended_.size();
  while (in_kernel > 0) {
    io_uring_cqe* entry = nullptr;
    const int error = -io_uring_wait_cqe(ring_.get(), &entry);
    if (passes(error)) {
      std::this_thread::sleep_for(kFirstPause);
      continue;
    }
    TAILRACE_ASSERT(error == 0);
    if (entry->user_data != kNobody) in_kernel--;
    io_uring_cqe_seen(ring_.get(), entry);
  }
}

void UringStorage::use_memory(std::span<std::byte> memory) {
  TAILRACE_REQUIRE(!uses_registered_memory());
  if (memory.empty()) return;
  std::vector<iovec> buffers;
  for (size_t at = 0; at < memory.size(); at += kBufferBytes) {
    buffers.push_back({memory.data() + at, std::min(kBufferBytes, memory.size() - at)});
  }
  // A separate system call, which reads no state that submit() and reap() change.
  const int error = io_uring_register_buffers(ring_.get(), buffers.data(), static_cast<unsigned>(buffers.size()));
  // Mostly ENOMEM: the limit of locked memory (ulimit -l). Everything works without, only a little slower.
  if (error != 0) return;
  registered_ = memory;
  // release: `registered_` is written before; partner: uses_registered_memory().
  is_registered_.store(true, std::memory_order_release);
}

// The kernel keeps a pool of workers for each thread that submits, and makes it at the first submission. So this must
// run on that thread and after a submission: an empty one, since the first transfer could start a worker on another
// cpu. If the group moves later, only new workers follow: the kernel moves none that exists.
void UringStorage::keep_workers_to_cpus() {
  const bool first = !workers_moved_;
  workers_moved_ = cpus_->moves();
  const std::vector<int> cpus = cpus_->cpus();
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<size_t>(cpu), &set);
  }
  // All calls are best effort: if the kernel refuses, the workers run on any cpu they may.
  if (first) {
    io_uring_sqe* entry = io_uring_get_sqe(ring_.get());
    TAILRACE_ASSERT(entry != nullptr);
    io_uring_prep_nop(entry);
    io_uring_sqe_set_data64(entry, kNobody);
    (void)io_uring_submit(ring_.get());
  }
  (void)io_uring_register_iowq_aff(ring_.get(), sizeof set, &set);
}

void UringStorage::submit(const Transfer& transfer) {
  TAILRACE_REQUIRE(transfer.tag != kNobody);
  TAILRACE_REQUIRE(transfer.segments.size() <= kMaxSegments);
  TAILRACE_REQUIRE(under_way_ < capabilities_.depth);
  if (cpus_ && workers_moved_ != cpus_->moves()) keep_workers_to_cpus();

  under_way_++;
  if (is_quick(transfer)) return write_now(transfer);
  if (!held_.empty() || !put(transfer)) held_.push(transfer);
}

// Returns false if the ring is full of entries that the kernel has not taken.
bool UringStorage::put(const Transfer& transfer) {
  const unsigned entries = transfer.room > 0 ? 2 : 1;
  if (io_uring_sq_space_left(ring_.get()) < entries) begin();
  if (io_uring_sq_space_left(ring_.get()) == 0) return false;
  if (io_uring_sq_space_left(ring_.get()) >= 2 && transfer.room > 0) make_room(transfer);
  io_uring_sqe* const entry = io_uring_get_sqe(ring_.get());
  describe(transfer, *entry);
  io_uring_sqe_set_data64(entry, transfer.tag);
  waiting_.push_back(entry);
  return true;
}

// Adds an entry before the transfer. The transfer waits for it, even if it fails, and both go to the kernel together.
void UringStorage::make_room(const Transfer& transfer) {
  io_uring_sqe* const entry = io_uring_get_sqe(ring_.get());
  io_uring_prep_fallocate(entry, files_.at(transfer.file).descriptor(transfer), FALLOC_FL_KEEP_SIZE, transfer.offset,
                          transfer.room);
  io_uring_sqe_set_flags(entry, IOSQE_IO_HARDLINK);
  io_uring_sqe_set_data64(entry, kNobody);
  waiting_.push_back(entry);
}

// Hands the ring's entries to the kernel.
void UringStorage::begin() {
  if (refused_since_ != Time() && Steady::now() < next_try_) return;
  int submitted = 0;
  // The kernel stops after an entry that it refuses, which ends with an error; it must still take the others.
  do {
    submitted = io_uring_submit(ring_.get());
    if (submitted > 0) refused_since_ = Time();
  } while (submitted > 0 && io_uring_sq_ready(ring_.get()) > 0);
  const size_t ready = io_uring_sq_ready(ring_.get());
  waiting_.erase(waiting_.begin(), waiting_.end() - static_cast<ptrdiff_t>(std::min(ready, waiting_.size())));
  if (ready == 0) refused_since_ = Time();
  if (ready == 0 || may_pause(submitted < 0 ? -submitted : EAGAIN)) return;
  give_up_waiting(submitted < 0 ? submitted : -EAGAIN);
}

// Returns true if the entries stay in the ring and are offered again.
bool UringStorage::may_pause(int error) {
  const Time now = Steady::now();
  if (refused_since_ == Time()) {
    refused_since_ = now;
    pause_ = Steady::duration::zero();
  }
  if (!passes(error) || now - refused_since_ >= kPatience) return false;
  pause_ = std::clamp<Steady::duration>(2 * pause_, kFirstPause, kLongestPause);
  next_try_ = now + pause_;
  return true;
}

// Ends the transfers that the kernel does not take. Their entries cannot be removed from the ring, but as no-ops they
// are harmless when the kernel takes them with the next ones.
void UringStorage::give_up_waiting(int error) {
  for (io_uring_sqe* const entry : waiting_) {
    const uint64_t tag = entry->user_data;
    io_uring_prep_nop(entry);
    io_uring_sqe_set_data64(entry, kNobody);
    if (tag != kNobody) end(tag, error);
  }
  waiting_.clear();
  while (!held_.empty()) end(held_.pop().tag, error);
  refused_since_ = Time();
}

void UringStorage::begin_held() {
  if (!waiting_.empty()) begin();
  while (!held_.empty() && put(held_.front())) held_.pop();
  if (!waiting_.empty()) begin();
}

std::optional<Nanoseconds> UringStorage::due() const {
  if (refused_since_ == Time()) return std::nullopt;
  return next_try_.time_since_epoch();
}

void UringStorage::describe(const Transfer& transfer, io_uring_sqe& entry) const {
  const OpenFile& file = files_.at(transfer.file);
  const int fd = file.descriptor(transfer);
  const auto count = static_cast<unsigned>(transfer.segments.size());
  if (transfer.kind == Transfer::Kind::sync) {
    return io_uring_prep_fsync(&entry, fd, file.directory ? 0 : IORING_FSYNC_DATASYNC);
  }
  const bool write = transfer.kind == Transfer::Kind::write;
  const int buffer = count == 1 ? registered_buffer(transfer.segments[0]) : -1;
  if (buffer < 0) {
    if (write) return io_uring_prep_writev(&entry, fd, transfer.segments.data(), count, transfer.offset);
    return io_uring_prep_readv(&entry, fd, transfer.segments.data(), count, transfer.offset);
  }
  void* const memory = transfer.segments[0].iov_base;
  const auto length = static_cast<unsigned>(transfer.segments[0].iov_len);
  if (write) return io_uring_prep_write_fixed(&entry, fd, memory, length, transfer.offset, buffer);
  return io_uring_prep_read_fixed(&entry, fd, memory, length, transfer.offset, buffer);
}

// Returns the registered buffer that holds the whole segment; -1 if none does.
int UringStorage::registered_buffer(const iovec& segment) const {
  if (!uses_registered_memory()) return -1;
  const auto begin = reinterpret_cast<uintptr_t>(segment.iov_base);
  const auto memory = reinterpret_cast<uintptr_t>(registered_.data());
  if (begin < memory || begin - memory >= registered_.size()) return -1;
  const size_t at = begin - memory;
  if (segment.iov_len > registered_.size() - at) return -1;
  if (segment.iov_len > kBufferBytes - at % kBufferBytes) return -1;
  return static_cast<int>(at / kBufferBytes);
}

bool UringStorage::is_quick(const Transfer& transfer) const {
  if (transfer.kind != Transfer::Kind::write || transfer.direct || transfer.room > 0) return false;
  size_t bytes = 0;
  for (const iovec& segment : transfer.segments) bytes += segment.iov_len;
  return bytes <= kQuickBytes && (quick_from_ == Time() || Steady::now() >= quick_from_);
}

void UringStorage::write_now(const Transfer& transfer) {
  const OpenFile& file = files_.at(transfer.file);
  const Time begin = Steady::now();
  const ssize_t written = ::pwritev(file.descriptor(transfer), transfer.segments.data(),
                                    static_cast<int>(transfer.segments.size()), static_cast<off_t>(transfer.offset));
  const int64_t result = written >= 0 ? written : -errno;
  const Time after = Steady::now();
  quick_from_ = after - begin > kLong ? after + kPause : Time();
  end(transfer.tag, result);
}

void UringStorage::end(uint64_t tag, int64_t result) {
  // As the kernel does: this also reaches an engine that is not asleep yet.
  if (ended_.empty()) doorbell_.wake();
  ended_.push({tag, result});
}

size_t UringStorage::reap(std::span<Completion> done) {
  begin_held();
  size_t count = 0;
  while (count < done.size() && !ended_.empty()) done[count++] = ended_.pop();
  io_uring_cqe* entry = nullptr;
  while (count < done.size() && io_uring_peek_cqe(ring_.get(), &entry) == 0) {
    // ECANCELED: the transfer would have waited for make_room(), which this kernel does not support.
    const int result = entry->res == -ECANCELED ? -EAGAIN : entry->res;
    if (entry->user_data != kNobody) done[count++] = {entry->user_data, result};
    io_uring_cqe_seen(ring_.get(), entry);
  }
  if (!ended_.empty()) doorbell_.wake();
  TAILRACE_ASSERT(count <= under_way_);
  under_way_ -= static_cast<uint32_t>(count);
  return count;
}

}  // namespace tailrace::impl
