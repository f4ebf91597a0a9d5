// The contract of every back end, as the port defines it: one suite, run over all of them.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "back_ends.hpp"
#include "storage_driver.hpp"

namespace tailrace::impl {
namespace {

using Kind = Transfer::Kind;

class StorageContract : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Storage>> made =
        make_back_end(GetParam(), doorbell_, {directory_.path(), others_ / "1", others_ / "2"});
    if (!made.ok() && made.status().code() == TAILRACE_UNSUPPORTED) {
      GTEST_SKIP() << made.status().fault().message;
    }
    ASSERT_TRUE(made.ok()) << made.status().fault().message;
    storage_ = std::move(made).value();
  }

  FileHandle open(const std::string& name, OpenMode mode = OpenMode::create) {
    Result<Opened> file = storage_->files().open(directory_ / name, mode, 0);
    EXPECT_TRUE(file.ok()) << file.status().fault().message;
    return file.value().file;
  }
  int64_t transfer(Kind kind, FileHandle file, uint64_t offset, std::span<std::byte> bytes, bool direct = false) {
    return run(*storage_, doorbell_, kind, file, offset, bytes, direct);
  }
  int64_t sync(FileHandle file) { return transfer(Kind::sync, file, 0, {}); }
  // Returns true if a file is one file of the system, with the same bytes.
  bool has_plain_files() const { return GetParam() != "memory" && GetParam() != "striped"; }

  Doorbell doorbell_;
  TemporaryDirectory directory_;
  TemporaryDirectory others_;  // of the other devices, for `striped`
  std::unique_ptr<Storage> storage_;
};

INSTANTIATE_TEST_SUITE_P(BackEnds, StorageContract,
                         ::testing::Values("memory", "posix", "scattering", "striped", "threads", "uring"),
                         [](const auto& test) { return test.param; });

void expect_errno(const Status& status, int expected) {
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), TAILRACE_IO_ERROR);
  EXPECT_EQ(status.fault().system_errno, expected) << status.fault().message;
}

TEST_P(StorageContract, OperationsOnWholeFilesAreSubmittedAndReaped) {
  const FileHandle file = open("a.part", OpenMode::fresh);
  std::vector<std::byte> bytes(3000, std::byte{7});
  ASSERT_EQ(transfer(Kind::write, file, 0, bytes), 3000);
  using Operation = FileOperation::Kind;
  ASSERT_TRUE(run(*storage_, doorbell_, {.kind = Operation::truncate, .file = file, .size = 2000}).ok());
  EXPECT_EQ(storage_->files().size(file).value(), 2000u);
  ASSERT_TRUE(run(*storage_, doorbell_, {.kind = Operation::publish, .file = file, .path = directory_ / "a"}).ok());
  EXPECT_EQ(storage_->files().stat(directory_ / "a").value().size, 2000u);
  expect_errno(storage_->files().stat(directory_ / "a.part").status(), ENOENT);

  const FileHandle other = open("b.part", OpenMode::fresh);
  const Status refused = run(*storage_, doorbell_,
                             {.kind = Operation::publish, .file = other, .path = directory_ / "a", .replace = false});
  expect_errno(refused, EEXIST);
  EXPECT_EQ(storage_->files().stat(directory_ / "a").value().size, 2000u) << "neither file was changed";
  const FileHandle again = open("b.part", OpenMode::own);
  ASSERT_TRUE(
      run(*storage_, doorbell_, {.kind = Operation::remove, .file = again, .path = directory_ / "b.part"}).ok());
  expect_errno(storage_->files().stat(directory_ / "b.part").status(), ENOENT);
  const FileHandle read = open("a", OpenMode::read);
  EXPECT_TRUE(run(*storage_, doorbell_, {.kind = Operation::close, .file = read}).ok());
}

// A random range of one region of the file, cut into random segments of random memory.
struct RandomTransfer {
  Transfer transfer;
  std::vector<iovec> segments;
  size_t length = 0;

