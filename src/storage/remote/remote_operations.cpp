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

}  // namespace

void RemoteOperations::begin(FileOperation operation) {
  // Forwarders reserve by themselves when the writes come.
  if (operation.kind == Kind::reserve) return ended_.push_back({operation.tag});
  if (!is_regular(operation)) return ended_.push_back(carry_out(files_, operation));
  UnderWay& of = under_way_.emplace_back();
  of.what = std::move(operation);
  send(of);
}

// Returns true if calls of forwarders that have links are enough. A file that is spread is renamed at one of them,
// and closed at others, which must not get closes twice after a loss.
bool RemoteOperations::is_regular(const FileOperation& operation) const {
  if (operation.kind == Kind::open) {
    const std::string path = RemoteFiles::absolute(operation.path);
    return path.size() <= kMostForwardText && forwarders_.is_ready(files_.home_of(path));
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
  if (of.what.kind == Kind::open) return send_open(of);
  RemoteFiles::File& file = files_.at(of.what.file);
  switch (of.what.kind) {
    case Kind::open:
    case Kind::reserve: TAILRACE_ASSERT(false);
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
      message.record.flags = of.what.replace ? CallRecord::kReplace : 0;
      of.deciding = forwarders_.begin_call(file.forwarder, message);
      of.calls.insert(forwarders_.begin_call(file.forwarder, call_on(ForwardCall::close, file)));
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

void RemoteOperations::send_open(UnderWay& of) {
  of.what.path = RemoteFiles::absolute(of.what.path);
  of.forwarder = files_.home_of(of.what.path);
  of.link = forwarders_.link(of.forwarder);
  const ForwardCallMessage call = RemoteFiles::opening(of.what.path, of.what.mode, of.what.device);
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
    const char* const operation = of.what.kind == Kind::open       ? "open"
                                  : of.what.kind == Kind::truncate ? "truncate"
                                  : of.what.kind == Kind::publish  ? "rename"
                                                                   : "remove";
    const bool by_name = of.what.kind == Kind::remove || of.what.kind == Kind::open;
    const std::string& path = by_name ? of.what.path : files_.at(of.what.file).path;
    if (answer) of.status = status_of(*answer, operation, path);
    if (answer && of.what.kind == Kind::open) of.answer = *answer;
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
      Result<Opened> opened = of.is_lost ? files_.open_again(of.forwarder, what.path, what.mode, what.device)
                                         : files_.opened(of.forwarder, of.link, of.answer, what);
      end.status = opened.status();
      if (opened.ok()) end.opened = std::move(opened).value();
      return end;
    }
    case Kind::reserve:
    case Kind::close: return end;
    case Kind::truncate:
      if (of.is_lost) end.status = files_.truncate(what.file, what.size);
      return end;
    case Kind::remove:
      if (of.is_lost) end.status = files_.remove_again(what.path);
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
