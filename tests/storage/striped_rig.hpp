// The rig of the tests of `striped`: striped storages over one storage in memory, which outlives them as disks
// outlive processes; and a storage that dies after a number of steps.
#pragma once

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "back_ends.hpp"
#include "storage_driver.hpp"
#include "testing/forwarding_file_system.hpp"

namespace tailrace::impl {

using Bytes = std::vector<std::byte>;

// Passes everything on to a storage that outlives it. From a given step on, nothing that changes a file has an
// effect, as if the process had been killed then.
class MortalStorage final : public Storage, public ForwardingFileSystem {
 public:
  // `steps`: none: it lives.
  MortalStorage(Storage& inner, Doorbell& doorbell, std::optional<uint64_t> steps)
      : ForwardingFileSystem(inner.files()), inner_(inner), doorbell_(doorbell), steps_(steps) {}

  bool died() const { return died_; }

  const Capabilities& capabilities() const override { return inner_.capabilities(); }
  FileSystem& files() override { return *this; }
  void use_memory(std::span<std::byte> memory) override { inner_.use_memory(memory); }

  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override {
    const bool changes = mode == OpenMode::create || mode == OpenMode::fresh || mode == OpenMode::update;
    if (changes && !step()) return Status::of_errno("create", path, EIO);
    return ForwardingFileSystem::open(path, mode, device);
  }
  Status truncate(FileHandle file, uint64_t size) override {
    return step() ? ForwardingFileSystem::truncate(file, size) : dead();
  }
  Status rename(FileHandle file, const std::string& to, bool replace) override {
    return step() ? ForwardingFileSystem::rename(file, to, replace) : dead();
  }
  Status remove(const std::string& path) override { return step() ? ForwardingFileSystem::remove(path) : dead(); }

  void submit(const Transfer& transfer) override {
    if (transfer.kind != Transfer::Kind::write || step()) return inner_.submit(transfer);
    lost_.push_back({transfer.tag, -EIO});
    doorbell_.ring();
  }
  size_t reap(std::span<Completion> done) override {
    if (lost_.empty() || done.empty()) return inner_.reap(done);
    done[0] = lost_.back();
    lost_.pop_back();
    return 1;
  }

 private:
  bool step() {
    if (steps_ == uint64_t{0}) died_ = true;
    if (steps_ && !died_) --*steps_;
    return !died_;
  }
  static Status dead() { return Status::of_errno("anything", "by the dead", EIO); }

  Storage& inner_;
  Doorbell& doorbell_;
  std::optional<uint64_t> steps_;
  bool died_ = false;
  std::vector<Completion> lost_;
};

// Holds back all writes but those of heads until it is released, and passes everything else on.
class HeldWrites final : public Storage {
 public:
  explicit HeldWrites(Storage& inner) : inner_(inner) {}

  void release() {
    released_ = true;
    for (const Transfer& transfer : held_) inner_.submit(transfer);
  }

  const Capabilities& capabilities() const override { return inner_.capabilities(); }
  FileSystem& files() override { return inner_.files(); }
  void use_memory(std::span<std::byte> memory) override { inner_.use_memory(memory); }
  void submit(const Transfer& transfer) override {
    const bool held = transfer.kind == Transfer::Kind::write && transfer.offset >= kObjectHeadBytes && !released_;
    if (!held) return inner_.submit(transfer);
    held_.push_back(transfer);
  }
  size_t reap(std::span<Completion> done) override { return inner_.reap(done); }

 private:
  Storage& inner_;
  bool released_ = false;
  std::vector<Transfer> held_;
};

class StripedRig {
 public:
  explicit StripedRig(uint32_t devices = 3, uint64_t unit = kLeastStripe) : unit_(unit) {
    for (uint32_t device = 0; device < devices; ++device) directories_.push_back("d" + std::to_string(device));
  }

  // Returns a striped storage over the disks, or over `inner`. With `steps`, it dies after so many.
  std::unique_ptr<StripedStorage> open(std::optional<uint64_t> steps = {}, Storage* inner = nullptr) {
    auto mortal = std::make_unique<MortalStorage>(inner != nullptr ? *inner : disks, doorbell, steps);
    last_ = mortal.get();
    StripeSet set{directories_, directories_, unit_, [this] { return std::to_string(next_id_++); }};
    auto made = StripedStorage::create(doorbell, std::move(mortal), std::move(set));
    TAILRACE_REQUIRE(made.ok());
    return std::move(made).value();
  }
  // Returns true if the storage that was opened last, and still exists, has died.
  bool last_has_died() const { return last_->died(); }

  const std::vector<std::string>& directories() const { return directories_; }
  uint64_t unit() const { return unit_; }

  // Carries a transfer out to its end, as the engine does. Returns the bytes transferred, or -errno.
  int64_t complete(Storage& storage, Transfer::Kind kind, FileHandle file, uint64_t offset,
                   std::span<std::byte> bytes) {
    uint64_t done = 0;
    while (done < bytes.size()) {
      const int64_t result = run(storage, doorbell, kind, file, offset + done, bytes.subspan(done));
      if (result == -EINTR || result == -EAGAIN) continue;
      if (result < 0) return result;
      if (result == 0) break;
      done += static_cast<uint64_t>(result);
    }
    return static_cast<int64_t>(done);
  }

  // Makes a file with these bytes.
  FileHandle make(Storage& storage, const std::string& path, Bytes bytes, OpenMode mode = OpenMode::create) {
    const Result<Opened> file = storage.files().open(path, mode, 0);
    TAILRACE_REQUIRE(file.ok());
    EXPECT_EQ(complete(storage, Transfer::Kind::write, file.value().file, 0, bytes), bytes.size());
    return file.value().file;
  }

  // Returns the objects beside the first ones, by their paths.
  std::vector<std::string> other_objects() {
    std::vector<std::string> paths;
    for (size_t device = 1; device < directories_.size(); ++device) {
      const Result<std::vector<std::string>> names = disks.files().list(directories_[device]);
      for (const std::string& name : names.value()) {
        paths.push_back(directories_[device] + "/" + name);
      }
    }
    return paths;
  }

  Doorbell doorbell;
  MemoryStorage disks{doorbell};

 private:
  std::vector<std::string> directories_;
  const uint64_t unit_;
  uint64_t next_id_ = 0;
  MortalStorage* last_ = nullptr;
};

// Returns the bytes of a file; none if there is no such file. Anything else is a failure.
inline std::optional<Bytes> bytes_at(FileSystem& files, const std::string& path) {
  const Result<Opened> file = files.open(path, OpenMode::read, 0);
  if (!file.ok()) {
    EXPECT_EQ(file.status().fault().system_errno, ENOENT) << file.status().fault().message;
    return std::nullopt;
  }
  Bytes bytes(files.size(file.value().file).value());
  EXPECT_EQ(files.read(file.value().file, 0, bytes).value(), bytes.size());
  EXPECT_EQ(files.stat(path).value().size, bytes.size());
  files.close(file.value().file);
  return bytes;
}

inline Bytes random_bytes(size_t count, std::mt19937_64& random) {
  Bytes bytes(count);
  fill(bytes, random);
  return bytes;
}

}  // namespace tailrace::impl
