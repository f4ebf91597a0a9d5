// ModelledStorage: holds the completions of another storage back until the modelled data servers would have carried
// the transfers out. Implements the port storage.hpp.
//
// The bytes are moved by the other storage, whose files should be in memory. Files have the servers' stripe map. For
// the engine's thread only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "lab/inside/forward_testbed/modelled_servers.hpp"
#include "storage/storage.hpp"
#include "testing/forwarding_file_system.hpp"

namespace tailrace::impl::study {

class ModelledStorage final : public Storage, public ForwardingFileSystem {
 public:
  // Borrows the clock, which must be that of all processes (SteadyClock).
  ModelledStorage(std::unique_ptr<Storage> inner, std::unique_ptr<ModelledServers> servers, const Clock& clock);

  const Capabilities& capabilities() const override { return inner_->capabilities(); }
  FileSystem& files() override { return *this; }
  void use_memory(std::span<std::byte> memory) override { inner_->use_memory(memory); }
  void submit(const Transfer& transfer) override;
  size_t reap(std::span<Completion> done) override;
  std::optional<Nanoseconds> due() const override;
  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override;

 private:
  const std::unique_ptr<Storage> inner_;
  const std::unique_ptr<ModelledServers> servers_;
  const Clock& clock_;
  std::unordered_map<FileHandle, uint64_t> numbers_;  // of open files, on the modelled disks
  std::unordered_map<uint64_t, Nanoseconds> ends_;    // of transfers that the other storage has, by tag
  std::multimap<Nanoseconds, Completion> held_;       // by the time at which they end
};

}  // namespace tailrace::impl::study
