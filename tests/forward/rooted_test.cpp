// RootedStorage: nothing outside the roots is opened, made, renamed or removed, whatever a client names.
#include "storage/rooted/rooted_storage.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <utility>

#include "testing/forwarding_file_system.hpp"
#include "testing/plain_storage.hpp"
#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;

class Rooted : public ::testing::Test {
 protected:
  Rooted() {
    fs::create_directories(scratch_ / "root/d");
    fs::create_directories(scratch_ / "outside");
    std::ofstream(scratch_ / "outside/secret") << "secret";
    fs::create_symlink("../outside", scratch_ / "root/out");
    fs::create_symlink("../outside/secret", scratch_ / "root/leaf");
    fs::create_symlink("d", scratch_ / "root/in");
    auto made = RootedStorage::create(std::make_unique<PlainStorage>(doorbell_), {scratch_ / "root"});
    TAILRACE_REQUIRE(made.ok());
    storage_ = std::move(made).value();
  }

  FileSystem& files() { return storage_->files(); }
  std::string root(const std::string& name) const { return scratch_ / ("root/" + name); }
  void expect_refused(const Status& status, const std::string& path) {
    ASSERT_FALSE(status.ok()) << path;
    const int error = status.fault().system_errno;
    EXPECT_TRUE(error == EACCES || error == ELOOP || error == EINVAL || error == ENOTDIR || error == EEXIST ||
                error == EISDIR)
        << path << ": " << status.fault().message;
    EXPECT_EQ(status.fault().message.find("/proc/self"), std::string::npos) << status.fault().message;
  }

  const ScratchDirectory scratch_;
  Doorbell doorbell_;
  std::unique_ptr<RootedStorage> storage_;
};

constexpr OpenMode kModes[] = {OpenMode::create, OpenMode::fresh,  OpenMode::own,  OpenMode::own_read,
                               OpenMode::edit,   OpenMode::update, OpenMode::read, OpenMode::directory};

TEST_F(Rooted, NoModeOpensWhatLiesOutside) {
  for (const std::string& path :
       {scratch_ / "outside/secret", root("../outside/secret"), root("out/secret"), root("d/../../outside/secret"),
        root("leaf"), std::string("/etc/passwd"), std::string("relative"), scratch_ / "rootless", std::string("/")}) {
    for (const OpenMode mode : kModes) {
      const Result<Opened> opened = files().open(path, mode, 0);
      if (opened.ok()) ADD_FAILURE() << path << " opened with mode " << static_cast<int>(mode);
      expect_refused(opened.status(), path);
    }
  }
  std::string text;
  std::getline(std::ifstream(scratch_ / "outside/secret"), text);
  EXPECT_EQ(text, "secret");
}

TEST_F(Rooted, NamesOutsideAreNeitherSeenNorChanged) {
  for (const std::string& path : {scratch_ / "outside/new", root("../outside/new"), root("out/new")}) {
    expect_refused(files().make_directory(path), path);
    expect_refused(files().lock(path, "me").status(), path);
    expect_refused(files().remove(path), path);
    expect_refused(files().stat(path).status(), path);
    EXPECT_FALSE(files().is_locked(path));
  }
  expect_refused(files().list(root("out")).status(), "out");
  expect_refused(files().list(scratch_.path()).status(), "the root's parent");
  EXPECT_FALSE(fs::exists(scratch_ / "outside/new"));
}

