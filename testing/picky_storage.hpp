// PickyStorage: wraps another storage behind the port, accepts fewer transfers and segments at once, and fails
// transfers that touch bad bytes, as a disk with a broken sector does.
//
// It carries out nothing of a failing transfer. Deterministic; for the engine's thread only.
#pragma once

#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/sync/doorbell.hpp"
#include "model/request.hpp"
#include "storage/storage.hpp"
#include "testing/forwarding_file_system.hpp"

namespace tailrace::impl {

class PickyStorage final : public Storage, public ForwardingFileSystem {
 public:
  // `depth` and `max_segments` must not be larger than those of `inner`. `inner` and `doorbell` must outlive this.
  PickyStorage(Storage& inner, Doorbell& doorbell, uint32_t depth, uint32_t max_segments)
      : ForwardingFileSystem(inner.files()), inner_(inner), doorbell_(doorbell), capabilities_(inner.capabilities()) {
    TAILRACE_REQUIRE(depth > 0 && depth <= capabilities_.depth);
    TAILRACE_REQUIRE(max_segments > 0 && max_segments <= capabilities_.max_segments);
    capabilities_.depth = depth;
    capabilities_.max_segments = max_segments;
  }

  // From now on, transfers that touch `bad` of the file opened as `path` end with EIO.
  void spoil(const std::string& path, Extent bad) { bad_[path].push_back(bad); }
  bool is_bad(const std::string& path, Extent extent) const {
    const auto found = bad_.find(path);
    if (found == bad_.end()) return false;
    for (const Extent& bad : found->second) {
      if (bad.overlaps(extent)) return true;
    }
    return false;
  }

  // Returns the extents for which room was requested, in order.
  const std::vector<Extent>& rooms() const { return rooms_; }

  // Sets the stripe map of files that are opened from now on.
  void set_stripes(StripeMap stripes) { stripes_ = std::move(stripes); }

  const Capabilities& capabilities() const override { return capabilities_; }
  FileSystem& files() override { return *this; }
  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override {
    Result<Opened> file = ForwardingFileSystem::open(path, mode, device);
    if (file.ok()) paths_[file.value().file] = path;
    if (file.ok() && stripes_) file.value().stripes = *stripes_;
    return file;
  }
  void close(FileHandle file) override {
    paths_.erase(file);
    ForwardingFileSystem::close(file);
  }
  void use_memory(std::span<std::byte> memory) override { inner_.use_memory(memory); }

  void submit(const Transfer& transfer) override {
    TAILRACE_REQUIRE(transfer.scattered || transfer.segments.size() <= capabilities_.max_segments);
    TAILRACE_REQUIRE(++under_way_ <= capabilities_.depth);
    if (transfer.room > 0) rooms_.push_back({transfer.offset, transfer.room});
    uint64_t length = 0;
    for (const iovec& segment : transfer.segments) length += segment.iov_len;
    if (length > 0 && is_bad(paths_.at(transfer.file), {transfer.offset, length})) {
      failed_.push_back({transfer.tag, -EIO});
      doorbell_.ring();
    } else {
      inner_.submit(transfer);
    }
  }

  size_t reap(std::span<Completion> done) override {
    size_t count = 0;
    while (count < done.size() && !failed_.empty()) {
      done[count++] = failed_.back();
      failed_.pop_back();
    }
    count += inner_.reap(done.subspan(count));
    under_way_ -= static_cast<uint32_t>(count);
    return count;
  }

 private:
  Storage& inner_;
  Doorbell& doorbell_;
  Capabilities capabilities_;
  uint32_t under_way_ = 0;
  std::optional<StripeMap> stripes_;
  std::map<FileHandle, std::string> paths_;
  std::map<std::string, std::vector<Extent>> bad_;
  std::vector<Completion> failed_;
  std::vector<Extent> rooms_;
};

}  // namespace tailrace::impl
