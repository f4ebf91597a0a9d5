// PluginHost: the server's side of one plugin host: asks it to load and call functions, one at a time, and learns how
// that ended: with an answer, not within the limit, or with the end of the process.
//
// Never blocks. Once lost, a host stays lost: its owner makes another one. Knows nothing of actions and their order.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "action/host_process.hpp"
#include "action/message_socket.hpp"
#include "action/plugin_wire.hpp"
#include "base/clock.hpp"

namespace tailrace::impl {

inline constexpr size_t kMostHostOutput = size_t{64} << 10;  // bytes of what a call prints that are kept

// How a load or a call has ended, or (`idle`) the host between two of them.
struct HostEnd {
  bool failed = false;
  bool lost = false;        // the host is gone
  bool idle = false;        // … and nothing was asked of it
  std::string why;          // failed: what was found and what was expected, without a subject
  PluginAnswer answer;      // empty if lost
  std::string output;       // what was printed meanwhile, at most kMostHostOutput bytes
  uint64_t output_cut = 0;  // bytes that were printed beyond that
};

class PluginHost {
 public:
  // Starts the process, and registers what it must be woken for with `epoll`, level-triggered. The clock is borrowed.
  static Result<PluginHost> start(const std::string& executable, int epoll, const Clock& clock);

  // `fd` is read-only and stays the caller's; the host sees it before the next call.
  void add_segment(uint32_t number, int fd, uint64_t bytes);
  void forget_segment(uint32_t number);

  // Require free(). `limit` begins now.
  void begin_load(uint64_t number, const PluginFunction& function, Nanoseconds limit);
  void begin_call(uint64_t number, const PluginCall& call, Nanoseconds limit);
  // Nothing is asked of it, so that something may be.
  bool free() const { return !asked_ && !stopping_ && !lost_; }

  // Lets the host end in its own way, within `limit`. Requires free(). The end is told by progress().
  void stop(Nanoseconds limit);

  // Goes on as far as it can: sends, receives, looks at the time.
  std::optional<HostEnd> progress();
  // When progress() must be called at the latest; Nanoseconds::max() if that does not matter.
  Nanoseconds deadline() const { return deadline_; }

  // Takes the process of a lost host, which may not have ended yet.
  HostProcess take_process() && { return std::move(process_); }

 private:
  struct Outgoing {
    HostRequest request;
    FileDescriptor fd;
  };

  PluginHost(HostProcess process, int epoll, const Clock& clock);
  void ask(HostRequest request, const std::vector<std::byte>& content, Nanoseconds limit);
  void put(Outgoing outgoing);
  void send();
  void close_connection();
  void close_output();
  void read_output();
  std::optional<HostEnd> receive();
  HostEnd understand(const HostReply& reply, const FileDescriptor& fd);
  HostEnd lose(std::string why);
  HostEnd end(bool failed, std::string why);

  HostProcess process_;
  int epoll_;
  const Clock* clock_;
  std::deque<Outgoing> outbox_;
  bool watching_to_send_ = false;
  bool asked_ = false;
  uint64_t number_ = 0;  // of what is asked
  bool stopping_ = false;
  bool closed_ = false;  // no connection any more: only the end of its process is waited for
  bool lost_ = false;
  std::string cause_;  // why it was killed, if it was
  Nanoseconds limit_{};
  Nanoseconds deadline_ = Nanoseconds::max();
  bool output_closed_ = false;
  std::string output_;
  uint64_t output_cut_ = 0;
};

}  // namespace tailrace::impl
