// OperationThreads: slow operations on whole files hold up neither transfers nor the engine's thread.
#include "storage/threads/operation_threads.hpp"

#include <condition_variable>
#include <mutex>

#include "engine/engine.hpp"
#include "engine/schedule/fifo.hpp"
#include "storage/posix/posix_storage.hpp"
#include "storage_driver.hpp"
#include "testing/forwarding_file_system.hpp"

namespace tailrace::impl {
namespace {

// Files whose renames and closes wait at a gate.
class GatedFiles final : public ForwardingFileSystem {
 public:
  explicit GatedFiles(FileSystem& inner) : ForwardingFileSystem(inner) {}

  void close(FileHandle file) override {
    wait();
    ForwardingFileSystem::close(file);
  }
  Status rename(FileHandle file, const std::string& to, bool replace) override {
    wait();
    return ForwardingFileSystem::rename(file, to, replace);
  }
  void open_gate() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    moved_.notify_all();
  }
  void wait_for(size_t waiting) {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [&] { return waiting_ >= waiting; });
  }

 private:
  void wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    moved_.notify_all();
    moved_.wait(lock, [&] { return open_; });
  }

  std::mutex mutex_;
  std::condition_variable moved_;
  size_t waiting_ = 0;  // calls that have come to the gate
  bool open_ = false;
};

class GatedNames final : public Storage {
 public:
  explicit GatedNames(std::unique_ptr<Storage> inner) : inner_(std::move(inner)), gated(inner_->files()) {}
  const Capabilities& capabilities() const override { return inner_->capabilities(); }
  FileSystem& files() override { return gated; }
  void use_memory(std::span<std::byte>) override {}
  void submit(const Transfer& transfer) override { inner_->submit(transfer); }
  size_t reap(std::span<Completion> done) override { return inner_->reap(done); }

 private:
  const std::unique_ptr<Storage> inner_;

 public:
  GatedFiles gated;
};

class Sink final : public CompletionSink {
 public:
  void ended(const Request& request, const Status& status) override {
    EXPECT_TRUE(status.ok()) << status.fault().message;
    tokens.push_back(request.token);
  }
  std::vector<uint64_t> tokens;
};

class OperationThreadsTest : public ::testing::Test {
 protected:
  OperationThreadsTest() {
    auto inner = std::make_unique<GatedNames>(PosixStorage::create(doorbell_, {}).value());
    gated_ = &inner->gated;
    storage_ = std::make_unique<OperationThreads>(std::move(inner), doorbell_, std::vector<int>());
    engine_.emplace(*storage_, fifo_, clock_, EngineOptions());
  }
  ~OperationThreadsTest() override { gated_->open_gate(); }

  FileId create(const std::string& name) {
    return engine_->open(directory_ / name + ".part", OpenMode::fresh, 0, directory_ / name).value();
  }
  void submit(Operation operation, FileId file, uint64_t token) {
    Request request;
    request.operation = operation;
    request.file = file;
    if (operation == Operation::write) request.pieces = {{{0, bytes_.size()}, bytes_.data()}};
    request.sink = &sink_;
    request.token = token;
    engine_->submit(std::move(request));
  }
  void run_until(size_t ends) {
    while (sink_.tokens.size() < ends) {
      doorbell_.prepare();
      engine_->progress(Urgency::waiting);
      if (sink_.tokens.size() >= ends) break;
      doorbell_.sleep();
    }
    doorbell_.cancel();
  }

  Doorbell doorbell_;
  TemporaryDirectory directory_;
  Sink sink_;
  Fifo fifo_;
  SteadyClock clock_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(10'000, std::byte{5});
  GatedFiles* gated_ = nullptr;
  std::unique_ptr<OperationThreads> storage_;
  std::optional<Engine> engine_;
};

TEST_F(OperationThreadsTest, OtherFilesGoOnBesideOneThatIsPublishedSlowly) {
  const FileId slow = create("slow");
  const FileId quick = create("quick");
  submit(Operation::write, slow, 1);
  submit(Operation::publish, slow, 2);
  run_until(1);
  gated_->wait_for(1);
  for (uint64_t token = 3; token < 20; ++token)
    submit(token % 2 == 0 ? Operation::sync : Operation::write, quick, token);
  run_until(18);
  EXPECT_EQ(std::count(sink_.tokens.begin(), sink_.tokens.end(), 2), 0) << "the publication waits at the gate";
  EXPECT_FALSE(std::filesystem::exists(directory_ / "slow"));
  gated_->open_gate();
  run_until(19);
  EXPECT_EQ(sink_.tokens.back(), 2u);
  EXPECT_EQ(std::filesystem::file_size(directory_ / "slow"), bytes_.size());
  submit(Operation::close, quick, 20);
  run_until(20);
}

// More operations than threads: each ends once, and meanwhile transfers go on.
TEST_F(OperationThreadsTest, MoreSlowOperationsThanThreadsWaitForEachOther) {
  constexpr uint64_t kFiles = OperationThreads::kMostThreads + 3;
  for (uint64_t i = 0; i < kFiles; ++i) {
    const FileId file = create(std::to_string(i));
    submit(Operation::publish, file, i);
  }
  const FileId quick = create("quick");
  submit(Operation::write, quick, 100);
  run_until(1);
  EXPECT_EQ(sink_.tokens, std::vector<uint64_t>{100});
  gated_->wait_for(OperationThreads::kMostThreads);
  gated_->open_gate();
  run_until(1 + kFiles);
  for (uint64_t i = 0; i < kFiles; ++i) EXPECT_TRUE(std::filesystem::exists(directory_ / std::to_string(i)));
  submit(Operation::close, quick, 101);
  run_until(2 + kFiles);
}

}  // namespace
}  // namespace tailrace::impl
