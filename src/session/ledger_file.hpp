// LedgerFile: a ledger's lines in a file in shared memory, which outlives the process but not the node, as the
// blocks' bytes do. The server's thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/file_descriptor.hpp"
#include "base/private_directory.hpp"
#include "session/ledger_store.hpp"

namespace tailrace::impl {

class LedgerFile final : public LedgerStore {
 public:
  // The file `name`, made if there is none. The directory is borrowed.
  static Result<std::unique_ptr<LedgerFile>> open(const PrivateDirectory& directory, std::string name);

  Result<std::vector<LedgerRecord>> read() override;
  Status append(const LedgerRecord& record) override;
  Status replace(std::span<const LedgerRecord> records) override;
  void remove() override;
  std::string name() const override { return directory_.path_of(name_); }

 private:
  LedgerFile(const PrivateDirectory& directory, std::string name, FileDescriptor file)
      : directory_(directory), name_(std::move(name)), file_(std::move(file)) {}

  const PrivateDirectory& directory_;
  const std::string name_;
  FileDescriptor file_;
  size_t written_ = 0;  // records in the file
};

}  // namespace tailrace::impl
