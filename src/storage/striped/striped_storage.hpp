// StripedStorage: the back end `striped`, which keeps a file over several directories, in stripes of one size, by
// another back end. Implements the port storage.hpp.
//
// A transfer becomes at most one transfer of the other back end for each object of the file, and ends with the last
// of them. Its result is a prefix of it that is truly done; if there is none, the failure of its first byte. It has
// no thread of its own, and copies no byte.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/sync/doorbell.hpp"
#include "storage/fixed_fifo.hpp"
#include "storage/storage.hpp"
#include "storage/striped/object_parts.hpp"
#include "storage/striped/striped_file_system.hpp"

namespace tailrace::impl {

class StripedStorage final : public Storage {
 public:
  // Makes the directories of `set`. `inner` rings `doorbell`, which outlives the storage, and takes as many transfers
  // at once as there are directories, or more. Fails if a directory cannot be made, or if heads have no room for the
  // names of all.
  static Result<std::unique_ptr<StripedStorage>> create(Doorbell& doorbell, std::unique_ptr<Storage> inner,
                                                        StripeSet set);
  // Ends the other back end first, which carries out the transfers in progress.
  ~StripedStorage() override;

  const Capabilities& capabilities() const override { return capabilities_; }
  FileSystem& files() override { return files_; }
  void use_memory(std::span<std::byte> memory) override { inner_->use_memory(memory); }
  // Begins less than the whole transfer if it has too many segments for the other back end once it is cut.
  void submit(const Transfer& transfer) override;
  size_t reap(std::span<Completion> done) override;

 private:
  // A transfer in progress.
  struct Slot {
    Transfer transfer = {};
    std::vector<ObjectPart> parts = {};  // by object; of a sync, only the results count
    uint64_t end = 0;                    // of what has begun, in the file
    uint32_t under_way = 0;              // transfers of the other back end
    std::optional<uint64_t> made = {};   // not none: it syncs the directories, for that many files
  };

  StripedStorage(Doorbell& doorbell, std::unique_ptr<Storage> inner, StripeSet set);

  void begin_parts(uint32_t slot, const StripedFile& file);
  void begin_syncs(uint32_t slot, const std::vector<FileHandle>& files);
  void pass_on(Transfer transfer, uint64_t tag);
  void collect();
  void settle(const Completion& done);
  void finish(uint32_t slot);
  void end(uint32_t slot, int64_t result);
  int64_t result_of_sync(const Slot& slot) const;
  int64_t result_of_parts(const Slot& slot);
  Result<bool> fill_hole(const StripedFile& file, uint32_t object, const ObjectPart& part, uint64_t size);

  // Constant after construction.
  Doorbell& doorbell_;
  const uint32_t objects_;  // most of a file
  // Owned by the engine's thread.
  std::unique_ptr<Storage> inner_;
  StripedFileSystem files_;
  const Capabilities capabilities_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;  // indices of slots
  FixedFifo<Completion> done_;
  uint32_t under_way_ = 0;  // transfers of the other back end, not reaped yet
};

}  // namespace tailrace::impl
