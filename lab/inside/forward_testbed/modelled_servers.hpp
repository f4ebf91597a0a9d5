// ModelledServers: data servers that do not exist. It computes how long each transfer takes when several processes
// use them at once.
//
// Each server has one disk (DiskModel), and takes requests in the order in which they ask. A file is cut into
// stripes, which the servers hold in turn; its part on each disk is contiguous. The state is in a file that all
// processes map. Any process; one thread of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.hpp"
#include "lab/inside/forward_study/disk_model.hpp"
#include "model/stored_file.hpp"

namespace tailrace::impl::study {

class ModelledServers {
 public:
  static constexpr uint32_t kMost = 64;

  struct Options {
    std::string state;  // the file: made by the first to come
    std::string disk = "sata7200";
    uint32_t count = 4;
    uint64_t stripe = 64 * kKiB;
  };
  struct Counts {
    uint64_t requests = 0;
    uint64_t seeks = 0;
  };

  static Result<std::unique_ptr<ModelledServers>> open(const Options& options);

  StripeMap stripes() const;
  // Puts a transfer into the queues of its servers. `file` names the file. Returns when its last part has ended.
  Nanoseconds serve(uint64_t file, uint64_t offset, uint64_t length, Nanoseconds now);
  // Returns what all processes have done.
  Counts counts() const;

 private:
  // The state of one server, which all processes share. `taken` guards the others: acquire when it is taken, release
  // when it is given back. A process that is killed in between blocks the server: this is a test-bed.
  struct Server {
    std::atomic<uint32_t> taken;
    int64_t free_at;  // nanoseconds of the steady clock
    uint64_t head;
    uint64_t requests;
    uint64_t seeks;
  };
  struct Unmap {
    void operator()(Server* servers) const;
  };

  ModelledServers(const Options& options, Server* servers);
  Nanoseconds serve_on(Server& server, uint64_t position, uint64_t bytes, Nanoseconds now);

  const Options options_;
  const DiskParameters disk_;
  const std::unique_ptr<Server, Unmap> servers_;
};

}  // namespace tailrace::impl::study
