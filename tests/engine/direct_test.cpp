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
  std::optional<FileOperationEnd> reap_operation() override {
    if (refused_) return std::exchange(refused_, std::nullopt);
    return inner_.reap_operation();
  }
  void release() { inner_.submit(*std::exchange(held_, std::nullopt)); }
  // Too many files are open for the one that was asked for.
  void refuse() { refused_ = {.tag = std::exchange(held_, std::nullopt)->tag, .direct = std::nullopt}; }

  int asked = 0;

 private:
  Storage& inner_;
  std::optional<FileOperation> held_;
  std::optional<FileOperationEnd> refused_;
};

class DirectTransfers : public ::testing::Test {
 protected:
  uint64_t submit(FileId file, Operation operation, uint64_t offset, uint64_t length) {
    alignas(4096) static char memory[16384];
    Request request;
    request.operation = operation;
    request.file = file;
    if (length > 0) request.pieces = {{{offset, length}, reinterpret_cast<std::byte*>(memory)}};
    request.sink = &rig_.ends;
    request.token = request.sequence = rig_.next_token++;
    engine_.submit(std::move(request));
    return rig_.next_token - 1;
  }
  static EngineOptions from(uint64_t bytes) {
    EngineOptions options;
    options.execute.direct_from = bytes;
    return options;
  }
  void run() {
    for (int i = 0; i < 1000; ++i) engine_.progress();
  }

  EngineRig rig_{{.plan = {.pretend_direct = 4096}}};
  SlowToOpenDirectly storage_{rig_.faults};
  Engine engine_{storage_, rig_.fifo, rig_.clock, from(8192)};
};

TEST_F(DirectTransfers, WaitAloneUntilTheirFileIsOpenForThem) {
  const FileId first = engine_.open("first", OpenMode::create, 0, "");
  const FileId second = engine_.open("second", OpenMode::create, 0, "");
  const uint64_t large = submit(first, Operation::write, 0, 16384);
  const uint64_t other = submit(first, Operation::write, 65536, 16384);
  const uint64_t small = submit(first, Operation::write, 40960, 100);
  const uint64_t elsewhere = submit(second, Operation::write, 0, 100);
  run();
  EXPECT_TRUE(rig_.ends.has(small) && rig_.ends.has(elsewhere));
  EXPECT_FALSE(rig_.ends.has(large) || rig_.ends.has(other));
  storage_.release();
  run();
  EXPECT_TRUE(rig_.ends.of(large).ok() && rig_.ends.of(other).ok());
  EXPECT_EQ(engine_.counts().transfers.direct, 2u);
  const uint64_t later = submit(first, Operation::write, 0, 16384);
  run();
  EXPECT_TRUE(rig_.ends.of(later).ok());
  EXPECT_EQ(storage_.asked, 1) << "once for each file";
  for (const FileId file : {first, second}) submit(file, Operation::close, 0, 0);
  run();
  EXPECT_TRUE(engine_.idle());
}

TEST_F(DirectTransfers, AreTriedAgainWhenFewerFilesAreOpen) {
  const FileId file = engine_.open("file", OpenMode::create, 0, "");
  submit(file, Operation::write, 0, 16384);
  run();
  storage_.refuse();
  run();
  EXPECT_EQ(engine_.counts().transfers.direct, 0u);
  submit(file, Operation::write, 0, 16384);
  run();
  storage_.release();
  submit(file, Operation::close, 0, 0);
  run();
  EXPECT_EQ(engine_.counts().transfers.direct, 1u);
  EXPECT_TRUE(engine_.idle());
}

}  // namespace
}  // namespace tailrace::impl
