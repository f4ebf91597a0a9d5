#include "storage/file_operation.hpp"

#include <utility>

#include "base/assert.hpp"

namespace tailrace::impl {

FileOperationEnd carry_out(FileSystem& files, const FileOperation& operation) {
  FileOperationEnd end{operation.tag};
  switch (operation.kind) {
    case FileOperation::Kind::open: {
      Result<Opened> opened = files.open(operation.path, operation.mode, operation.device);
      end.status = opened.status();
      if (opened.ok()) end.opened = std::move(opened).value();
      return end;
    }
    case FileOperation::Kind::reserve:
      end.status = files.allocate(operation.file, operation.offset, operation.size);
      return end;
    case FileOperation::Kind::close: files.close(operation.file); return end;
    case FileOperation::Kind::truncate: end.status = files.truncate(operation.file, operation.size); return end;
    case FileOperation::Kind::publish:
      end.status = files.rename(operation.file, operation.path, operation.replace);
      files.close(operation.file);
      return end;
    case FileOperation::Kind::remove:
      files.close(operation.file);
      end.status = files.remove(operation.path);
      return end;
  }
  TAILRACE_ASSERT(false);
}

}  // namespace tailrace::impl
