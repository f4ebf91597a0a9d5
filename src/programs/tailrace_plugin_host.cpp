// tailrace-plugin-host: runs foreign functions for tailrace's server, one call at a time, in a process that may
// crash.
//
// Only the server starts it (action/host_process). Descriptor 3 is the socket for requests and answers. The program
// ends when the socket is closed, and is killed when the server ends.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <tailrace/tailrace.h>

#include <cstdio>
#include <map>

#include "action/host/call_view.hpp"
#include "action/host/function.hpp"
#include "action/host_process.hpp"
#include "action/message_socket.hpp"

namespace tailrace::impl {
namespace {

struct Answer {
  bool failed = false;
  PluginAnswer content;
};

Answer failure(std::string why) { return {true, {std::move(why), {}, {}}}; }

class Host {
 public:
  explicit Host(int socket) : socket_(socket) {}

  // Serves requests until the server closes the socket.
  void serve() {
    while (true) {
      HostRequest request;
      FileDescriptor file;
      const auto message = std::as_writable_bytes(std::span(&request, 1));
      const Delivery received = receive_message(socket_, message, file);
      if (received != Delivery::done || request.version != kPluginWireVersion) return;
      if (!carry_out(request, file)) return;
    }
  }

 private:
  // Carries out a request. Returns false if the answer cannot be sent.
  bool carry_out(const HostRequest& request, const FileDescriptor& file) {
    switch (request.verb) {
      case HostVerb::segment: segments_.add(request.number, file.get(), request.bytes); return true;
      case HostVerb::forget: segments_.forget(request.number); return true;
      case HostVerb::load:
      case HostVerb::call: break;
    }
    const Result<std::vector<std::byte>> content = from_memory_file(file.get(), request.bytes);
    if (!content.ok()) return answer(request, failure("found " + content.status().fault().message));
    return answer(request, request.verb == HostVerb::load ? load_function(request.number, content.value())
                                                          : call(request.number, content.value()));
  }

  Answer load_function(uint64_t number, const std::vector<std::byte>& content) {
    const std::optional<PluginFunction> description = decode_function(content);
    if (!description) return failure("found a function that cannot be read");
    Result<Function> function = load(*description);
    if (!function.ok()) return failure(function.status().fault().message);
    functions_[number] = std::move(function).value();
    return {};
  }

  Answer call(uint64_t number, const std::vector<std::byte>& content) {
    const std::optional<PluginCall> call = decode_call(content);
    if (!call) return failure("found a call that cannot be read");
    const auto function = functions_.find(number);
    if (function == functions_.end()) return failure("found a function that is not loaded");
    Result<CallView> view = CallView::create(*call, segments_);
    if (!view.ok()) return failure(view.status().fault().message);
    const std::string why = function->second(view.value().view());
    Answer answer{false, view.value().take_answer()};
    std::string& error = answer.content.error;  // the plugin's own error; also set if it misused a callback
    answer.failed = !why.empty() || !error.empty();
    if (!why.empty()) error = error.empty() ? why : fmt::format("{}: {}", why, error);
    return answer;
  }

  bool answer(const HostRequest& request, const Answer& answer) {
    std::fflush(nullptr);  // output so far belongs to this call
    std::vector<std::byte> content = encode(answer.content);
    HostReply reply{.failed = answer.failed ? 1u : 0u, .number = request.number};
    if (content.size() > kMostAnswerBytes) {
      content = encode(
          failure(fmt::format("found {} bytes of results, expected at most {}", content.size(), kMostAnswerBytes))
              .content);
      reply.failed = 1;
    }
    const Result<FileDescriptor> file = to_memory_file(content);
    reply.bytes = content.size();
    const int fd = file.ok() ? file.value().get() : -1;
    return send_message(socket_, std::as_bytes(std::span(&reply, 1)), fd) == Delivery::done;
  }

  const int socket_;
  SegmentMap segments_;
  std::map<uint64_t, Function> functions_;
};

int run() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  constexpr int socket = HostProcess::kSocket;
  if (::fcntl(socket, F_SETFD, FD_CLOEXEC) != 0) {
    std::fputs("tailrace-plugin-host: started by tailrace's server, not by hand\n", stderr);
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // so that a crash loses no line
  Host(socket).serve();
  end_python();
  return 0;
}

}  // namespace
}  // namespace tailrace::impl

int main(int argc, char**) {
  if (argc == 1) return tailrace::impl::run();
  std::puts("tailrace-plugin-host " TAILRACE_VERSION_STRING "\nStarted by tailrace's server, not by hand.");
  return 0;
}
