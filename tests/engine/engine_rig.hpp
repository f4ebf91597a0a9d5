// EngineRig: an engine over storage in memory with faults above it, and a sink that remembers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/schedule/fifo.hpp"
#include "storage/memory/memory_storage.hpp"
#include "testing/fault_storage.hpp"
#include "testing/picky_storage.hpp"
#include "testing/sim_clock.hpp"

namespace tailrace::impl {

// Records the end of every request; no request may end twice, or during its submission.
class Ends final : public CompletionSink {
 public:
  void ended(const Request& request, const Status& status) override {
    EXPECT_FALSE(submitting) << "a request ended from within submit()";
    EXPECT_TRUE(all.emplace(request.token, status).second) << "request " << request.token << " ended twice";
    order.push_back(request.token);
    if (then) then(request, status);
  }

  bool has(uint64_t token) const { return all.contains(token); }
  const Status& of(uint64_t token) const { return all.at(token); }

  std::map<uint64_t, Status> all;  // by token
  std::vector<uint64_t> order;     // tokens in the order of their ends
  bool submitting = false;
  std::function<void(const Request&, const Status&)> then;
};

struct EngineRigOptions {
  uint64_t seed = 1;
  FaultPlan plan = {};
  uint32_t depth = 8;
  uint32_t segments = 64;
  EngineOptions engine = {};
};

class EngineRig {
 public:
  explicit EngineRig(EngineRigOptions options = {}, Scheduler* scheduler = nullptr)
      : memory(doorbell),
        picky(memory, doorbell, options.depth, options.segments),
        faults(picky, doorbell, options.seed, options.plan),
        engine(faults, scheduler ? *scheduler : fifo, clock, options.engine) {}

  // Creates a file whose first `size` bytes are zeros.
  FileId create(const std::string& name, uint64_t size) {
    Opened opened = engine.files().open(name + ".part", OpenMode::create, 0).value();
    if (size > 0) {
      EXPECT_TRUE(engine.files().allocate(opened.file, 0, size).ok());
    }
    const FileId file = engine.add(name + ".part", std::move(opened));
    engine.publish_as(file, name);
    return file;
  }

  // Returns the token of the request in `ends`.
  uint64_t submit(Operation operation, FileId file, std::vector<Piece> pieces = {}, bool fence = false,
                  uint32_t client = 0, bool immediate = false) {
    Request request;
    request.client = client;
    request.immediate = immediate;
    request.operation = operation;
    request.file = file;
    request.pieces = std::move(pieces);
    request.fence = fence;
    return submit(std::move(request));
  }
  uint64_t submit(Request request) {
    request.sink = &ends;
    request.token = next_token++;
    request.sequence = request.token;
    ends.submitting = true;
    engine.submit(std::move(request));
    ends.submitting = false;
    return next_token - 1;
  }

  void run_until_idle() {
    for (int rounds = 0; !engine.idle(); ++rounds) {
      ASSERT_LT(rounds, 100000) << "the engine does not come to an end";
      const Nanoseconds now = clock.now();
      clock.advance(std::max(engine.due().value_or(now), now) - now);
      engine.progress();
    }
  }

  std::string text(const std::string& path) const {
    const MemoryStorage::Bytes* bytes = memory.contents(path);
    if (bytes == nullptr) return "(none)";
    return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
  }

  Doorbell doorbell;
  MemoryStorage memory;
  PickyStorage picky;
  FaultStorage faults;
  SimClock clock;
  Fifo fifo;
  Engine engine;
  Ends ends;
  uint64_t next_token = 1;
};

inline Piece piece_of(uint64_t offset, std::string& text) {
  return {{offset, text.size()}, reinterpret_cast<std::byte*>(text.data())};
}

}  // namespace tailrace::impl
