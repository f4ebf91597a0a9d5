// Batches: sets of the engine's requests. Each set calls back once, when all its requests have ended.
//
// Runs on the server's thread; never waits.
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
    Request::Course course;  // of all requests together

    // Combines both; this one's status goes first.
    void add(const Status& other, const Request::Course& went);
  };
  using Then = std::function<void(const End& end)>;

  // `engine` must outlive this.
  explicit Batches(Engine& engine) : engine_(engine) {}

  // Submits the requests; sets their sink and token. Calls `then` once, when all have ended, or before it returns if
  // there are none. REQUIRES: the engine has room for them.
  void run(std::vector<Request> requests, Then then);
  // Submits a close that nothing waits for; it may end after this is gone.
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
  // Used by the server's thread only.
  uint64_t next_ = 1;
  std::unordered_map<uint64_t, Batch> batches_;
};

}  // namespace tailrace::impl
