// OperationThreads: slow operations on whole files hold up neither transfers nor the engine's thread.
#include "storage/threads/operation_threads.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "base/function_ref.hpp"
#include "engine/engine.hpp"
#include "engine/schedule/fifo.hpp"
#include "storage/posix/posix_storage.hpp"
#include "storage_driver.hpp"
#include "testing/forwarding_file_system.hpp"

namespace tailrace::impl {
namespace {

// Files whose renames and closes wait at a gate, and the openings and reservations of those named "gated".
class GatedFiles final : public ForwardingFileSystem {
 public:
  explicit GatedFiles(FileSystem& inner) : ForwardingFileSystem(inner) {}

  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override {
    const bool is_gated = path.find("gated") != std::string::npos;
    if (is_gated) wait();
    Result<Opened> opened = ForwardingFileSystem::open(path, mode, device);
    if (is_gated && opened.ok()) gated_file_ = opened.value().file;
    return opened;
  }
  Status allocate(FileHandle file, uint64_t offset, uint64_t length) override {
    if (file == gated_file_) wait();
    return ForwardingFileSystem::allocate(file, offset, length);
  }
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
  // Lets one call through that is at the gate, or comes next.
  void let_one_through() {
    const std::lock_guard lock(mutex_);
    ++passes_;
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
    moved_.wait(lock, [&] { return open_ || passes_ > 0; });
    if (!open_) --passes_;
  }

  std::mutex mutex_;
  std::condition_variable moved_;
  size_t waiting_ = 0;  // calls that have come to the gate
  bool open_ = false;
  size_t passes_ = 0;
  std::atomic<FileHandle> gated_file_ = FileHandle(-1);
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
    storage_ = std::make_unique<OperationThreads>(std::move(inner), doorbell_, nullptr);
    engine_.emplace(*storage_, fifo_, clock_, EngineOptions());
  }
  ~OperationThreadsTest() override { gated_->open_gate(); }

  FileId begin(const std::string& name) {
    return engine_->open(directory_ / name + ".part", OpenMode::fresh, 0, directory_ / name);
  }
  FileId create(const std::string& name) {
    const FileId file = begin(name);
    run_until([&] { return engine_->is_open(file); });
    return file;
  }
  void submit(Operation operation, FileId file, uint64_t token) {
    Request request;
    request.reserve = true;
    request.operation = operation;
    request.file = file;
    if (operation == Operation::write) request.pieces = {{{0, bytes_.size()}, bytes_.data()}};
    request.sink = &sink_;
    request.token = token;
    engine_->submit(std::move(request));
  }
  void run_until(size_t ends) {
    run_until([&] { return sink_.tokens.size() >= ends; });
  }
  void run_until(FunctionRef<bool()> done) {
    while (!done()) {
      doorbell_.prepare();
      engine_->progress(Urgency::waiting);
      if (done()) break;
      doorbell_.sleep();
    }
    doorbell_.cancel();
  }

  Doorbell doorbell_;
  TemporaryDirectory directory_;
  Sink sink_;
  Fifo fifo_;
  SteadyClock clock_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(100'000, std::byte{5});
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

// Requests for a file that is opened slowly, and whose space is reserved slowly, wait, and others do not.
TEST_F(OperationThreadsTest, OtherFilesGoOnBesideOneThatIsOpenedSlowly) {
  const FileId slow = begin("gated");
  submit(Operation::write, slow, 1);
  submit(Operation::publish, slow, 2);
  const FileId quick = create("quick");
  gated_->wait_for(1);
  for (const bool is_reservation : {false, true}) {
    for (uint64_t token = 3; token < 20; ++token)
      submit(token % 2 == 0 ? Operation::sync : Operation::write, quick, token);
    run_until(is_reservation ? 34 : 17);
    EXPECT_EQ(std::count(sink_.tokens.begin(), sink_.tokens.end(), 1), 0) << "the write waits";
    if (is_reservation) break;
    gated_->let_one_through();
    run_until([&] { return engine_->is_open(slow); });
    gated_->wait_for(2);
  }
  gated_->open_gate();
  run_until(36);
  EXPECT_EQ(std::vector<uint64_t>(sink_.tokens.end() - 2, sink_.tokens.end()), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(std::filesystem::file_size(directory_ / "gated"), bytes_.size());
  submit(Operation::close, quick, 20);
  run_until(37);
}

// More operations than threads: each ends once, and meanwhile transfers go on.
TEST_F(OperationThreadsTest, MoreSlowOperationsThanThreadsWaitForEachOther) {
  constexpr uint64_t kFiles = OperationThreads::kMostThreads + 3;
  const FileId quick = create("quick");
  std::vector<FileId> files;
  for (uint64_t i = 0; i < kFiles; ++i) files.push_back(create(std::to_string(i)));
  for (uint64_t i = 0; i < kFiles; ++i) submit(Operation::publish, files[i], i);
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
