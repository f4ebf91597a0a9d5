#include "storage/remote/remote_operations.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tailrace::impl {
namespace {

using Kind = FileOperation::Kind;

ForwardCallMessage call_on(ForwardCall call, const RemoteFiles::File& file) {
  ForwardCallMessage message{{}, {}, {}};
  message.record.call = call;
  message.record.file = file.remote;
  return message;
}

// Returns the operation's name for messages.
const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::open: return "open";
    case Kind::truncate: return "truncate";
    case Kind::publish: return "rename";
    case Kind::stat:
    case Kind::size: return "stat";
    case Kind::allocate: return "allocate";
    default: return "remove";
  }
}

}  // namespace

void RemoteOperations::begin(FileOperation operation) {
  // Forwarders reserve by themselves when the writes come.
  if (operation.kind == Kind::reserve) return ended_.push_back({operation.tag});
  if (!is_regular(operation)) return ended_.push_back(carry_out(files_, operation));
  UnderWay& of = under_way_.emplace_back();
  of.what = std::move(operation);
  send(of);
}

// Returns true if the operation is about a name alone.
bool RemoteOperations::is_of_name(const FileOperation& operation) {
  return operation.kind == Kind::open || operation.kind == Kind::stat || operation.kind == Kind::unlink;
}

// Returns true if calls of forwarders that have links are enough. A file that is spread is renamed at one of them,
// and closed at others, which must not get closes twice after a loss.
bool RemoteOperations::is_regular(const FileOperation& operation) const {
  if (operation.kind == Kind::call || operation.kind == Kind::rename) return false;
  if (is_of_name(operation)) {
    const std::string path = RemoteFiles::absolute(operation.path);
    const bool fits = path.size() <= kMostForwardText && operation.root.size() <= path.size();
    return fits && forwarders_.is_ready(files_.home_of(path));
  }
  const std::vector<FileHandle> all = files_.all_of(operation.file);
  if (operation.kind == Kind::publish && all.size() > 1) return false;
  if (operation.kind == Kind::remove && !forwarders_.is_ready(files_.home_of(operation.path))) return false;
  return std::all_of(all.begin(), all.end(), [this](FileHandle one) {
    const RemoteFiles::File& file = files_.at(one);
    return !file.here && file.failure.ok() && files_.is_linked(file) && forwarders_.is_ready(file.forwarder);
  });
}

void RemoteOperations::send(UnderWay& of) {
  if (is_of_name(of.what)) return send_name(of);
  RemoteFiles::File& file = files_.at(of.what.file);
  switch (of.what.kind) {
    case Kind::open:
    case Kind::stat:
    case Kind::unlink:
    case Kind::call:
    case Kind::rename:
    case Kind::reserve: TAILRACE_ASSERT(false);
    case Kind::allocate: {
      ForwardCallMessage message = call_on(ForwardCall::allocate, file);
      message.record.offset = of.what.offset;
      message.record.length = of.what.size;
      of.deciding = forwarders_.begin_call(file.forwarder, message);
      break;
    }
    case Kind::size: of.deciding = forwarders_.begin_call(file.forwarder, call_on(ForwardCall::size, file)); break;
    case Kind::truncate: {
      ForwardCallMessage message = call_on(ForwardCall::truncate, file);
      message.record.length = of.what.size;
      of.deciding = forwarders_.begin_call(file.forwarder, message);
      break;
    }
    case Kind::publish: {
      of.what.path = RemoteFiles::absolute(of.what.path);
      file.renaming = of.what.path;
      ForwardCallMessage message = call_on(ForwardCall::rename, file);
      message.text = of.what.path;
      message.record.flags = CallRecord::kClose | (of.what.replace ? CallRecord::kReplace : 0);
      of.deciding = forwarders_.begin_call(file.forwarder, message);
      break;
    }
    case Kind::close: send_closes(of); return;
    case Kind::remove: {
      send_closes(of);
      of.what.path = RemoteFiles::absolute(of.what.path);
      ForwardCallMessage message{{}, of.what.path, {}};
      message.record.call = ForwardCall::remove;
      of.deciding = forwarders_.begin_call(files_.home_of(of.what.path), message);
      break;
    }
  }
  of.calls.insert(of.deciding);
}

