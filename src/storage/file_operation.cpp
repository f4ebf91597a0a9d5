#include "storage/file_operation.hpp"

#include <cerrno>
#include <utility>

#include "base/assert.hpp"

namespace tailrace::impl {
std::string path_below(const std::string& root, const std::string& path) {
  TAILRACE_ASSERT(path.starts_with(root));
  const size_t begin = path.find_first_not_of('/', root.size());
  return begin == std::string::npos ? std::string() : path.substr(begin);
}

Status check_root(const FileSystem& files, const std::string& root, const std::string& path) {
  return root.empty() ? Status() : files.check_below(root, path_below(root, path));
}

FileOperationEnd carry_out(FileSystem& files, const FileOperation& operation) {
  FileOperationEnd end{operation.tag};
  switch (operation.kind) {
    case FileOperation::Kind::open: {
      if (end.status = check_root(files, operation.root, operation.path); !end.status.ok()) return end;
      Result<Opened> opened = files.open(operation.path, operation.mode, operation.device);
      end.status = opened.status();
      if (opened.ok()) end.opened = std::move(opened).value();
      return end;
    }
    case FileOperation::Kind::allocate:
    case FileOperation::Kind::reserve:
      end.status = files.allocate(operation.file, operation.offset, operation.size);
      return end;
    case FileOperation::Kind::behind:
      files.write_behind(operation.file, operation.offset, operation.size);
      return end;
    case FileOperation::Kind::size: {
      const Result<uint64_t> size = files.size(operation.file);
      end.status = size.status();
      if (size.ok()) end.size = size.value();
      return end;
    }
    case FileOperation::Kind::direct:
      errno = 0;
      end.direct = files.direct(operation.file);
      if (!*end.direct && (errno == EMFILE || errno == ENFILE)) end.direct.reset();
      return end;
    case FileOperation::Kind::close: files.close(operation.file); return end;
    case FileOperation::Kind::truncate: end.status = files.truncate(operation.file, operation.size); return end;
    case FileOperation::Kind::rename:
      end.status = files.rename(operation.file, operation.path, operation.replace);
      return end;
    case FileOperation::Kind::publish:
      end.status = files.rename(operation.file, operation.path, operation.replace);
      files.close(operation.file);
      return end;
    case FileOperation::Kind::remove:
      files.close(operation.file);
      end.status = files.remove(operation.path);
      return end;
    case FileOperation::Kind::stat: {
      if (end.status = check_root(files, operation.root, operation.path); !end.status.ok()) return end;
      const Result<NameFacts> facts = files.stat(operation.path);
      end.status = facts.status();
      if (facts.ok()) end.facts = facts.value();
      return end;
    }
    case FileOperation::Kind::unlink:
      if (end.status = check_root(files, operation.root, operation.path); !end.status.ok()) return end;
      end.status = operation.root.empty()
                       ? files.remove(operation.path)
                       : files.remove_below(operation.root, path_below(operation.root, operation.path));
      return end;
    case FileOperation::Kind::call: operation.call(files); return end;
  }
  TAILRACE_ASSERT(false);
}

}  // namespace tailrace::impl