TEST_F(Rooted, EverythingBelowTheRootWorks) {
  ASSERT_TRUE(files().make_directory(root("e/f")).ok());
  const Result<Opened> opened = files().open(root("e/f/a.part"), OpenMode::fresh, 0);
  ASSERT_TRUE(opened.ok()) << opened.status().fault().message;
  const FileHandle file = opened.value().file;
  ASSERT_TRUE(files().truncate(file, 10).ok());
  ASSERT_TRUE(files().rename(file, root("e/f/a"), false).ok());
  EXPECT_EQ(fs::file_size(root("e/f/a")), 10u);
  EXPECT_EQ(files().list(root("e/f")).value(), std::vector<std::string>{"a"});
  EXPECT_EQ(files().stat(root("e/f/a")).value().size, 10u);
  EXPECT_EQ(files().stat(scratch_ / "root").value().kind, NameFacts::Kind::directory);
  files().close(file);
  for (const OpenMode mode : {OpenMode::own, OpenMode::own_read, OpenMode::edit, OpenMode::update, OpenMode::read}) {
    const Result<Opened> again = files().open(root("e/f/a"), mode, 0);
    ASSERT_TRUE(again.ok()) << again.status().fault().message;
    EXPECT_EQ(files().size(again.value().file).value(), 10u);
    files().close(again.value().file);
  }
  const Result<Opened> created = files().open(root("e/f/a"), OpenMode::create, 0);
  ASSERT_TRUE(created.ok());
  EXPECT_EQ(files().size(created.value().file).value(), 0u);
  files().close(created.value().file);
  EXPECT_TRUE(files().check_below(scratch_ / "root", "e/f/a").ok());
  EXPECT_TRUE(files().check_below("/", (scratch_ / "root/e/f/a").substr(1)).ok()) << "the path as a whole is below";
  EXPECT_FALSE(files().check_below("/", "etc/passwd").ok());
  EXPECT_TRUE(files().lock(root("e/lock"), "me").ok());
  EXPECT_TRUE(files().remove(root("e/f/a")).ok());
  EXPECT_FALSE(fs::exists(root("e/f/a")));
  EXPECT_TRUE(files().list(root("in")).ok()) << "a link below the root to a place below the root";
}

TEST_F(Rooted, AFileIsRenamedInItsDirectoryOnly) {
  const Result<Opened> opened = files().open(root("d/a"), OpenMode::update, 0);
  ASSERT_TRUE(opened.ok());
  for (const std::string& to :
       {scratch_ / "outside/a", root("b"), root("d/../../outside/a"), root("d/.."), root("d/")}) {
    EXPECT_FALSE(files().rename(opened.value().file, to, true).ok()) << to;
  }
  files().close(opened.value().file);
  EXPECT_TRUE(fs::exists(root("d/a")));
}

TEST_F(Rooted, AFileStaysOpenWhenItsDirectoryIsReplacedByALink) {
  const Result<Opened> opened = files().open(root("d/a.part"), OpenMode::fresh, 0);
  ASSERT_TRUE(opened.ok());
  fs::rename(root("d"), root("moved"));
  fs::create_symlink("../outside", root("d"));
  ASSERT_TRUE(files().rename(opened.value().file, root("d/a"), true).ok()) << "it goes where its directory is";
  EXPECT_TRUE(fs::exists(root("moved/a")));
  EXPECT_FALSE(fs::exists(scratch_ / "outside/a"));
  files().close(opened.value().file);
}

// A storage in which something else happens as soon as a file is closed.
class ClosingStorage final : public Storage, public ForwardingFileSystem {
 public:
  explicit ClosingStorage(std::unique_ptr<Storage> inner)
      : ForwardingFileSystem(inner->files()), inner_(std::move(inner)) {}
  const Capabilities& capabilities() const override { return inner_->capabilities(); }
  FileSystem& files() override { return *this; }
  void use_memory(std::span<std::byte>) override {}
  void submit(const Transfer& transfer) override { inner_->submit(transfer); }
  size_t reap(std::span<Completion> done) override { return inner_->reap(done); }
  void close(FileHandle file) override {
    ForwardingFileSystem::close(file);
    if (closed) std::exchange(closed, nullptr)();
  }

  std::function<void()> closed;

 private:
  const std::unique_ptr<Storage> inner_;
};

// Another thread may open a file, under the same handle, before the call that closes the first one returns.
TEST_F(Rooted, AHandleMayBeAnotherFilesWhenItsCloseReturns) {
  auto closing = std::make_unique<ClosingStorage>(std::make_unique<PlainStorage>(doorbell_));
  ClosingStorage& inner = *closing;
  auto storage = RootedStorage::create(std::move(closing), {scratch_ / "root"}).value();
  const FileHandle first = storage->files().open(root("first"), OpenMode::fresh, 0).value().file;
  FileHandle second = 0;
  inner.closed = [&] { second = storage->files().open(root("second.part"), OpenMode::fresh, 0).value().file; };
  storage->files().close(first);
  ASSERT_EQ(second, first);
  EXPECT_TRUE(storage->files().rename(second, root("second"), false).ok());
  storage->files().close(second);
}

TEST(RootedStorage, ARootThatIsNotThereIsRefused) {
  Doorbell doorbell;
  const auto made = RootedStorage::create(std::make_unique<PlainStorage>(doorbell), {"/there/is/none"});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().fault().system_errno, ENOENT);
}

}  // namespace
}  // namespace tailrace::impl