  RandomTransfer(std::mt19937_64& random, FileHandle file, uint64_t region, size_t region_bytes,
                 std::span<std::byte> memory) {
    const size_t begin = random() % region_bytes;
    length = 1 + random() % (region_bytes - begin);
    size_t at = 0;
    while (at < length) {
      // Sometimes empty: an empty segment is allowed.
      const size_t some = segments.size() == 7 ? length - at : random() % (length - at + 1);
      segments.push_back(segment_of(memory.subspan(at, some)));
      at += some;
    }
    transfer.kind = random() % 2 == 0 ? Kind::read : Kind::write;
    transfer.file = file;
    transfer.offset = region * region_bytes + begin;
    transfer.segments = segments;
    transfer.tag = region;
    // Room is a hint: too little or too much of it changes nothing.
    if (transfer.kind == Kind::write && random() % 2 == 0) transfer.room = 1 + random() % (2 * region_bytes);
  }
};

TEST_P(StorageContract, RandomTransfersLeaveTheBytesOfAPlainModel) {
  constexpr size_t kRegionBytes = 20000;
  std::mt19937_64 random(test_seed());
  const size_t regions = storage_->capabilities().depth;
  AlignedMemory memory(regions * 5 * 4096, 4096);
  ASSERT_GE(memory.span().size(), regions * kRegionBytes);
  // Half of it is registered, the other half is not.
  storage_->use_memory(memory.span().first(memory.span().size() / 2));
  const FileHandle file = open("model");
  std::vector<std::byte> model(regions * kRegionBytes);
  ASSERT_EQ(transfer(Kind::write, file, 0, model), model.size());

  for (int round = 0; round < 100; round++) {
    std::vector<std::unique_ptr<RandomTransfer>> batch;
    for (size_t region = 0; region < regions; region++) {
      const std::span<std::byte> room = memory.span().subspan(region * kRegionBytes, kRegionBytes);
      fill(room, random);
      batch.push_back(std::make_unique<RandomTransfer>(random, file, region, kRegionBytes, room));
      if (batch.back()->transfer.kind == Kind::write) {
        std::copy_n(room.begin(), batch.back()->length, model.begin() + batch.back()->transfer.offset);
      }
    }
    for (const auto& one : batch) storage_->submit(one->transfer);
    std::vector<bool> seen(regions);
    for (const Completion& done : wait_for(*storage_, doorbell_, regions)) {
      ASSERT_LT(done.tag, regions);
      ASSERT_FALSE(seen[done.tag]);
      seen[done.tag] = true;
      const RandomTransfer& one = *batch[done.tag];
      ASSERT_EQ(done.result, one.length);
      ASSERT_EQ(
          std::memcmp(memory.span().data() + done.tag * kRegionBytes, model.data() + one.transfer.offset, one.length),
          0);
    }
  }
  std::vector<std::byte> all(model.size());
  ASSERT_EQ(transfer(Kind::read, file, 0, all), all.size());
  EXPECT_EQ(all, model);
  EXPECT_EQ(transfer(Kind::read, file, model.size(), all), 0) << "the file has got longer";
  EXPECT_EQ(sync(file), 0);
  storage_->files().close(file);
}

// A scattered write: pieces of random lengths at random distances.
struct ScatteredTransfer {
  Transfer transfer;
  std::vector<iovec> segments;

  // Makes the model what the file is to be afterwards.
  ScatteredTransfer(std::mt19937_64& random, FileHandle file, uint64_t region, std::vector<std::byte>& model,
                    size_t region_bytes, std::span<std::byte> memory) {
    size_t at = random() % 100;
    transfer.offset = region * region_bytes + at;
    size_t used = 0;
    const size_t longest = random() % 3 == 0 ? 3000 : 1 + random() % 40;
    while (at < region_bytes) {
      const size_t length = std::min<size_t>(1 + random() % longest, region_bytes - at);
      segments.push_back(segment_of(memory.subspan(used, length)));
      std::copy_n(memory.begin() + static_cast<ptrdiff_t>(used), length,
                  model.begin() + static_cast<ptrdiff_t>(region * region_bytes + at));
      used += length;
      at += length;
      const size_t hole = random() % 3 == 0 ? 0 : 1 + random() % longest;
      if (hole == 0 || at + hole >= region_bytes) continue;
      segments.push_back({nullptr, hole});
      at += hole;
    }
    transfer.kind = Kind::write;
    transfer.file = file;
    transfer.segments = segments;
    transfer.tag = region;
    transfer.scattered = true;
  }
  size_t length() const {
    size_t sum = 0;
    for (const iovec& segment : segments) sum += segment.iov_len;
    return sum;
  }
};

