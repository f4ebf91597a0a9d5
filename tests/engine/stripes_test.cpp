// A request knows the data server of its first byte, so a scheduler can order by it.
#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "engine_rig.hpp"

namespace tailrace::impl {
namespace {

// First come, first served; notes the servers.
class NotedServers final : public Scheduler {
 public:
  void push(const Request* request) override {
    servers.push_back(request->server);
    waiting_.push_back(request);
  }
  const Request* next(Nanoseconds) override {
    if (waiting_.empty()) return nullptr;
    const Request* const first = waiting_.front();
    waiting_.pop_front();
    return first;
  }
  void ended(const Request&) override {}
  std::optional<Nanoseconds> due() const override { return std::nullopt; }
  void hurry() override {}

  std::vector<uint32_t> servers;

 private:
  std::deque<const Request*> waiting_;
};

TEST(Stripes, ARequestKnowsTheServerOfItsFirstByte) {
  NotedServers scheduler;
  EngineRig rig({}, &scheduler);
  rig.picky.set_stripes({4096, {8, 5}});
  const FileId file = rig.create("a", 0);
  scheduler.servers.clear();
  std::vector<std::byte> bytes(3 * 4096);
  Ends ends;
  uint64_t token = 0;
  for (const uint64_t offset : {0, 4096, 8192, 4095}) {
    Request write;
    write.operation = Operation::write;
    write.file = file;
    write.fence = true;
    write.pieces = {{{offset, 1}, bytes.data() + offset}};
    write.sink = &ends;
    write.token = ++token;
    rig.engine.submit(std::move(write));
  }
  while (!rig.engine.idle()) rig.engine.progress();
  EXPECT_EQ(scheduler.servers, (std::vector<uint32_t>{8, 5, 8, 8}));
}

}  // namespace
}  // namespace tailrace::impl
