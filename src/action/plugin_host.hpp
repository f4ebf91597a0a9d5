// PluginHost: the server's side of one plugin host. It asks the host to load and call functions, one at a time, and
// gets one of three ends: an answer, a timeout, or the end of the process.
//
// It never blocks. A lost host stays lost: its owner makes another one. It knows nothing of actions and their order.
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

inline constexpr size_t kMostHostOutput = size_t{64} << 10;  // bytes of a call's output that are kept

// The end of a load or a call, or (`idle`) the end of the host between two of them.
struct HostEnd {
  bool failed = false;
  bool lost = false;        // the host is gone
  bool idle = false;        // … while no request was open
  std::string why;          // if failed: "found …, expected …", without a subject
  PluginAnswer answer;      // empty if lost
  std::string output;       // its output meanwhile, at most kMostHostOutput bytes
  uint64_t output_cut = 0;  // bytes of output beyond that
};

class PluginHost {
 public:
  // Starts the process, and registers its descriptors with `epoll`, level-triggered. Borrows the clock.
  static Result<PluginHost> start(const std::string& executable, int epoll, const Clock& clock);

  // `fd` is read-only, and the caller keeps it; the host sees the segment before the next call.
  void add_segment(uint32_t number, int fd, uint64_t bytes);
  void forget_segment(uint32_t number);

  // Begin a load or a call. Require free(). `limit` begins now.
  void begin_load(uint64_t number, const PluginFunction& function, Nanoseconds limit);
  void begin_call(uint64_t number, const PluginCall& call, Nanoseconds limit);
  // Returns true if no request is open, so that the next one may begin.
  bool free() const { return !asked_ && !stopping_ && !lost_; }

  // Lets the host end by itself, within `limit`. Requires free(). progress() reports the end.
  void stop(Nanoseconds limit);

  // Sends, receives and checks the time, as far as possible now. Returns an end if there is one.
  std::optional<HostEnd> progress();
  // Returns when progress() must be called at the latest; Nanoseconds::max() if there is no limit.
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
  uint64_t number_ = 0;  // of the open request
  bool stopping_ = false;
  bool closed_ = false;  // no connection any more: only the end of the process is awaited
  bool lost_ = false;
  std::string cause_;  // the reason why it was killed, if it was
  Nanoseconds limit_{};
  Nanoseconds deadline_ = Nanoseconds::max();
  bool output_closed_ = false;
  std::string output_;
  uint64_t output_cut_ = 0;
};

}  // namespace tailrace::impl
