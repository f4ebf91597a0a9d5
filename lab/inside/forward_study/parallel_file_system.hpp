// ParallelFileSystem: files in stripes over the data servers. A transfer is split by the stripe map, each server gets
// one request, and the transfer ends with the last of them.
//
// Forwarders use it, or the clients themselves. On each server's disk, files lie back to back, and each is
// contiguous. It holds no data.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "lab/inside/forward_study/data_server.hpp"
#include "model/request.hpp"
#include "model/stored_file.hpp"
#include "storage/striped/stripe_layout.hpp"

namespace tailrace::impl::study {

class ParallelFileSystem {
 public:
  // Has files 0 … files − 1, of at most `largest` bytes each.
  ParallelFileSystem(EventQueue& events, const Parameters& parameters, uint32_t files, uint64_t largest);

  StripeMap stripes(uint32_t file) const;
  // Moves a part of a file that is not empty; calls `ended` once, later.
  void transfer(bool writes, uint32_t file, const Extent& extent, std::function<void()> ended);

  const std::vector<std::unique_ptr<DataServer>>& servers() const { return servers_; }
  // Returns the sums over all disks.
  DiskModel::Counts counts() const;

 private:
  struct Split;

  uint32_t first_server(uint32_t file) const { return file % static_cast<uint32_t>(servers_.size()); }

  const uint32_t files_;
  const StripeLayout layout_;
  const uint64_t region_;  // bytes that a file takes on each server's disk
  std::vector<std::unique_ptr<DataServer>> servers_;
};

}  // namespace tailrace::impl::study