void RemoteOperations::send_name(UnderWay& of) {
  of.what.path = RemoteFiles::absolute(of.what.path);
  if (!of.what.root.empty()) of.what.root = RemoteFiles::absolute(of.what.root);
  of.forwarder = files_.home_of(of.what.path);
  of.link = forwarders_.link(of.forwarder);
  ForwardCallMessage call{{}, of.what.path, {}};
  call.record.call = of.what.kind == Kind::stat ? ForwardCall::stat : ForwardCall::remove;
  if (of.what.kind == Kind::open) call = RemoteFiles::opening(of.what.path, of.what.mode, of.what.device);
  call.second = of.what.root;
  of.deciding = forwarders_.begin_call(of.forwarder, call);
  of.calls.insert(of.deciding);
}

// Nothing else is done with the file. A forwarder that is lost has closed it.
void RemoteOperations::send_closes(UnderWay& of) {
  const std::vector<FileHandle> all = files_.all_of(of.what.file);
  for (const FileHandle one : all) {
    const RemoteFiles::File& file = files_.at(one);
    of.calls.insert(forwarders_.begin_call(file.forwarder, call_on(ForwardCall::close, file)));
  }
  for (const FileHandle one : all) files_.forget(one);
}

void RemoteOperations::answered(uint64_t call, const std::optional<ForwardAnswer>& answer) {
  for (UnderWay& of : under_way_) {
    if (of.calls.erase(call) == 0) continue;
    if (call != of.deciding) return;
    of.is_lost = !answer.has_value();
    const bool by_name = of.what.kind == Kind::remove || is_of_name(of.what);
    const std::string& path = by_name ? of.what.path : files_.at(of.what.file).path;
    if (answer) of.status = status_of(*answer, name_of(of.what.kind), path);
    if (answer) of.answer = *answer;
    return;
  }
}

bool RemoteOperations::progress() {
  for (auto at = under_way_.begin(); at != under_way_.end();) {
    const auto of = at++;
    if (!of->calls.empty()) continue;
    UnderWay whole = std::move(*of);
    under_way_.erase(of);  // first: what is lost is done by calls, which look here again
    ended_.push_back(complete(whole));
    at = under_way_.begin();
  }
  return !ended_.empty();
}

FileOperationEnd RemoteOperations::complete(const UnderWay& of) {
  const FileOperation& what = of.what;
  FileOperationEnd end{what.tag, of.status};
  switch (what.kind) {
    case Kind::open: {
      if (!of.is_lost && !of.status.ok()) return end;
      Result<Opened> opened =
          of.is_lost ? files_.open_again(of.forwarder, what) : files_.opened(of.forwarder, of.link, of.answer, what);
      end.status = opened.status();
      if (opened.ok()) end.opened = std::move(opened).value();
      return end;
    }
    case Kind::stat:
      if (of.is_lost) return carry_out(files_, what);
      if (of.status.ok()) end.facts = facts_in(of.answer);
      return end;
    case Kind::allocate:
      if (of.is_lost) return carry_out(files_, what);
      return end;
    case Kind::size:
      if (of.is_lost) return carry_out(files_, what);
      end.size = of.answer.record.value;
      return end;
    case Kind::unlink:
      if (of.is_lost) end.status = files_.remove_again(what.path, what.root);
      return end;
    case Kind::call:
    case Kind::rename:
    case Kind::reserve:
    case Kind::close: return end;
    case Kind::truncate:
      if (of.is_lost) end.status = files_.truncate(what.file, what.size);
      return end;
    case Kind::remove:
      if (of.is_lost) end.status = files_.remove_again(what.path, {});
      return end;
    case Kind::publish: break;
  }
  if (of.is_lost) {
    end.status = files_.rename_again(what.file, what.path, what.replace);
    files_.close(what.file);
  } else {
    files_.forget(what.file);
  }
  return end;
}

std::optional<FileOperationEnd> RemoteOperations::reap() {
  if (ended_.empty()) return std::nullopt;
  FileOperationEnd end = std::move(ended_.front());
  ended_.pop_front();
  return end;
}

}  // namespace tailrace::impl
