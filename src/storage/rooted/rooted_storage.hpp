// RootedStorage: a storage whose files all lie below some directories, its roots. A forwarder runs its engine on one,
// since the paths come from other nodes.
//
// It finds each path with the kernel's openat2 and RESOLVE_BENEATH, from an open directory: a "..", a link or a
// rename at the wrong moment never leads out. What it found stays open while the storage behind it uses it, by a name
// below /proc/self/fd. Transfers pass through unchanged.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/rooted/rooted_files.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

class RootedStorage final : public Storage {
 public:
  // `roots` are absolute paths of directories. Fails if one cannot be opened, or the kernel has no openat2.
  static Result<std::unique_ptr<RootedStorage>> create(std::unique_ptr<Storage> inner,
                                                       const std::vector<std::string>& roots);

  const Capabilities& capabilities() const override { return inner_->capabilities(); }
  FileSystem& files() override { return files_; }
  void use_memory(std::span<std::byte> memory) override { inner_->use_memory(memory); }
  void submit(const Transfer& transfer) override { inner_->submit(transfer); }
  size_t reap(std::span<Completion> done) override { return inner_->reap(done); }
  std::optional<Nanoseconds> due() const override { return inner_->due(); }

 private:
  RootedStorage(std::unique_ptr<Storage> inner, std::vector<RootedFiles::Root> roots)
      : inner_(std::move(inner)), files_(inner_->files(), std::move(roots)) {}

  const std::unique_ptr<Storage> inner_;
  RootedFiles files_;
};

}  // namespace tailrace::impl