TEST_P(StorageContract, ScatteredWritesLeaveTheirHolesAlone) {
  if (!storage_->capabilities().scatters) GTEST_SKIP() << GetParam() << " takes no scattered writes";
  constexpr size_t kRegionBytes = 30000;
  std::mt19937_64 random(test_seed());
  const size_t regions = storage_->capabilities().depth;
  std::vector<std::byte> memory(regions * kRegionBytes);
  std::vector<std::byte> model(regions * kRegionBytes);
  const FileHandle file = open("scattered");
  for (int round = 0; round < 40; round++) {
    fill(memory, random);
    std::vector<std::unique_ptr<ScatteredTransfer>> batch;
    for (size_t region = 0; region < regions; region++) {
      const auto part = std::span(memory).subspan(region * kRegionBytes, kRegionBytes);
      batch.push_back(std::make_unique<ScatteredTransfer>(random, file, region, model, kRegionBytes, part));
    }
    for (const auto& one : batch) storage_->submit(one->transfer);
    for (const Completion& done : wait_for(*storage_, doorbell_, regions)) {
      ASSERT_EQ(done.result, batch[done.tag]->length());
    }
  }
  std::vector<std::byte> all(model.size());
  ASSERT_EQ(transfer(Kind::read, file, 0, all), all.size());
  EXPECT_EQ(all, model);
  storage_->files().close(file);
}

TEST_P(StorageContract, DirectBodyAndRaggedEndMakeOneFile) {
  constexpr size_t kBody = 1 << 20;
  constexpr size_t kTail = 777;
  std::mt19937_64 random(test_seed());
  AlignedMemory memory(2 * kBody + 8192, 4096);
  storage_->use_memory(memory.span().first(kBody + 4096));
  const std::span<std::byte> bytes = memory.span().first(kBody + kTail);
  fill(bytes, random);
  const FileHandle file = open("ragged");
  const bool direct = storage_->files().direct(file);
  EXPECT_TRUE(!direct || storage_->capabilities().direct_alignment == 4096);
  RecordProperty("direct", direct ? "yes" : "no");

  ASSERT_TRUE(storage_->files().allocate(file, 0, bytes.size()).ok());
  const iovec body = segment_of(bytes.first(kBody));
  const iovec tail = segment_of(bytes.subspan(kBody));
  storage_->submit({Kind::write, direct, file, 0, std::span(&body, 1), 1});
  storage_->submit({Kind::write, false, file, kBody, std::span(&tail, 1), 2});
  for (const Completion& done : wait_for(*storage_, doorbell_, 2)) {
    EXPECT_EQ(done.result, done.tag == 1 ? kBody : kTail);
  }
  EXPECT_EQ(sync(file), 0);

  const std::span<std::byte> back = memory.span().subspan(kBody + 4096, kBody + kTail);
  // Read in both ways; the second half of the memory is not registered.
  EXPECT_EQ(transfer(Kind::read, file, 0, back.first(kBody), direct), kBody);
  EXPECT_EQ(transfer(Kind::read, file, kBody, back.subspan(kBody)), kTail);
  EXPECT_TRUE(std::equal(back.begin(), back.end(), bytes.begin()));
  fill(back, random);
  EXPECT_EQ(transfer(Kind::read, file, 0, back), back.size());
  EXPECT_TRUE(std::equal(back.begin(), back.end(), bytes.begin()));
}

TEST_P(StorageContract, TakesAsManySegmentsAsItSays) {
  const size_t count = storage_->capabilities().max_segments;
  std::mt19937_64 random(test_seed());
  std::vector<std::byte> bytes(count * 3);
  fill(bytes, random);
  std::vector<iovec> segments;
  for (size_t i = 0; i < count; i++) segments.push_back(segment_of(std::span(bytes).subspan(i * 3, 3)));
  const FileHandle file = open("segments");
  EXPECT_EQ(run(*storage_, doorbell_, {Kind::write, false, file, 5, segments, 0}), bytes.size());
  std::vector<std::byte> back(bytes.size() + 5);
  EXPECT_EQ(transfer(Kind::read, file, 0, back), back.size());
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), back.begin() + 5));
}

