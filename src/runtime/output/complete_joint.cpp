#include "runtime/output/complete_joint.hpp"

#include <array>

#include "base/sync/doorbell.hpp"
#include "runtime/parts/open_storage.hpp"

namespace tailrace::impl {
namespace {

// Says nothing: the result is the caller's to report.
class NoLog final : public Log {
 public:
  void put(LogLevel, std::string_view) override {}
};

// Returns the bytes that were transferred, or -errno.
int64_t carry_out(Storage& storage, Doorbell& doorbell, const Transfer& transfer) {
  storage.submit(transfer);
  for (;;) {
    std::array<Completion, 1> done;
    doorbell.prepare();
    if (storage.reap(done) == 1) {
      doorbell.cancel();
      return done[0].result;
    }
    doorbell.sleep();
  }
}

Status write_piece(Storage& storage, Doorbell& doorbell, FileHandle file, const MetadataPiece& piece,
                   const std::string& path) {
  std::span<const std::byte> left = piece.bytes.all();
  Transfer transfer;
  transfer.file = file;
  transfer.offset = piece.offset;
  while (!left.empty()) {
    const iovec segment{const_cast<std::byte*>(left.data()), left.size()};  // the storage only reads it
    transfer.segments = {&segment, 1};
    const int64_t result = carry_out(storage, doorbell, transfer);
    if (result == -EINTR || result == -EAGAIN) continue;
    if (result <= 0) return Status::of_errno("write", path, result == 0 ? EIO : static_cast<int>(-result));
    left = left.subspan(static_cast<size_t>(result));
    transfer.offset += static_cast<uint64_t>(result);
  }
  return {};
}

}  // namespace

// The superblock shows the file to readers: everything else is durable before it is written.
Status complete_joint(const std::string& unfinished, const FileEnding& ending) {
  Doorbell doorbell;
  NoLog log;
  Config config;
  config.storage.backend = Backend::posix;
  config.storage.direct = false;
  config.storage.paths = {unfinished.substr(0, unfinished.rfind('/'))};
  auto storage = open_local(config, {}, doorbell, log);
  if (!storage.ok()) return storage.status();
  FileSystem& files = storage.value()->files();
  const Result<Opened> opened = files.open(unfinished, OpenMode::own, 0);
  if (!opened.ok()) return opened.status();
  const FileHandle file = opened.value().file;
  Status status;
  for (const MetadataPiece& piece : ending.body) {
    if (status.ok()) status = write_piece(*storage.value(), doorbell, file, piece, unfinished);
  }
  if (status.ok()) status = files.sync(file);
  if (status.ok()) status = write_piece(*storage.value(), doorbell, file, ending.head, unfinished);
  files.close(file);
  return status;
}

}  // namespace tailrace::impl
