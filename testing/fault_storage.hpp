// FaultStorage: a storage that misbehaves as a real one may, by a plan and from a seed. It wraps any other storage
// behind the port storage.hpp.
//
// Its behaviour follows from seed, plan and the calls made. Over a storage whose completions come in a fixed order
// (MemoryStorage), it is the same in each run. It keeps a log of every operation and of its faults, for checkers. It
// also checks that its caller obeys the port: a misaligned transfer, a file closed under a transfer, or too many
// under way end the test. It never changes bytes that it reports as written.
#pragma once

#include <cerrno>
#include <limits>
#include <random>
#include <vector>

#include "base/sync/doorbell.hpp"
#include "storage/file_table.hpp"
#include "storage/storage.hpp"
#include "testing/forwarding_file_system.hpp"

namespace tailrace::impl {

enum class FaultOn : uint8_t { open, allocate, rename, remove, read, write, sync };

// Fails operations of one kind: of those whose path matches, `first` pass, then `times` fail.
struct FaultRule {
  static constexpr uint64_t kForever = std::numeric_limits<uint64_t>::max();

  FaultOn on = FaultOn::write;
  std::string path_contains = {};  // empty: all files. A rename matches by its old name.
  uint64_t first = 0;
  uint64_t times = 1;
  int error = EIO;
  // A failing write leaves some of its bytes in the file, as a disk may.
  bool torn = false;
};

struct FaultPlan {
  // Chances for each transfer, 0 to 90, so that everything that is retried succeeds in the end. Syncs are never
  // short.
  uint32_t short_percent = 0;
  uint32_t eintr_percent = 0;
  uint32_t eagain_percent = 0;
  // Holds a completion back for 0 to this many calls of reap().
  uint32_t delay_reaps = 0;
  // Hands out due completions in random order.
  bool reorder = false;
  // Not 0: claims that direct transfers with this alignment are possible on every file, and checks it, whatever the
  // wrapped storage supports.
  uint32_t pretend_direct = 0;
  // Most files that may be open at once; opening one more fails with EMFILE, as in a process with too many.
  size_t most_open = std::numeric_limits<size_t>::max();
  std::vector<FaultRule> rules = {};
};

// One line of the log. A transfer has two: its begin, and the hand-out of its end.
struct FaultEvent {
  enum class What : uint8_t { begun, ended };
  What what = What::ended;
  FaultOn on = FaultOn::write;
  std::string path = {};
  std::string to = {};  // for a rename
  uint64_t offset = 0;  // for a transfer or allocate, as requested, like length
  uint64_t length = 0;
  uint64_t tag = 0;
  // Begun: bytes that it passes on, or -errno of the injected fault (also for a torn write). Ended: the result that
  // the caller got, bytes or -errno.
  int64_t result = 0;

  bool operator==(const FaultEvent&) const = default;
};

class FaultStorage final : public Storage, public ForwardingFileSystem {
 public:
  // `inner` and `doorbell` must outlive this; `inner` rings the same doorbell.
  FaultStorage(Storage& inner, Doorbell& doorbell, uint64_t seed, FaultPlan plan);

  const Capabilities& capabilities() const override { return capabilities_; }
  FileSystem& files() override { return *this; }
  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override;
  void close(FileHandle file) override;
  bool direct(FileHandle file) const override;
  Result<uint64_t> size(FileHandle file) const override { return inner_.files().size(files_.at(file).inner); }
  Result<size_t> read(FileHandle file, uint64_t offset, std::span<std::byte> to) const override {
    return inner_.files().read(files_.at(file).inner, offset, to);
  }
  Status write(FileHandle file, uint64_t offset, std::span<const std::byte> from) override;
  Status sync(FileHandle file) override { return inner_.files().sync(files_.at(file).inner); }
  Status allocate(FileHandle file, uint64_t offset, uint64_t length) override;
  Status truncate(FileHandle file, uint64_t size) override {
    return inner_.files().truncate(files_.at(file).inner, size);
  }
  Status rename(FileHandle file, const std::string& to, bool replace) override;
  Status remove(const std::string& path) override;
  void use_memory(std::span<std::byte> memory) override { inner_.use_memory(memory); }
  void submit(const Transfer& transfer) override;
  size_t reap(std::span<Completion> done) override;

  // Call it on the engine's thread, or after that has ended.
  const std::vector<FaultEvent>& log() const { return log_; }
  size_t under_way() const { return under_way_; }

 private:
  struct File {
    FileHandle inner = 0;
    std::string path = {};
    uint32_t under_way = 0;
  };
  // A transfer under way. Its tag in the wrapped storage is its index.
  struct Slot {
    bool used = false;
    Transfer transfer;            // as the caller submitted it
    std::vector<iovec> segments;  // the segments that are passed on
    int fault = 0;                // the errno to end with, whatever the wrapped storage returns
  };
  struct Held {
    size_t slot = 0;
    int64_t result = 0;
    uint64_t due = 0;  // number of the call of reap() that may hand it out
  };

  uint64_t draw(uint64_t below) { return random_() % below; }
  bool chance(uint32_t percent) { return draw(100) < percent; }
  const FaultRule* failing(FaultOn on, const std::string& path);
  int passing_fault(Transfer::Kind kind);
  void check_direct(const Transfer& transfer) const;
  uint64_t shorter(const Transfer& transfer, uint64_t length);
  void pass_on(size_t slot, uint64_t length);
  void hold(size_t slot, int64_t result);
  Completion hand_out(size_t held);
  void wake();

  // Constant after construction.
  Storage& inner_;
  Doorbell& doorbell_;
  const FaultPlan plan_;
  Capabilities capabilities_;
  // Used by the engine's thread only.
  std::mt19937_64 random_;
  std::vector<uint64_t> matches_;  // how often each rule's operation occurred
  FileTable<File> files_;
  size_t open_ = 0;  // open files
  std::vector<Slot> slots_;
  std::vector<Held> held_;
  size_t under_way_ = 0;
  uint64_t reaps_ = 0;
  std::vector<FaultEvent> log_;
};

}  // namespace tailrace::impl