TEST_P(StorageContract, ReadsEndWithTheFileAndHolesAreZeros) {
  const FileHandle file = open("holes");
  std::vector<std::byte> bytes(10, std::byte{7});
  ASSERT_EQ(transfer(Kind::write, file, 100, bytes), 10);
  std::vector<std::byte> back(200, std::byte{9});
  EXPECT_EQ(transfer(Kind::read, file, 0, back), 110);
  EXPECT_TRUE(std::all_of(back.begin(), back.begin() + 100, [](std::byte b) { return b == std::byte{0}; }));
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), back.begin() + 100));
  EXPECT_EQ(back[110], std::byte{9});
  EXPECT_EQ(transfer(Kind::read, file, 110, back), 0);
  EXPECT_EQ(transfer(Kind::read, file, 5000, back), 0);
}

TEST_P(StorageContract, AllocateMakesTheFileLongEnough) {
  const FileHandle file = open("allocated");
  ASSERT_TRUE(storage_->files().allocate(file, 0, 100).ok());
  ASSERT_TRUE(storage_->files().allocate(file, 100, 1000).ok());
  ASSERT_TRUE(storage_->files().allocate(file, 0, 10).ok());
  std::vector<std::byte> back(2000, std::byte{9});
  EXPECT_EQ(transfer(Kind::read, file, 0, back), 1100);
  EXPECT_EQ(std::count(back.begin(), back.begin() + 1100, std::byte{0}), 1100);
}

TEST_P(StorageContract, RoomIsMadeBeforeTheFirstTransferOfMany) {
  constexpr uint64_t kRoom = 1 << 20;
  const FileHandle file = open("room");
  std::vector<std::byte> bytes(4096, std::byte{7});
  const iovec segment = segment_of(bytes);
  Transfer transfer{Kind::write, false, file, 0, std::span(&segment, 1), 0};
  transfer.room = kRoom;
  ASSERT_EQ(run(*storage_, doorbell_, transfer), bytes.size());
  if (!has_plain_files()) return;
  struct stat now {};
  ASSERT_EQ(::stat((directory_ / "room").c_str(), &now), 0);
  EXPECT_EQ(now.st_size, bytes.size());
  const int other = ::open((directory_ / "other").c_str(), O_CREAT | O_RDWR, 0600);
  const bool can = ::fallocate(other, FALLOC_FL_KEEP_SIZE, 0, kRoom) == 0;
  ::close(other);
  EXPECT_GE(static_cast<uint64_t>(now.st_blocks) * 512, can ? kRoom : 0);
}

TEST_P(StorageContract, CreateReplacesWhatIsThere) {
  std::vector<std::byte> bytes(100, std::byte{1});
  const FileHandle first = open("again");
  ASSERT_EQ(transfer(Kind::write, first, 0, bytes), 100);
  storage_->files().close(first);
  const FileHandle second = open("again");
  EXPECT_EQ(transfer(Kind::read, second, 0, bytes), 0);
}

TEST_P(StorageContract, RenameReplacesAndRemoveForgets) {
  std::vector<std::byte> bytes(4, std::byte{1});
  const FileHandle part = open("a.part");
  ASSERT_EQ(transfer(Kind::write, part, 0, bytes), 4);
  storage_->files().close(open("a"));
  ASSERT_TRUE(storage_->files().rename(part, directory_ / "a", true).ok());
  expect_errno(storage_->files().open(directory_ / "a.part", OpenMode::read, 0).status(), ENOENT);
  const FileHandle published = open("a", OpenMode::read);
  EXPECT_EQ(transfer(Kind::read, published, 0, bytes), 4);

  ASSERT_TRUE(storage_->files().remove(directory_ / "a").ok());
  expect_errno(storage_->files().open(directory_ / "a", OpenMode::read, 0).status(), ENOENT);
  // A removed file lives while it is open, under whatever name it was opened.
  EXPECT_EQ(transfer(Kind::write, part, 4, bytes), 4);
  std::vector<std::byte> back(8);
  EXPECT_EQ(transfer(Kind::read, published, 0, back), 8);
}

