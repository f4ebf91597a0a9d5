#include "storage/file_operation.hpp"

#include "base/assert.hpp"

namespace tailrace::impl {

Status carry_out(FileSystem& files, const FileOperation& operation) {
  Status status;
  switch (operation.kind) {
    case FileOperation::Kind::close: files.close(operation.file); return {};
    case FileOperation::Kind::truncate: return files.truncate(operation.file, operation.size);
    case FileOperation::Kind::publish:
      status = files.rename(operation.file, operation.path, operation.replace);
      files.close(operation.file);
      return status;
    case FileOperation::Kind::remove: files.close(operation.file); return files.remove(operation.path);
  }
  TAILRACE_ASSERT(false);
}

}  // namespace tailrace::impl
