#include "lab/inside/forward_study/parallel_file_system.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::impl::study {
namespace {

StripeLayout layout_of(const ServerParameters& servers) {
  const uint32_t width = servers.width == 0 ? servers.count : std::min(servers.width, servers.count);
  return {servers.stripe, width, 0, 0};
}

}  // namespace

// A transfer that several servers carry out.
struct ParallelFileSystem::Split {
  uint32_t left = 0;
  std::function<void()> ended;
};

ParallelFileSystem::ParallelFileSystem(EventQueue& events, const Parameters& parameters, uint32_t files,
                                       uint64_t largest)
    : files_(files),
      layout_(layout_of(parameters.servers)),
      region_((largest / (layout_.unit * layout_.count) + 1) * layout_.unit) {
  TAILRACE_REQUIRE(parameters.servers.count > 0);
  for (uint32_t i = 0; i < parameters.servers.count; ++i) {
    servers_.push_back(std::make_unique<DataServer>(events, parameters));
  }
}

StripeMap ParallelFileSystem::stripes(uint32_t file) const {
  StripeMap map;
  map.unit = layout_.unit;
  map.servers.clear();
  for (uint32_t i = 0; i < layout_.count; ++i) {
    map.servers.push_back((first_server(file) + i) % static_cast<uint32_t>(servers_.size()));
  }
  return map;
}

void ParallelFileSystem::transfer(bool writes, uint32_t file, const Extent& extent, std::function<void()> ended) {
  TAILRACE_REQUIRE(file < files_);
  TAILRACE_REQUIRE(extent.length > 0);
  const auto split = std::make_shared<Split>();
  split->ended = std::move(ended);
  for (uint32_t object = 0; object < layout_.count; ++object) {
    const uint64_t begin = layout_.in_object(object, extent.offset);
    const uint64_t end = layout_.in_object(object, extent.end());
    if (begin == end) continue;
    TAILRACE_ASSERT(end <= region_);
    ++split->left;
    const uint64_t position = file * region_ + begin;
    servers_[(first_server(file) + object) % servers_.size()]->send({writes, position, end - begin, [split] {
                                                                       if (--split->left == 0) split->ended();
                                                                     }});
  }
}

DiskModel::Counts ParallelFileSystem::counts() const {
  DiskModel::Counts sum;
  for (const auto& server : servers_) {
    const DiskModel::Counts& one = server->disk().counts();
    sum.requests += one.requests;
    sum.bytes += one.bytes;
    sum.seeks += one.seeks;
    sum.passed += one.passed;
    sum.positioning += one.positioning;
    sum.busy += one.busy;
  }
  return sum;
}

}  // namespace tailrace::impl::study
