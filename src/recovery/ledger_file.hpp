// LedgerFile: a ledger's lines in a file in shared memory. Like the blocks' bytes, it outlives the process but not
// the node. Runs on the server's thread.
//
// The file is mapped, so a line costs no system call. The file is longer than its lines. Behind the last line there
// are zeros, or a line that a server was writing when it died: a line's kind is written last, so it is still zero.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/os/file_descriptor.hpp"
#include "base/os/private_directory.hpp"
#include "recovery/ledger_store.hpp"

namespace tailrace::impl {

class LedgerFile final : public LedgerStore {
 public:
  // Opens the file `name`, which it creates if there is none. Borrows the directory.
  static Result<std::unique_ptr<LedgerFile>> open(const PrivateDirectory& directory, std::string name);
  ~LedgerFile() override;

  Result<std::vector<LedgerRecord>> read() override;
  Status append(const LedgerRecord& record) override;
  Status replace(std::span<const LedgerRecord> records) override;
  void append_last(const LedgerRecord& record) override;
  void remove() override;
  std::string name() const override { return directory_.path_of(name_); }

 private:
  LedgerFile(const PrivateDirectory& directory, std::string name, FileDescriptor file)
      : directory_(directory), name_(std::move(name)), file_(std::move(file)) {}

  // Maps the file. REQUIRES: it has room for `records`.
  Status map(size_t records);
  void unmap();
  Status grow();
  Status failed(const char* what, int error) const;

  const PrivateDirectory& directory_;
  const std::string name_;
  FileDescriptor file_;
  LedgerRecord* lines_ = nullptr;  // in the mapping; null: there is none
  size_t room_ = 0;                // lines that the file has room for; the last one is for append_last()
  size_t written_ = 0;             // lines in it
};

}  // namespace tailrace::impl
