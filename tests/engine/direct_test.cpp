// Files that are opened for direct transfers while other requests go on.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "engine_rig.hpp"

namespace tailrace::impl {
namespace {

// A storage that takes long to open a file for direct transfers: until release().
class SlowToOpenDirectly final : public Storage {
 public:
  explicit SlowToOpenDirectly(Storage& inner) : inner_(inner) {}

  const Capabilities& capabilities() const override { return inner_.capabilities(); }
  FileSystem& files() override { return inner_.files(); }
  void use_memory(std::span<std::byte> memory) override { inner_.use_memory(memory); }
  void submit(const Transfer& transfer) override { inner_.submit(transfer); }
  size_t reap(std::span<Completion> done) override { return inner_.reap(done); }
  void submit(FileOperation operation) override {
    if (operation.kind != FileOperation::Kind::direct) return inner_.submit(std::move(operation));
    ++asked;
    held_ = std::move(operation);
  }
  std::optional<FileOperationEnd> reap_operation() override { return inner_.reap_operation(); }
  void release() { inner_.submit(*std::exchange(held_, std::nullopt)); }

  int asked = 0;

 private:
  Storage& inner_;
  std::optional<FileOperation> held_;
};

TEST(DirectTransfers, WaitAloneUntilTheirFileIsOpenForThem) {
  EngineRig rig({.plan = {.pretend_direct = 4096}});
  SlowToOpenDirectly storage(rig.faults);
  EngineOptions options;
  options.execute.direct_from = 8192;
  Engine engine(storage, rig.fifo, rig.clock, options);
  alignas(4096) static char memory[16384];
  const auto submit = [&](FileId file, Operation operation, uint64_t offset, uint64_t length) {
    Request request;
    request.operation = operation;
    request.file = file;
    if (length > 0) request.pieces = {{{offset, length}, reinterpret_cast<std::byte*>(memory)}};
    request.sink = &rig.ends;
    request.token = request.sequence = rig.next_token++;
    engine.submit(std::move(request));
    return rig.next_token - 1;
  };
  const auto run = [&] {
    for (int i = 0; i < 1000; ++i) engine.progress();
  };
  const FileId first = engine.open("first", OpenMode::create, 0, "");
  const FileId second = engine.open("second", OpenMode::create, 0, "");
  const uint64_t large = submit(first, Operation::write, 0, 16384);
  const uint64_t other = submit(first, Operation::write, 65536, 16384);
  const uint64_t small = submit(first, Operation::write, 40960, 100);
  const uint64_t elsewhere = submit(second, Operation::write, 0, 100);
  run();
  EXPECT_TRUE(rig.ends.has(small) && rig.ends.has(elsewhere));
  EXPECT_FALSE(rig.ends.has(large) || rig.ends.has(other));
  storage.release();
  run();
  EXPECT_TRUE(rig.ends.of(large).ok() && rig.ends.of(other).ok());
  EXPECT_EQ(engine.counts().transfers.direct, 2u);
  const uint64_t later = submit(first, Operation::write, 0, 16384);
  run();
  EXPECT_TRUE(rig.ends.of(later).ok());
  EXPECT_EQ(storage.asked, 1) << "once for each file";
  for (const FileId file : {first, second}) submit(file, Operation::close, 0, 0);
  run();
  EXPECT_TRUE(engine.idle());
}

}  // namespace
}  // namespace tailrace::impl
