// CorePlace: the client's side of place `core`, where a client shares a segment with a server process on its node.
//
// It meets the server, and starts it if there is none. It notices the server's death by the connection, while it
// waits. Then, as configured, it meets another server, which continues with all committed data, or continues by
// itself (StandIn), or gives up. One thread, the client's.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/log.hpp"
#include "base/os/file_descriptor.hpp"
#include "base/os/process.hpp"
#include "base/os/unix_socket.hpp"
#include "model/wire/core_wire.hpp"
#include "place/core/rendezvous.hpp"
#include "place/core/segment.hpp"
#include "place/core/stand_in.hpp"
#include "place/place.hpp"

namespace tailrace::impl {

class CorePlace final : public Place {
 public:
  struct Options {
    std::string root;  // parent of runtime directories
    std::string job;
    int server = 0;
    StartOptions start;
    int client = 0;
    std::string configuration;  // for the server
    bool restart = true;        // another server may replace a dead one
    // If set, makes the replacement in this process, for this client alone. Fails with TAILRACE_CLIENT_IN_USE if
    // there is another server already, which is then met instead. Borrows both arguments for the place's life.
    std::function<Result<std::unique_ptr<StandIn>>(RuntimeDirectory& job, const Segment& segment)> stand_in;
    // The client gives up a server that is alive but completes nothing for this long.
    Nanoseconds patience = std::chrono::minutes(10);
  };

  // Borrows `log`.
  static Result<std::unique_ptr<CorePlace>> create(Options options, Log& log);

  Channel& channel() override { return segment_->channel(); }
  std::shared_ptr<void> memory() override { return segment_; }
  Status take(uint64_t offset, uint64_t bytes) override { return segment_->take(job_.directory(), offset, bytes); }
  void ring() override;
  bool reaches_client() const override { return false; }
  Status lost() const override { return lost_; }
  uint32_t losses() const override { return losses_; }
  Status wait(FunctionRef<bool()> ready, std::optional<Nanoseconds> timeout) override;
  void stop() override;
  const std::string& description() const override { return description_; }
  // Returns the last iteration that earlier runs had published when the client came.
  const Result<LastIteration>& last_iteration() const { return last_iteration_; }

 private:
  CorePlace(Options options, RuntimeDirectory job, Log& log)
      : options_(std::move(options)), job_(std::move(job)), log_(log) {}

  struct Met {
    UnixSocket socket;
    FileDescriptor segment;
    FileDescriptor bell;
    ChannelSizes sizes;
    uint64_t pool = 0;
    ProcessHandle process;
    std::string description;
    Result<LastIteration> last_iteration;
  };

  Result<Met> meet_server(bool again);
  Result<Met> greet(UnixSocket socket, bool again) const;
  Status begin();
  bool sleep(FunctionRef<bool()> ready, Nanoseconds at_most);
  Status go_on_after_loss();
  Status go_on_alone();
  Status meet_another();
  void say_goodbye();
  uint64_t ends_so_far();

  const Options options_;
  RuntimeDirectory job_;
  Log& log_;
  std::shared_ptr<Segment> segment_;  // the application may keep parts of it longer
  std::optional<UnixSocket> socket_;  // none: stopped, or the server is lost for good
  FileDescriptor bell_;
  std::optional<ProcessHandle> process_;  // the server's
  std::unique_ptr<StandIn> stand_in_;     // null: there is a server, or none is left
  Status lost_;                           // the reason why there is no server any more
  uint32_t losses_ = 0;
  std::string description_;
  Result<LastIteration> last_iteration_ = LastIteration();
};

}  // namespace tailrace::impl
