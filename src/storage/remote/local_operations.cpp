#include "storage/remote/local_operations.hpp"

#include <utility>

namespace tailrace::impl {

using Kind = FileOperation::Kind;

Task<FileOperationEnd> LocalOperations::carry_out(FileOperation operation) {
  const uint64_t tag = ++last_;
  const uint64_t asked = std::exchange(operation.tag, tag);
  under_way_[tag];
  storage_->submit(std::move(operation));
  reap();  // it may have ended at once
  Waits::Condition over(waits_, [this, tag] { return under_way_.at(tag).has_value(); });
  co_await over;
  FileOperationEnd end = std::move(*under_way_.extract(tag).mapped());
  end.tag = asked;
  co_return end;
}

void LocalOperations::reap() {
  if (under_way_.empty()) return;
  while (auto end = storage_->reap_operation()) {
    const auto found = under_way_.find(end->tag);
    if (found != under_way_.end()) found->second = std::move(*end);
  }
}

Task<Result<Opened>> LocalOperations::open(std::string path, OpenMode mode, uint32_t device) {
  FileOperation operation{.kind = Kind::open, .path = std::move(path), .mode = mode, .device = device};
  FileOperationEnd end = co_await carry_out(std::move(operation));
  if (!end.status.ok()) co_return Result<Opened>(end.status);
  co_return Result<Opened>(std::move(end.opened));
}

Task<Status> LocalOperations::rename(FileHandle file, std::string path, bool replace) {
  FileOperation operation{.kind = Kind::rename, .file = file, .path = std::move(path), .replace = replace};
  const FileOperationEnd end = co_await carry_out(std::move(operation));
  co_return end.status;
}

Task<bool> LocalOperations::close(FileHandle file) {
  FileOperation operation{.kind = Kind::close, .file = file};
  const FileOperationEnd end = co_await carry_out(std::move(operation));
  co_return end.status.ok();
}

// A call may outlive its task, which then is destroyed: they share what it finds.
Task<Result<std::unique_ptr<NameLock>>> LocalOperations::lock(std::string path, std::string holder) {
  using Taken = Result<std::unique_ptr<NameLock>>;
  const auto taken = std::make_shared<std::optional<Taken>>();
  FileOperation operation{.kind = Kind::call};
  operation.call = [taken, path = std::move(path), holder = std::move(holder)](FileSystem& files) {
    taken->emplace(files.lock(path, holder));
  };
  (void)co_await carry_out(std::move(operation));
  co_return std::move(**taken);
}

Task<bool> LocalOperations::release(std::unique_ptr<NameLock> lock) {
  const std::shared_ptr<std::unique_ptr<NameLock>> released =
      std::make_shared<std::unique_ptr<NameLock>>(std::move(lock));
  FileOperation operation{.kind = Kind::call};
  operation.call = [released](FileSystem&) { released->reset(); };
  const FileOperationEnd end = co_await carry_out(std::move(operation));
  co_return end.status.ok();
}

}  // namespace tailrace::impl
