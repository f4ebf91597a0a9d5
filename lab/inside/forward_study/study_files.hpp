// StudyFiles: the names of the simulated parallel file system, as a forwarder's engine sees them: the path of a file
// is its number. Implements the port storage/file_system.hpp.
//
// All files exist and have any length. Nothing else of a file system is needed, or there.
#pragma once

#include <cerrno>
#include <memory>
#include <string>

#include "lab/inside/forward_study/parallel_file_system.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl::study {

class StudyFiles final : public FileSystem {
 public:
  explicit StudyFiles(const ParallelFileSystem& files) : files_(files) {}

  Result<Opened> open(const std::string& path, OpenMode, uint32_t) override {
    const auto file = static_cast<uint32_t>(std::stoul(path));
    return Opened{file, files_.stripes(file)};
  }
  void close(FileHandle) override {}
  bool direct(FileHandle) const override { return false; }
  Result<uint64_t> size(FileHandle) const override { return uint64_t{INT64_MAX}; }
  Result<size_t> read(FileHandle, uint64_t, std::span<std::byte>) const override { return missing("read"); }
  Status sync(FileHandle) override { return {}; }
  Status allocate(FileHandle, uint64_t, uint64_t) override { return {}; }
  Status truncate(FileHandle, uint64_t) override { return missing("truncate"); }
  Status rename(FileHandle, const std::string&, bool) override { return missing("rename"); }
  Result<NameFacts> stat(const std::string&) const override { return missing("stat"); }
  Result<std::vector<std::string>> list(const std::string&) const override { return missing("list"); }
  Status make_directory(const std::string&) override { return {}; }
  Status remove(const std::string&) override { return missing("remove"); }
  Status check_below(const std::string&, const std::string&) const override { return {}; }
  Result<std::unique_ptr<NameLock>> lock(const std::string&, const std::string&) override { return missing("lock"); }
  bool is_locked(const std::string&) const override { return false; }

 private:
  static Status missing(const char* operation) { return Status::of_errno(operation, "", ENOSYS); }

  const ParallelFileSystem& files_;
};

}  // namespace tailrace::impl::study
