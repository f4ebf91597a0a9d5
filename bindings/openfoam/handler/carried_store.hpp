// CarriedStore: tailrace carries the bytes, by the process's client.
#pragma once

#include <tailrace/tailrace.h>

#include <map>
#include <string>
#include <vector>

#include "openfoam/output/direct_store.hpp"
#include "openfoam/output/store.hpp"
#include "process_client/process_client.hpp"

namespace tailrace::openfoam {

class CarriedStore : public Store {
 public:
  // The client must live as long as this. Files that it cannot open are written without it.
  explicit CarriedStore(process::ProcessClient& client) : client_(client) {}

  Reason open(const std::string& path, File& file) override;
  Reason write(File file, uint64_t offset, const std::byte* data, size_t bytes, Ticket& ticket) override;
  Reason close(File file, Ticket& ticket) override;
  void give_up(File file) override;
  Reason wait(Ticket ticket) override;

 private:
  struct Opened {
    tailrace_file file{};
    std::string path;
    File direct = 0;  // of direct_, if `carried` is false
    bool carried = true;
  };
  struct Waiting {
    std::vector<tailrace_ticket> tickets;
    std::string path;
  };

  void forget_failures(const std::string& path);
  Ticket waiting_for(std::vector<tailrace_ticket> tickets, const std::string& path);

  process::ProcessClient& client_;
  DirectStore direct_;
  std::map<File, Opened> files_;
  std::map<Ticket, Waiting> waiting_;
  File latest_file_ = 0;
  Ticket latest_ticket_ = 0;
};

}  // namespace tailrace::openfoam
