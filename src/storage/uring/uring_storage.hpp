// UringStorage: the back end `uring`, which transfers through the kernel's io_uring, by liburing. Implements the port
// storage.hpp.
//
// Transfers go to the kernel together, by one system call, at the next reap(); the kernel rings the doorbell's
// eventfd at each completion. Memory from use_memory() is registered, so that the kernel need not look up its pages
// for each transfer. It needs no thread of its own: the kernel runs blocking operations on workers, which are bound
// to the given cpus. It never retries a transfer. If the kernel takes no transfers at the moment, it offers them
// again after pauses, for some seconds.
//
// A small write into the page cache is made at once, on the calling thread: it takes a microsecond, and handing it to
// a worker takes several. While the kernel makes writers wait, since too much of the cache is dirty, workers do it.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/sync/cpu_group.hpp"
#include "base/sync/doorbell.hpp"
#include "storage/fixed_fifo.hpp"
#include "storage/os/os_file_system.hpp"

struct io_uring;
struct io_uring_sqe;

namespace tailrace::impl {

class UringStorage final : public Storage {
 public:
  struct Options {
    uint32_t depth = 64;                  // most transfers in progress; at most kMaxDepth
    bool direct = true;                   // bypass the page cache if the file system allows it
    std::shared_ptr<CpuGroup> cpus = {};  // of the kernel's workers; null: any
    std::vector<std::string> roots = {};  // see OsFileSystem
  };
  static constexpr uint32_t kMaxDepth = 4096;

  // Fails with TAILRACE_UNSUPPORTED if the kernel has no io_uring or forbids it. The doorbell outlives the storage.
  static Result<std::unique_ptr<UringStorage>> create(Doorbell& doorbell, const Options& options);
  // Begins all transfers that have not begun, and waits for those in progress, as the kernel still uses their memory.
  ~UringStorage() override;

  const Capabilities& capabilities() const override { return capabilities_; }
  FileSystem& files() override { return files_; }
  void use_memory(std::span<std::byte> memory) override;
  // Returns true if that memory is registered: the system may have refused.
  bool uses_registered_memory() const { return is_registered_.load(std::memory_order_acquire); }
  // Tags must not be the largest number.
  void submit(const Transfer& transfer) override;
  size_t reap(std::span<Completion> done) override;
  std::optional<Nanoseconds> due() const override;

 private:
  struct CloseRing {
    void operator()(io_uring* ring) const;
  };
  using Ring = std::unique_ptr<io_uring, CloseRing>;

  UringStorage(Doorbell& doorbell, const Options& options, Ring ring);
  void keep_workers_to_cpus();
  bool put(const Transfer& transfer);
  void make_room(const Transfer& transfer);
  void begin();
  void begin_held();
  bool may_pause(int error);
  void give_up_waiting(int error);
  void describe(const Transfer& transfer, io_uring_sqe& entry) const;
  int registered_buffer(const iovec& segment) const;
  bool is_quick(const Transfer& transfer) const;
  void write_now(const Transfer& transfer);
  void end(uint64_t tag, int64_t result);

  // Constant after construction.
  Doorbell& doorbell_;
  const std::shared_ptr<CpuGroup> cpus_;
  const Ring ring_;
  const Capabilities capabilities_;
  // Constant once is_registered_ is true.
  std::span<std::byte> registered_;
  std::atomic<bool> is_registered_{false};
  // Owned by the engine's thread.
  OsFileSystem files_;
  std::vector<io_uring_sqe*> waiting_;  // the ring's last entries, which have not begun
  FixedFifo<Transfer> held_;            // transfers for which the ring had no room, as the kernel took none
  FixedFifo<Completion> ended_;         // transfers that the ring has not, and that the kernel did not take
  std::chrono::steady_clock::time_point refused_since_{};  // when the kernel began to take none; zero: it takes some
  std::chrono::steady_clock::time_point next_try_{};       // not before this, if it takes none
  std::chrono::steady_clock::duration pause_{};            // the last one
  std::chrono::steady_clock::time_point quick_from_{};     // until then, workers make small writes, too
  uint32_t under_way_ = 0;                                 // not reaped yet, including waiting and ended ones
  std::optional<uint64_t> workers_moved_;  // CpuGroup::moves() of where the workers are; none: nothing was submitted
};

}  // namespace tailrace::impl