TEST_P(StorageContract, ARenameThatMayNotReplaceLeavesBothFilesAsTheyAre) {
  std::vector<std::byte> bytes(4, std::byte{1});
  const FileHandle part = open("b.part");
  ASSERT_EQ(transfer(Kind::write, part, 0, bytes), 4);
  storage_->files().close(open("b"));
  expect_errno(storage_->files().rename(part, directory_ / "b", false), EEXIST);
  EXPECT_EQ(transfer(Kind::read, open("b", OpenMode::read), 0, bytes), 0);
  EXPECT_EQ(transfer(Kind::read, open("b.part", OpenMode::read), 0, bytes), 4);

  ASSERT_TRUE(storage_->files().remove(directory_ / "b").ok());
  ASSERT_TRUE(storage_->files().rename(part, directory_ / "b", false).ok());
  expect_errno(storage_->files().open(directory_ / "b.part", OpenMode::read, 0).status(), ENOENT);
  EXPECT_EQ(transfer(Kind::read, open("b", OpenMode::read), 0, bytes), 4);
  storage_->files().close(part);
}

TEST_P(StorageContract, AFreshFileIsNotTheOneThatWasThere) {
  std::vector<std::byte> bytes(4, std::byte{1});
  const FileHandle old = open("fresh");
  ASSERT_EQ(transfer(Kind::write, old, 0, bytes), 4);
  const FileHandle fresh = open("fresh", OpenMode::fresh);
  EXPECT_EQ(transfer(Kind::read, fresh, 0, bytes), 0);
  EXPECT_EQ(transfer(Kind::read, old, 0, bytes), 4) << "the old file was written into";
  EXPECT_EQ(transfer(Kind::write, fresh, 0, bytes), 4);
  expect_errno(storage_->files().rename(old, directory_ / "published", true),
               GetParam() == "memory" ? ENOENT : ESTALE);
  EXPECT_TRUE(storage_->files().rename(fresh, directory_ / "published", true).ok());
}

TEST_P(StorageContract, AnOwnFileIsThereAndIsKept) {
  expect_errno(storage_->files().open(directory_ / "own", OpenMode::own, 0).status(), ENOENT);
  std::vector<std::byte> bytes(4, std::byte{1});
  storage_->files().close(open("own", OpenMode::fresh));
  const FileHandle own = open("own", OpenMode::own);
  EXPECT_EQ(transfer(Kind::write, own, 0, bytes), 4);
  EXPECT_EQ(transfer(Kind::read, open("own", OpenMode::own), 0, bytes), 4);
}

TEST_P(StorageContract, SeveralOpenAnOwnFileWhichTheFirstOneMakes) {
  std::vector<std::byte> bytes(4, std::byte{1});
  const FileHandle first = open("joint", OpenMode::own_or_new);
  const FileHandle second = open("joint", OpenMode::own_or_new);
  EXPECT_EQ(transfer(Kind::write, first, 0, bytes), 4);
  EXPECT_EQ(transfer(Kind::write, second, 4, bytes), 4);
  storage_->files().close(first);
  EXPECT_EQ(storage_->files().stat(directory_ / "joint").value().size, 8u);
  EXPECT_TRUE(storage_->files().rename(second, directory_ / "whole", false).ok());
}

TEST_P(StorageContract, NothingIsWrittenThroughALinkUnderANameOfOurs) {
  if (GetParam() == "memory") GTEST_SKIP() << "there are no links in memory";
  const std::string victim = directory_ / "victim";
  std::vector<std::byte> bytes(4, std::byte{1});
  const FileHandle file = open("victim");
  ASSERT_EQ(transfer(Kind::write, file, 0, bytes), 4);
  ASSERT_EQ(::symlink(victim.c_str(), (directory_ / "link").c_str()), 0);
  ASSERT_EQ(::symlink((directory_ / "nothing").c_str(), (directory_ / "dangling").c_str()), 0);
  for (const OpenMode mode :
       {OpenMode::create, OpenMode::update, OpenMode::fresh, OpenMode::own, OpenMode::own_or_new}) {
    expect_errno(storage_->files().open(directory_ / "link", mode, 0).status(), ELOOP);
    expect_errno(storage_->files().open(directory_ / "dangling", mode, 0).status(), ELOOP);
  }
  EXPECT_FALSE(std::filesystem::exists(directory_ / "nothing"));
  EXPECT_EQ(transfer(Kind::read, file, 0, bytes), 4);
}

