// Batches: requests of the engine whose ends are one event, for whoever goes on when all of them have ended.
//
// The server's thread. Never waits.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "engine/engine.hpp"

namespace tailrace::impl {

class Batches final : public CompletionSink {
 public:
  struct End {
    Status status;           // of the first that failed
    Request::Course course;  // of all of them together

    // Both together, this one first.
    void add(const Status& other, const Request::Course& went);
  };
  using Then = std::function<void(const End& end)>;

  // `engine` outlives this.
  explicit Batches(Engine& engine) : engine_(engine) {}

  // Submits the requests, whose sink and token this sets. The engine has room for them. Calls `then` once, when all
  // have ended; before it returns if there are none.
  void run(std::vector<Request> requests, Then then);
  // Submits a request whose end nobody asks for, even if this is gone by then.
  void close(FileId file);

  bool idle() const { return batches_.empty(); }

  void ended(const Request& request, const Status& status) override;

 private:
  struct Batch {
    size_t left = 0;
    End end;
    Then then;
  };

  // Constant after construction.
  Engine& engine_;
  // The server's thread only.
  uint64_t next_ = 1;
  std::unordered_map<uint64_t, Batch> batches_;
};

}  // namespace tailrace::impl
