// DirectStore: writes at once, without tailrace, where tailrace cannot carry a file.
#pragma once

#include <map>

#include "openfoam/output/store.hpp"

namespace tailrace::openfoam {

class DirectStore : public Store {
 public:
  ~DirectStore() override;
  Reason open(const std::string& path, File& file) override;
  Reason write(File file, uint64_t offset, const std::byte* data, size_t bytes, Ticket& ticket) override;
  Reason close(File file, Ticket& ticket) override;
  void give_up(File file) override;
  Reason wait(Ticket ticket) override;

 private:
  struct Opened {
    std::string path;
    bool complete = true;
  };

  std::map<File, Opened> files_;  // by the file's descriptor
};

}  // namespace tailrace::openfoam
