#include "action/plugin_host.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/assert.hpp"
#include "base/names/utf8.hpp"

namespace tailrace::impl {
namespace {

constexpr int kMostReads = 64;  // of the pipe in a row: endless output must not occupy the server

bool change_watch(int epoll, int operation, int fd, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  return ::epoll_ctl(epoll, operation, fd, &event) == 0;
}

void watch(int epoll, int operation, int fd, uint32_t events) {
  TAILRACE_ASSERT(change_watch(epoll, operation, fd, events));
}

// Returns `text` with '?' for each byte that is not UTF-8 and each control character except line ends and tabs.
std::string clean_text(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
    const bool control = (next.code < 0x20 && text[0] != '\n' && text[0] != '\t') || next.code == 0x7f;
    if (next.bytes == 0 || control) {
      clean += '?';
    } else {
      clean += text.substr(0, next.bytes);
    }
    text.remove_prefix(std::max(next.bytes, size_t{1}));
  }
  return clean;
}

// Removes control characters: the answer goes into files and to users.
void clean(PluginAnswer& answer) {
  answer.error = clean_text(answer.error);
  for (std::string& message : answer.messages) message = clean_text(message);
  for (Finding& finding : answer.findings) {
    finding.key = clean_text(finding.key);
    if (auto* text = std::get_if<std::string>(&finding.value)) *text = clean_text(*text);
  }
}

double seconds(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

Result<PluginHost> PluginHost::start(const std::string& executable, int epoll, const Clock& clock) {
  Result<HostProcess> started = HostProcess::start(executable);
  if (!started.ok()) return started.status();
  const HostProcess& process = started.value();
  for (const int fd : {process.socket(), process.output(), process.ended()}) {
    if (!change_watch(epoll, EPOLL_CTL_ADD, fd, EPOLLIN)) return Status::of_errno("watch", executable, errno);
  }
  return PluginHost(std::move(started).value(), epoll, clock);
}

PluginHost::PluginHost(HostProcess process, int epoll, const Clock& clock)
    : process_(std::move(process)), epoll_(epoll), clock_(&clock) {}

void PluginHost::add_segment(uint32_t number, int fd, uint64_t bytes) {
  // Duplicates the descriptor, as it may have to wait in the outbox. If that fails, the calls that need it report it.
  put({{.verb = HostVerb::segment, .number = number, .bytes = bytes},
       FileDescriptor(::fcntl(fd, F_DUPFD_CLOEXEC, 0))});
}

void PluginHost::forget_segment(uint32_t number) { put({{.verb = HostVerb::forget, .number = number}, {}}); }

void PluginHost::begin_load(uint64_t number, const PluginFunction& function, Nanoseconds limit) {
  ask({.verb = HostVerb::load, .number = number}, encode(function), limit);
}

void PluginHost::begin_call(uint64_t number, const PluginCall& call, Nanoseconds limit) {
  ask({.verb = HostVerb::call, .number = number}, encode(call), limit);
}

void PluginHost::ask(HostRequest request, const std::vector<std::byte>& content, Nanoseconds limit) {
  TAILRACE_REQUIRE(free());
  asked_ = true;
  number_ = request.number;
  limit_ = limit;
  deadline_ = clock_->now() + limit;
  output_.clear();
  output_cut_ = 0;
  request.bytes = content.size();
  Result<FileDescriptor> file = to_memory_file(content);
  // Without its content the host refuses the request, which is the answer.
  put({request, file.ok() ? std::move(file).value() : FileDescriptor()});
}

void PluginHost::stop(Nanoseconds limit) {
  TAILRACE_REQUIRE(free());
  stopping_ = true;
  limit_ = limit;
  deadline_ = clock_->now() + limit;
  process_.close_requests();
}

void PluginHost::put(Outgoing outgoing) {
  outbox_.push_back(std::move(outgoing));
  send();
}

void PluginHost::send() {
  while (!outbox_.empty() && !closed_) {
    const Outgoing& next = outbox_.front();
    const Delivery delivery =
        send_message(process_.socket(), std::as_bytes(std::span(&next.request, 1)), next.fd.get());
    if (delivery == Delivery::gone) return close_connection();
    if (delivery == Delivery::again) break;
    outbox_.pop_front();
  }
  const bool to_send = !outbox_.empty() && !closed_;
  if (to_send == watching_to_send_ || closed_) return;
  watching_to_send_ = to_send;
  watch(epoll_, EPOLL_CTL_MOD, process_.socket(), to_send ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

// Stops watching the pipe, whose end would wake the server forever.
void PluginHost::close_output() {
  if (output_closed_) return;
  output_closed_ = true;
  watch(epoll_, EPOLL_CTL_DEL, process_.output(), 0);
}

// Gives up the connection, without which the process is useless; usually it is about to end by itself anyway.
void PluginHost::close_connection() {
  if (closed_) return;
  closed_ = true;
  watch(epoll_, EPOLL_CTL_DEL, process_.socket(), 0);
  process_.kill();
}

std::optional<HostEnd> PluginHost::progress() {
  if (lost_) return std::nullopt;
  read_output();
  send();
  // Receives before checking for the process's end: it may have answered first.
  if (std::optional<HostEnd> ended = receive()) return ended;
  if (const std::optional<std::string> how = process_.reap()) {
    read_output();
    return lose(cause_.empty() ? "found that its process was " + *how + ", expected an answer" : cause_);
  }
  if (clock_->now() < deadline_) return std::nullopt;
  process_.kill();
  return lose(fmt::format("found no end after {} s, expected one within the limit", seconds(limit_)));
}

void PluginHost::read_output() {
  std::array<char, 4096> part;
  for (int i = 0; i < kMostReads && !output_closed_; ++i) {
    const ssize_t count = ::read(process_.output(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    if (count == 0) return close_output();
    const size_t kept = std::min(static_cast<size_t>(count), kMostHostOutput - output_.size());
    output_.append(part.data(), kept);
    output_cut_ += static_cast<size_t>(count) - kept;
  }
}

std::optional<HostEnd> PluginHost::receive() {
  if (closed_) return std::nullopt;
  HostReply reply;
  FileDescriptor fd;
  switch (receive_message(process_.socket(), std::as_writable_bytes(std::span(&reply, 1)), fd)) {
    case Delivery::again: return std::nullopt;
    case Delivery::gone: close_connection(); return std::nullopt;
    case Delivery::done: break;
  }
  if (!asked_ || reply.version != kPluginWireVersion || reply.number != number_) {
    cause_ = "found an answer that was not requested";
    close_connection();
    return std::nullopt;
  }
  read_output();
  return understand(reply, fd);
}

HostEnd PluginHost::understand(const HostReply& reply, const FileDescriptor& fd) {
  HostEnd ended = end(true, {});
  if (reply.bytes > kMostAnswerBytes) {
    ended.why = fmt::format("found {} bytes of results, expected at most {}", reply.bytes, kMostAnswerBytes);
    return ended;
  }
  const Result<std::vector<std::byte>> bytes = from_memory_file(fd.get(), reply.bytes);
  std::optional<PluginAnswer> answer = bytes.ok() ? decode_answer(bytes.value()) : std::nullopt;
  if (!answer) {
    ended.why = "found results that cannot be read";
    return ended;
  }
  ended.answer = std::move(*answer);
  clean(ended.answer);
  ended.failed = reply.failed != 0;
  if (ended.failed) ended.why = ended.answer.error;
  return ended;
}

HostEnd PluginHost::lose(std::string why) {
  const bool idle = !asked_;
  HostEnd ended = end(!stopping_, std::move(why));
  ended.lost = true;
  ended.idle = idle;
  lost_ = true;
  // The rest of the output wakes the server no more; only the process's end does.
  close_output();
  if (!closed_) watch(epoll_, EPOLL_CTL_DEL, process_.socket(), 0);
  closed_ = true;
  return ended;
}

HostEnd PluginHost::end(bool failed, std::string why) {
  asked_ = false;
  deadline_ = Nanoseconds::max();
  HostEnd ended;
  ended.failed = failed;
  ended.why = std::move(why);
  ended.output = clean_text(std::exchange(output_, {}));
  ended.output_cut = std::exchange(output_cut_, 0);
  return ended;
}

}  // namespace tailrace::impl
