// Session: one open client with everything behind it. The composition root: only here do concrete classes meet.
//
// Builds storage, engine, format, server, place and client from a configuration, starts them and takes them down in
// the right order. Decides nothing else.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/doorbell.hpp"
#include "base/lock_file.hpp"
#include "base/log.hpp"
#include "engine/engine.hpp"
#include "engine/schedule/fifo.hpp"
#include "format/format.hpp"
#include "model/config.hpp"
#include "place/thread/thread_place.hpp"
#include "runtime/config_yaml.hpp"
#include "session/client.hpp"
#include "session/server.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

class Session {
 public:
  static Result<std::unique_ptr<Session>> open(const ConfigInput& input);
  // Everything that was accepted is finished first.
  ~Session();

  Client& client() { return *client_; }
  const Config& config() const { return config_; }
  const ServerCounters& server_counters() { return place_->channel().counters; }
  const FailureLog& failures() { return place_->channel().failures; }
  // See tailrace_describe.
  const std::string& description() const { return description_; }

 private:
  explicit Session(Config config) : config_(std::move(config)) {}
  Status take_directories(int client);
  Status build(int client);

  // In the order of construction; each may use those above it. Constant once open.
  const Config config_;
  SteadyClock clock_;
  std::unique_ptr<Log> log_;
  std::vector<LockFile> locks_;
  Doorbell doorbell_;
  std::unique_ptr<ThreadPlace> place_;
  std::unique_ptr<Storage> storage_;
  Fifo scheduler_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Format> format_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Client> client_;
  std::string description_;
};

}  // namespace tailrace::impl
