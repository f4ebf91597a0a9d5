// SimStorage: the storage port of one simulated process, over the disk that all of them share.
//
// Transfers take simulated time: their bytes move at some moment between submit and completion, and completions come
// in any order, short, interrupted or failed, as the plan says. It checks that its caller obeys the port: a
// misaligned transfer, a file closed under one, or two under way that touch the same bytes are failures. After cut(),
// when the process has died, everything succeeds at once and does nothing, so that the rest of the process can end
// unseen.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/sync/doorbell.hpp"
#include "server/iteration_limit.hpp"
#include "storage/file_table.hpp"
#include "storage/storage.hpp"
#include "testing/simulation/fault_plan.hpp"
#include "testing/simulation/sim_disk.hpp"
#include "testing/simulation/world.hpp"

namespace tailrace::impl::simulation {

struct SimStorageOptions {
  uint32_t depth = 8;
  uint32_t max_segments = 16;
  uint32_t operations = UINT32_MAX;  // see Capabilities
  uint32_t direct_alignment = 0;
  uint64_t least_delay = 1'000;  // nanoseconds
  uint64_t most_delay = 100'000;
  uint64_t slow = 100;                // some operations take so many times as long as the slowest transfer
  uint64_t descriptors = UINT64_MAX;  // most that its process may have open for iterations
  StripeMap stripes = {};             // of all files
};

// The state that the disks of a run's processes share.
struct Faults {
  FaultPlan plan;
  std::vector<uint64_t> seen;  // calls that each hard fault matched
  std::vector<Cause> causes;
  bool out_of_descriptors = false;  // a process needed more than it may have
};

class SimStorage final : public Storage, public FileSystem {
 public:
  // Borrows all its objects.
  SimStorage(World& world, SimDisk& disk, Faults& faults, Doorbell& doorbell, SplitDice dice,
             const SimStorageOptions& options, std::string name);

  const Capabilities& capabilities() const override { return capabilities_; }
  FileSystem& files() override { return *this; }
  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override;
  void close(FileHandle file) override;
  bool direct(FileHandle file) const override;
  Result<uint64_t> size(FileHandle file) const override;
  Result<size_t> read(FileHandle file, uint64_t offset, std::span<std::byte> to) const override;
  Status sync(FileHandle file) override;
  Status allocate(FileHandle file, uint64_t offset, uint64_t length) override;
  Status truncate(FileHandle file, uint64_t size) override;
  Status rename(FileHandle file, const std::string& to, bool replace) override;
  Result<NameFacts> stat(const std::string& path) const override;
  Result<std::vector<std::string>> list(const std::string& directory) const override;
  Status make_directory(const std::string&) override { return {}; }
  Status remove(const std::string& path) override;
  Status check_below(const std::string&, const std::string&) const override { return {}; }
  Result<std::unique_ptr<NameLock>> lock(const std::string& path, const std::string& holder) override;
  bool is_locked(const std::string& path) const override { return disk_.locked().contains(path); }
  void use_memory(std::span<std::byte>) override {}
  void submit(const Transfer& transfer) override;
  size_t reap(std::span<Completion> done) override;
  // Takes effect at some moment before its end, which may come late.
  void submit(FileOperation operation) override;
  std::optional<FileOperationEnd> reap_operation() override;

  // Sets the predicate for transfers into memory that is thrown away (Engine::throws_away): others may write the same
  // bytes of the file meanwhile.
  void ignore(std::function<bool(const void* memory)> memory) { ignored_ = std::move(memory); }

  // Cuts the storage off when the process dies: some sectors of transfers under way still reach the disk.
  void cut();
  bool idle() const { return under_way_ == 0; }

 private:
  struct File {
    std::string path;
    OpenMode mode;
    InodePointer inode;  // null for a directory
    uint32_t under_way = 0;
    uint64_t descriptors = 0;  // held from its opening until its close, even if it is renamed
  };
  // Returns the number of bounded descriptors that a file takes: those of unfinished iterations. Others are few, and
  // open for a moment.
  static uint64_t descriptors_of(const std::string& path) {
    return path.ends_with(".h5.part") || path.ends_with(".xmf.part") ? kDescriptorsPerIteration : 0;
  }
  struct Slot {
    bool used = false;
    uint64_t number = 0;  // distinguishes it from an earlier user of the slot
    Transfer transfer;
    std::vector<iovec> segments;
    Extent extent;
    std::vector<Extent> wanted;  // the parts of it that are not ignored
    uint64_t length = 0;         // bytes to move
    int64_t result = 0;
    bool landed = false;
    bool torn = false;
    SyncPoint sync;
  };

  // An operation under way.
  struct Operation {
    FileOperation what;
    std::optional<FileOperationEnd> done;  // none: it has not taken effect
  };
  class Lock;

  FileOperationEnd end_after_cut(const FileOperation& operation);
  void take_effect(uint64_t number);
  void end_operation(uint64_t number);
  void check_transfer(const Transfer& transfer, const Extent& extent);
  void check_order(const Transfer& transfer, const File& file, const std::vector<Extent>& wanted);
  std::vector<Extent> wanted_of(const Transfer& transfer) const;
  const HardFault* hard_fault(DiskCall call, const std::string& path);
  FileHandle put(File file);
  Status refuse(const char* operation, DiskCall call, const std::string& path, int error);
  void note_under_way(Slot& slot, const File& file);
  void decide(Slot& slot, const File& file);
  bool fits(const File& file, uint64_t size) const;
  uint64_t shortened(const Slot& slot);
  void fit_into_disk(Slot& slot, const File& file);
  void land(Slot& slot);
  void write_sectors(const Slot& slot, const File& file, uint64_t percent);
  void complete(size_t index, uint64_t number);
  void finish(Slot& slot);

  World& world_;
  SimDisk& disk_;
  Faults& faults_;
  Doorbell& doorbell_;
  SplitDice dice_;
  const SimStorageOptions options_;
  const std::string name_;
  Capabilities capabilities_;
  FileTable<File> files_;
  std::vector<Slot> slots_;
  std::deque<Completion> done_;
  std::map<uint64_t, Operation> operations_;  // by number
  std::deque<FileOperationEnd> operations_done_;
  uint32_t under_way_ = 0;
  uint64_t submitted_ = 0;
  uint64_t descriptors_ = 0;  // open ones
  bool cut_ = false;
  std::vector<std::string> locked_;  // paths of all locks that it has taken
  std::function<bool(const void*)> ignored_ = [](const void*) { return false; };
};

}  // namespace tailrace::impl::simulation
