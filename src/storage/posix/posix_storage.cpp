#include "storage/posix/posix_storage.hpp"

#include <fmt/format.h>

#include <system_error>

#include "base/names/counted.hpp"

namespace tailrace::impl {
namespace {

Capabilities capabilities_of(const PosixStorage::Options& options) {
  return {.name = "posix, " + counted(options.devices, "write thread"),
          .depth = options.depth,
          .max_segments = kMaxSegments,
          .direct_alignment = options.direct ? kDirectAlignment : 0,
          .write_behind = true};
}

}  // namespace

Result<std::unique_ptr<PosixStorage>> PosixStorage::create(Doorbell& doorbell, const Options& options) {
  TAILRACE_REQUIRE(options.devices > 0);
  TAILRACE_REQUIRE(options.depth > 0);
  try {
    return std::unique_ptr<PosixStorage>(new PosixStorage(doorbell, options));
  } catch (const std::system_error& error) {
    Fault fault;
    fault.code = TAILRACE_IO_ERROR;
    fault.operation = "start";
    fault.message = fmt::format("starting {}: {}", counted(options.devices, "write thread"), error.code().message());
    fault.system_errno = error.code().value();
    return Status(std::move(fault));
  }
}

PosixStorage::PosixStorage(Doorbell& doorbell, const Options& options)
    : capabilities_(capabilities_of(options)), files_(options.direct, options.roots), done_(doorbell, options.depth) {
  for (uint32_t device = 0; device < options.devices; device++) {
    threads_.push_back(std::make_unique<WriteThread>(done_, options.depth, options.cpus));
  }
}

void PosixStorage::submit(const Transfer& transfer) {
  TAILRACE_REQUIRE(transfer.segments.size() <= kMaxSegments);
  TAILRACE_REQUIRE(under_way_ < capabilities_.depth);
  const OpenFile& file = files_.at(transfer.file);
  TAILRACE_REQUIRE(file.device < threads_.size());
  under_way_++;
  threads_[file.device]->put({transfer, file.descriptor(transfer), file.directory});
}

size_t PosixStorage::reap(std::span<Completion> done) {
  const size_t count = done_.take(done);
  TAILRACE_ASSERT(count <= under_way_);
  under_way_ -= static_cast<uint32_t>(count);
  return count;
}

}  // namespace tailrace::impl
