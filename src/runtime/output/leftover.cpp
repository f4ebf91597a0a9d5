#include "runtime/output/leftover.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "format/hdf5/inspect_file.hpp"
#include "format/hdf5/joint_file.hpp"

namespace tailrace::impl {
namespace {

// A file that is open while this lives.
class OpenFileOf {
 public:
  OpenFileOf(FileSystem& files, const std::string& path, OpenMode mode)
      : files_(files), opened_(files.open(path, mode, 0)) {}
  OpenFileOf(const OpenFileOf&) = delete;
  OpenFileOf& operator=(const OpenFileOf&) = delete;
  ~OpenFileOf() {
    if (opened_.ok()) files_.close(handle());
  }

  Status status() const { return opened_.status(); }
  FileHandle handle() const { return opened_.value().file; }
  const Opened& opened() const { return opened_.value(); }

 private:
  FileSystem& files_;
  const Result<Opened> opened_;
};

Status sync_directory(FileSystem& files, const std::string& directory) {
  const OpenFileOf names(files, directory, OpenMode::directory);
  return names.status().ok() ? files.sync(names.handle()) : names.status();
}

// It is unknown whether the run that wrote the unfinished file might have replaced one that has the final name.
Status name_is_taken(const std::string& file, const std::string& final_path) {
  Fault fault;
  fault.code = TAILRACE_EXISTS;
  fault.operation = "publish";
  fault.file = final_path;
  fault.system_errno = EEXIST;
  fault.message = fmt::format(
      "'{}' is complete, but there is '{}' already, of an earlier run or of another program: "
      "remove or rename one of them",
      file, final_path);
  return Status(std::move(fault));
}

Status publish(FileSystem& files, FileHandle part, const std::string& file, const std::string& final_path,
               const std::string& directory) {
  if (Status status = files.sync(part); !status.ok()) return status;
  const Status renamed = files.rename(part, final_path, false);
  if (!renamed.ok()) return renamed.fault().system_errno == EEXIST ? name_is_taken(file, final_path) : renamed;
  return sync_directory(files, directory);
}

// After a death in the middle of a rename, both names may lead to one file.
bool has_final_name(FileSystem& files, const std::string& part, const std::string& final_path) {
  const Result<NameFacts> one = files.stat(part);
  const Result<NameFacts> other = files.stat(final_path);
  return one.ok() && other.ok() && one.value().is_same_file(other.value());
}

constexpr std::string_view kUnfinished = ".part";
constexpr std::string_view kXdmf = ".xmf";

// Removes what nodes have left beside the file. Other nodes may remove the same.
Status remove_parts_beside(FileSystem& files, const std::string& file, const std::string& directory) {
  const Result<std::vector<std::string>> names = files.list(directory);
  if (!names.ok()) return names.status();
  Status status;
  for (const std::string& name : names.value()) {
    const std::string path = directory + "/" + name;
    if (file_of_part(path) != file) continue;
    Status removed = files.remove(path);
    if (!removed.ok() && removed.fault().system_errno != ENOENT) status = std::move(removed);
  }
  return status;
}

// Returns the parts of all nodes that wrote the file; none if some are missing, or do not belong together. A part
// that cannot be read is not missing.
Result<std::optional<std::vector<NodePart>>> parts_of_all(FileSystem& files, const std::string& file) {
  using Parts = std::optional<std::vector<NodePart>>;
  auto parts = read_parts(files, file);
  if (!parts.ok() && parts.status().code() != TAILRACE_NOT_PUBLISHED) return parts.status();
  if (!parts.ok() || !parts.value() || JointFile(*parts.value(), file).empty()) return Parts();
  return parts;
}

// Publishes a file that lacks nothing but its metadata, which the parts of all nodes describe.
Status complete(FileSystem& files, const Opened& part, const std::string& file, const std::string& directory,
                const std::vector<NodePart>& parts, const CompleteJoint& write) {
  if (part.stripes.servers.size() > 1) {
    return Status(TAILRACE_UNSUPPORTED, fmt::format("'{}' has all its data and lacks its metadata: found a striped "
                                                    "file, expected one in one directory",
                                                    file));
  }
  const JointFile whole(parts, file);
  const Result<FileEnding> ending = whole.ending();
  Status status = ending.ok() ? write(file, ending.value()) : ending.status();
  if (status.ok())
    status = publish(files, part.file, file, file.substr(0, file.size() - kUnfinished.size()), directory);
  return status;
}

// Returns true if the XDMF file has its end, and the file to which it refers has its name.
Result<bool> is_whole_xdmf(FileSystem& files, FileHandle part, const std::string& final_path) {
  constexpr std::string_view end = "</Xdmf>\n";
  const Result<uint64_t> size = files.size(part);
  if (!size.ok()) return size.status();
  std::array<char, end.size()> found{};
  if (size.value() < found.size()) return false;
  const auto to = std::as_writable_bytes(std::span(found));
  const Result<size_t> count = files.read(part, size.value() - found.size(), to);
  if (!count.ok()) return count.status();
  return std::string_view(found.data(), count.value()) == end && files.stat(file_of_xdmf(final_path)).ok();
}

}  // namespace

std::string file_of_xdmf(std::string_view xdmf) {
  return std::string(xdmf.substr(0, xdmf.size() - kXdmf.size())) + ".h5";
}

namespace {

// Says why the file is left alone.
Status left_to(const NodeOfFiles& node, const std::string& file) {
  return Status(
      TAILRACE_CLIENT_IN_USE,
      fmt::format("'{}' is left alone: it lacks the part of node {}, whose data may still wait in the memory of {}: "
                  "run 'tailrace recover' there, or remove '{}' to give them up",
                  file, node.node, node.machine, node.lock));
}

Leftover treat(FileSystem& files, const std::string& file, const std::string& directory, bool apply,
               const AwaitedNode& awaited, const CompleteJoint& write) {
  Leftover leftover{file, TAILRACE_INCOMPLETE, false, {}};
  const std::string final_path = file.substr(0, file.size() - kUnfinished.size());
  if (has_final_name(files, file, final_path)) {  // only its old name must go
    leftover.kind = TAILRACE_COMPLETE;
    leftover.status = apply ? files.remove(file) : Status();
    leftover.done = apply && leftover.status.ok();
    return leftover;
  }
  const OpenFileOf part(files, file, apply ? OpenMode::own : OpenMode::own_read);
  leftover.status = part.status();
  if (!part.status().ok()) return leftover;
  const Result<bool> complete = std::string_view(final_path).ends_with(kXdmf)
                                    ? is_whole_xdmf(files, part.handle(), final_path)
                                    : is_complete(files, part.handle());
  leftover.status = complete.status();
  if (!complete.ok()) return leftover;
  // It looks before it reads the parts: if no node is awaited, all parts that will ever come are there.
  const auto node = complete.value() ? std::optional<NodeOfFiles>() : awaited(file);
  const auto read =
      complete.value() ? Result<std::optional<std::vector<NodePart>>>(std::nullopt) : parts_of_all(files, file);
  leftover.status = read.status();
  if (!read.ok()) return leftover;
  const std::optional<std::vector<NodePart>>& parts = read.value();
  const Result<NameFacts> there = files.stat(final_path);
  if (complete.value() || parts) {
    leftover.kind = TAILRACE_COMPLETE;
    if (there.ok() && !there.value().reserved) leftover.status = name_is_taken(file, final_path);
  }
  if (node && leftover.kind != TAILRACE_COMPLETE) {
    leftover.kind = TAILRACE_IN_USE;
    leftover.status = left_to(*node, file);
  }
  if (!apply || !leftover.status.ok()) return leftover;
  if (parts) {
    leftover.status = impl::complete(files, part.opened(), file, directory, *parts, write);
  } else if (complete.value()) {
    leftover.status = publish(files, part.handle(), file, final_path, directory);
  } else {
    if (there.ok() && there.value().reserved) leftover.status = files.remove(final_path);
    if (leftover.status.ok()) leftover.status = files.remove(file);
  }
  leftover.done = leftover.status.ok();
  return leftover;
}

}  // namespace

// If the file is not there any more, another node has treated it.
Leftover treat_part(FileSystem& files, const std::string& file, const std::string& directory, bool apply,
                    const AwaitedNode& awaited, const CompleteJoint& write) {
  Leftover leftover = treat(files, file, directory, apply, awaited, write);
  if (leftover.done) {
    leftover.status = remove_parts_beside(files, file, directory);
    leftover.done = leftover.status.ok();
    return leftover;
  }
  if (leftover.status.ok() || leftover.kind == TAILRACE_IN_USE) return leftover;
  if (const auto there = files.stat(file); there.ok() || there.status().fault().system_errno != ENOENT)
    return leftover;
  return {file, leftover.kind, apply, {}};
}

void treat_parts_of_nodes(FileSystem& files, const std::string& directory, bool apply,
                          const std::function<bool(std::string_view)>& wanted,
                          const std::function<void(const Leftover&)>& each) {
  const Result<std::vector<std::string>> names = files.list(directory);
  if (!names.ok()) return;
  for (const std::string& name : names.value()) {
    const std::string file(file_of_part(name));
    if (file.empty() || !wanted(std::string_view(file).substr(0, file.size() - kUnfinished.size()))) continue;
    if (files.stat(directory + "/" + file).ok()) continue;  // they are treated with the file
    const std::string path = directory + "/" + name;
    Leftover leftover{path, TAILRACE_INCOMPLETE, false, apply ? files.remove(path) : Status()};
    leftover.done = apply && leftover.status.ok();
    each(leftover);
  }
}

}  // namespace tailrace::impl
