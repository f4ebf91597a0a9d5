#include "lab/inside/forward_testbed/modelled_servers.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

#include "base/os/file_descriptor.hpp"

namespace tailrace::impl::study {
namespace {

// Files lie so far apart on each disk.
constexpr uint64_t kApart = uint64_t{7} << 30;

}  // namespace

void ModelledServers::Unmap::operator()(Server* servers) const { ::munmap(servers, kMost * sizeof(Server)); }

// A new file is full of zeros, which is the state at the beginning.
Result<std::unique_ptr<ModelledServers>> ModelledServers::open(const Options& options) {
  const FileDescriptor file(::open(options.state.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (file.get() < 0) return Status::of_errno("open", options.state, errno);
  if (::ftruncate(file.get(), kMost * sizeof(Server)) != 0) return Status::of_errno("resize", options.state, errno);
  void* const mapped = ::mmap(nullptr, kMost * sizeof(Server), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) return Status::of_errno("map", options.state, errno);
  return std::unique_ptr<ModelledServers>(new ModelledServers(options, static_cast<Server*>(mapped)));
}

ModelledServers::ModelledServers(const Options& options, Server* servers)
    : options_(options), disk_(disk_of(options.disk)), servers_(servers) {}

StripeMap ModelledServers::stripes() const {
  StripeMap map{options_.stripe, {}};
  for (uint32_t server = 0; server < options_.count; ++server) map.servers.push_back(server);
  return map;
}

Nanoseconds ModelledServers::serve(uint64_t file, uint64_t offset, uint64_t length, Nanoseconds now) {
  struct Part {
    uint64_t position = 0;
    uint64_t bytes = 0;
  };
  std::array<Part, kMost> parts{};
  const uint64_t base = file * kApart % disk_.capacity;
  for (uint64_t at = offset; at < offset + length;) {
    const uint64_t stripe = at / options_.stripe;
    const uint64_t bytes = std::min(options_.stripe - at % options_.stripe, offset + length - at);
    Part& part = parts[stripe % options_.count];
    if (part.bytes == 0) part.position = base + stripe / options_.count * options_.stripe + at % options_.stripe;
    part.bytes += bytes;
    at += bytes;
  }
  Nanoseconds last = now;
  for (uint32_t i = 0; i < options_.count; ++i) {
    const Part& part = parts[i];
    if (part.bytes > 0) last = std::max(last, serve_on(servers_.get()[i], part.position, part.bytes, now));
  }
  return last;
}

Nanoseconds ModelledServers::serve_on(Server& server, uint64_t position, uint64_t bytes, Nanoseconds now) {
  while (server.taken.exchange(1, std::memory_order_acquire) != 0) std::this_thread::yield();
  DiskModel disk(disk_);
  disk.put_head(server.head);
  const Nanoseconds begun = std::max(now, Nanoseconds(server.free_at));
  const Nanoseconds ended = begun + disk.serve(position, bytes);
  server.free_at = ended.count();
  server.head = disk.head();
  ++server.requests;
  server.seeks += disk.counts().seeks;
  server.taken.store(0, std::memory_order_release);
  return ended;
}

ModelledServers::Counts ModelledServers::counts() const {
  Counts counts;
  for (uint32_t i = 0; i < options_.count; ++i) {
    counts.requests += servers_.get()[i].requests;
    counts.seeks += servers_.get()[i].seeks;
  }
  return counts;
}

}  // namespace tailrace::impl::study