TEST_P(StorageContract, OnlyTheFileThatWasWrittenIsPublished) {
  if (GetParam() == "memory") GTEST_SKIP() << "nobody else renames in memory";
  std::vector<std::byte> bytes(4, std::byte{1});
  storage_->files().close(open("victim"));
  const FileHandle part = open("c.part", OpenMode::fresh);
  std::filesystem::rename(directory_ / "c.part", directory_ / "away");
  std::filesystem::create_symlink(directory_ / "victim", directory_ / "c.part");
  for (const bool replace : {true, false})
    expect_errno(storage_->files().rename(part, directory_ / "c", replace), ESTALE);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "c"));
}

TEST_P(StorageContract, ErrorsAreNegativeErrnos) {
  expect_errno(storage_->files().open(directory_ / "none", OpenMode::read, 0).status(), ENOENT);
  const FileHandle removed = open("removed");
  ASSERT_TRUE(storage_->files().remove(directory_ / "removed").ok());
  expect_errno(storage_->files().rename(removed, directory_ / "some", true), ENOENT);
  expect_errno(storage_->files().rename(removed, directory_ / "some", false), ENOENT);
  storage_->files().close(removed);
  expect_errno(storage_->files().remove(directory_ / "none"), ENOENT);
  std::vector<std::byte> bytes(16);
  storage_->files().close(open("file"));
  expect_errno(storage_->files().open(directory_ / "file", OpenMode::directory, 0).status(), ENOTDIR);
  const FileHandle read_only = open("file", OpenMode::read);
  EXPECT_EQ(transfer(Kind::write, read_only, 0, bytes), -EBADF);
  expect_errno(storage_->files().allocate(read_only, 0, 10), EBADF);
  EXPECT_EQ(sync(read_only), 0);
  const FileHandle folder = open(".", OpenMode::directory);
  EXPECT_EQ(transfer(Kind::read, folder, 0, bytes), -EISDIR);
  EXPECT_EQ(transfer(Kind::write, folder, 0, bytes), -EBADF);
  EXPECT_EQ(sync(folder), 0);
}

TEST_P(StorageContract, CreateNeedsItsDirectory) {
  if (GetParam() == "memory") GTEST_SKIP() << "every directory exists in memory";
  expect_errno(storage_->files().open(directory_ / "none/file", OpenMode::create, 0).status(), ENOENT);
  expect_errno(storage_->files().open(directory_ / "none", OpenMode::directory, 0).status(), ENOENT);
}

TEST_P(StorageContract, OffsetsPass4GiB) {
  if (GetParam() == "memory") GTEST_SKIP() << "a hole takes memory there";
  AlignedMemory memory(8192, 4096);
  memory.span()[0] = std::byte{42};
  storage_->use_memory(memory.span().first(4096));
  const FileHandle file = open("sparse");
  const uint64_t far = (uint64_t{5} << 30) + 4096;
  ASSERT_EQ(transfer(Kind::write, file, far, memory.span().first(4096), storage_->files().direct(file)), 4096);
  ASSERT_EQ(transfer(Kind::read, file, far, memory.span().subspan(4096)), 4096);
  EXPECT_EQ(memory.span()[4096], std::byte{42});
}

TEST_P(StorageContract, HandlesAreUsedAgain) {
  const FileHandle first = open("first");
  const FileHandle second = open("second");
  EXPECT_NE(first, second);
  storage_->files().close(first);
  EXPECT_EQ(open("third"), first);
}

TEST_P(StorageContract, TransfersUnderWayEndBeforeTheStorageDoes) {
  std::vector<std::byte> bytes(1 << 20, std::byte{5});
  const FileHandle file = open("late");
  std::vector<iovec> segments(storage_->capabilities().depth, segment_of(bytes));
  for (size_t i = 0; i < segments.size(); i++) {
    storage_->submit({Kind::write, false, file, i * bytes.size(), std::span(&segments[i], 1), i});
  }
  storage_.reset();
  if (!has_plain_files()) return;
  EXPECT_EQ(std::filesystem::file_size(directory_ / "late"), segments.size() * bytes.size());
}

}  // namespace
}  // namespace tailrace::impl
