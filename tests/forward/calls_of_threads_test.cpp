// Calls of another thread on a remote storage, which the engine's thread drives meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "testing/forward_rig.hpp"
#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

class CallsOfThreads : public ::testing::TestWithParam<bool> {  // true: files are spread
 protected:
  CallsOfThreads() {
    for (const std::string& host : hosts_) rig_.add_forwarder(host);
  }

  // Lets another thread call, and drives the storage until it has returned.
  void call(ForwardedClient& client, const std::function<void(FileSystem&)>& calls) {
    FileSystem& files = client.storage().files_of_threads();
    std::atomic<bool> over = false;
    std::thread other([&] {
      calls(files);
      over.store(true, std::memory_order_release);  // partner: the loop below
    });
    while (!over.load(std::memory_order_acquire)) {
      client.reap();
      if (during_) during_();
      rig_.turn();
    }
    other.join();
  }
  ForwardedClient client() {
    return ForwardedClient(rig_, hosts_, RemoteFiles::OnLoss::next, TransferRecord::Confirm::written, "node",
                           GetParam());
  }

  const std::vector<std::string> hosts_ = {"io1", "io2", "io3"};
  ScratchDirectory scratch_;
  ForwardRig rig_;
  std::function<void()> during_;
};

TEST_P(CallsOfThreads, DoWhatThoseOfTheEnginesThreadDo) {
  ForwardedClient client(this->client());
  std::vector<std::byte> bytes(100'000, std::byte{7});
  const FileHandle file = client.open(scratch_ / "run");
  ASSERT_EQ(client.run(Transfer::Kind::write, file, 0, bytes), 100'000);
  call(client, [&](FileSystem& files) {
    std::vector<std::byte> read(200'000);
    const auto length = files.read(file, 50'000, read);
    ASSERT_TRUE(length.ok()) << length.status().fault().message;
    EXPECT_EQ(length.value(), 50'000u);
    EXPECT_EQ(read[49'999], std::byte{7});
    EXPECT_EQ(files.size(file).value(), 100'000u);
    EXPECT_TRUE(files.sync(file).ok());
    EXPECT_EQ(files.list(scratch_.path()).value(), std::vector<std::string>{"run"});
    EXPECT_EQ(files.stat(scratch_ / "run").value().size, 100'000u);
    EXPECT_TRUE(files.rename(file, scratch_ / "done", true).ok());
    EXPECT_EQ(files.stat(scratch_ / "run").status().fault().system_errno, ENOENT);
    files.close(file);
    EXPECT_TRUE(files.remove(scratch_ / "done").ok());
    EXPECT_FALSE(files.open(scratch_ / "done", OpenMode::edit, 0).ok());
  });
  EXPECT_EQ(client.files().list(scratch_.path()).value(), std::vector<std::string>{});
}

// A lock may end on either thread.
TEST_P(CallsOfThreads, LockNames) {
  ForwardedClient client(this->client());
  std::unique_ptr<NameLock> lock;
  const auto take = [&](FileSystem& files) { lock = files.lock(scratch_ / "lock", "somebody").value(); };
  call(client, take);
  EXPECT_TRUE(client.files().is_locked(scratch_ / "lock"));
  call(client, [&](FileSystem&) { lock.reset(); });
  EXPECT_FALSE(client.files().is_locked(scratch_ / "lock"));
  call(client, take);
  lock.reset();
  EXPECT_FALSE(client.files().is_locked(scratch_ / "lock"));
  std::vector<std::unique_ptr<NameLock>> many;  // of an earlier server's clients: this thread takes them at its start
  for (int i = 0; i < 64; ++i) {
    many.push_back(client.files().lock(scratch_ / ("lock" + std::to_string(i)), "somebody").value());
  }
  call(client, [&](FileSystem&) { many.clear(); });
  EXPECT_FALSE(client.files().is_locked(scratch_ / "lock0"));
}

TEST_P(CallsOfThreads, AreMadeAgainWhenTheirForwarderIsLost) {
  ForwardedClient client(this->client());
  std::vector<std::byte> bytes(100'000, std::byte{7});
  const FileHandle file = client.open(scratch_ / "run");
  ASSERT_EQ(client.run(Transfer::Kind::write, file, 0, bytes), 100'000);
  int turns = 0;
  during_ = [&] {
    if (++turns == 2) rig_.kill("io1");
    if (turns == 4) rig_.kill("io2");
  };
  call(client, [&](FileSystem& files) {
    for (int i = 0; i < 20; ++i) {
      std::vector<std::byte> read(bytes.size());
      const auto length = files.read(file, 0, read);
      ASSERT_TRUE(length.ok()) << length.status().fault().message;
      EXPECT_EQ(read, bytes);
      EXPECT_EQ(files.stat(scratch_ / "run").value().size, bytes.size());
    }
  });
  during_ = nullptr;
  client.files().close(file);
}

INSTANTIATE_TEST_SUITE_P(Files, CallsOfThreads, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "spread" : "whole"; });

}  // namespace
}  // namespace tailrace::impl
