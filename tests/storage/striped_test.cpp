// The back end `striped`, beyond the port that contract_test and names_test cover: where bytes lie, what a crash
// leaves, and that objects of different files are never mixed.
#include <unistd.h>

#include <filesystem>

#include "striped_rig.hpp"
#include "testing/dice.hpp"
#include "testing/fault_storage.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

using Kind = Transfer::Kind;

std::string message_of(const Result<Opened>& opened) { return opened.ok() ? "" : opened.status().fault().message; }

// ---- where bytes lie ---------------------------------------------------------------------------------------

TEST(StripeLayout, IsThatOfAModelWhichDealsOutByteByByte) {
  for_seeds(50, [](uint64_t seed) {
    Dice dice(seed);
    const auto count = static_cast<uint32_t>(dice.between(1, 5));
    const StripeLayout layout{dice.between(1, 7), count, static_cast<uint32_t>(dice.below(count)), dice.below(3)};
    std::vector<uint64_t> ends(count, layout.head);  // of the objects, if the file ends at `offset`
    for (uint64_t offset = 0; offset < 100; ++offset) {
      uint64_t least = 0;
      for (uint32_t object = 0; object < count; ++object) {
        EXPECT_EQ(layout.in_object(object, offset), ends[object]);
        least = std::max(least, layout.least_size(object, ends[object]));
      }
      EXPECT_EQ(least, offset);
      const auto object = static_cast<uint32_t>((layout.first + offset / layout.unit) % count);
      EXPECT_EQ(layout.object_of(offset), object);
      EXPECT_EQ(layout.in_file(object, ends[object]), offset);
      EXPECT_EQ(layout.left_in_stripe(offset), layout.unit - offset % layout.unit);
      ++ends[object];
    }
  });
}

TEST(StripeLayout, OfAPlainFileIsTheFile) {
  const StripeLayout plain;
  for (const uint64_t offset : {uint64_t{0}, uint64_t{12345}, (uint64_t{1} << 63) - 1}) {
    EXPECT_EQ(plain.object_of(offset), 0u);
    EXPECT_EQ(plain.in_object(0, offset), offset);
    EXPECT_EQ(plain.in_file(0, offset), offset);
    EXPECT_EQ(plain.least_size(0, offset), offset);
  }
}

TEST(Striped, TheStripeMapTellsWhereTheBytesAre) {
  std::mt19937_64 random(test_seed());
  std::vector<bool> begins_on(4);
  for (int number = 0; number < 40; ++number) {
    StripedRig rig(4, 2 * kLeastStripe);
    const auto storage = rig.open();
    const std::string path = "d0/file" + std::to_string(number);
    const Result<Opened> opened = storage->files().open(path, OpenMode::create, 0);
    ASSERT_TRUE(opened.ok());
    const StripeMap& map = opened.value().stripes;
    ASSERT_EQ(map.unit, rig.unit());
    ASSERT_EQ(map.servers.size(), 4u);
    begins_on[map.servers[0]] = true;
    Bytes bytes = random_bytes(1 + random() % 200'000, random);
    ASSERT_EQ(rig.complete(*storage, Kind::write, opened.value().file, 0, bytes), bytes.size());
    std::vector<Bytes> objects;
    for (uint32_t device = 0; device < 4; ++device) {
      const std::string object = device == 0 ? path : object_path(rig.directories()[device], "0", device);
      const Bytes* there = rig.disks.contents(object);
      ASSERT_NE(there, nullptr) << object;
      objects.emplace_back(there->begin() + kObjectHeadBytes, there->end());
    }
    std::vector<size_t> at(4);
    for (uint64_t offset = 0; offset < bytes.size(); ++offset) {
      const uint32_t device = map.server_of(offset);
      ASSERT_EQ(objects[device].at(at[device]++), bytes[offset]) << offset;
    }
    for (uint32_t device = 0; device < 4; ++device) EXPECT_EQ(objects[device].size(), at[device]) << device;
  }
  EXPECT_EQ(std::count(begins_on.begin(), begins_on.end(), true), 4) << "files should begin on all devices";
}

TEST(Striped, WhatLiesElsewhereIsPlain) {
  std::mt19937_64 random(test_seed());
  StripedRig rig;
  const auto storage = rig.open();
  const Bytes bytes = random_bytes(50'000, random);
  storage->files().close(rig.make(*storage, "elsewhere/file", bytes));
  storage->files().close(rig.make(*storage, "d01/file", bytes));
  ASSERT_NE(rig.disks.contents("elsewhere/file"), nullptr);
  EXPECT_EQ(*rig.disks.contents("elsewhere/file"), bytes);
  EXPECT_EQ(bytes_at(storage->files(), "elsewhere/file"), bytes);
  // A plain file that is there stays one.
  rig.disks.files().close(rig.make(rig.disks, "d0/plain", bytes));
  EXPECT_EQ(bytes_at(storage->files(), "d0/plain"), bytes);
  storage->files().close(storage->files().open("d0/plain", OpenMode::update, 0).value().file);
  EXPECT_EQ(*rig.disks.contents("d0/plain"), bytes);
  EXPECT_TRUE(rig.other_objects().empty());
}

// ---- random programs ---------------------------------------------------------------------------------------

// One file that changes at random, and a plain model of it.
class RandomProgram {
 public:
  RandomProgram(uint64_t seed, StripedRig& rig, Storage& storage)
      : dice_(seed), random_(seed), rig_(rig), storage_(storage), most_(rig.unit() * 3 * rig.directories().size()) {
    file_ = files().open(path_, OpenMode::fresh, 0).value().file;
  }
  ~RandomProgram() { files().close(file_); }

  void step() {
    switch (dice_.below(10)) {
      case 0: return truncate();
      case 1: return allocate();
      case 2: return open_again();
      case 3: return rename();
      case 4: return read_whole();
      case 5: return sync();
      case 6:
      case 7: return read();
      default: return write();
    }
  }

 private:
  FileSystem& files() { return storage_.files(); }

  // Cuts memory into segments, some of them empty.
  std::vector<iovec> segments_of(std::span<std::byte> bytes) {
    std::vector<iovec> segments;
    while (!bytes.empty()) {
      const size_t some = segments.size() > 9 ? bytes.size() : dice_.below(bytes.size() + 1);
      segments.push_back(segment_of(bytes.first(some)));
      bytes = bytes.subspan(some);
    }
    return segments;
  }

  // Continues a transfer as the engine does; each time it is cut into other segments. Returns the bytes transferred.
  size_t transfer(Kind kind, uint64_t offset, std::span<std::byte> bytes) {
    size_t done = 0;
    while (done < bytes.size()) {
      const std::vector<iovec> segments = segments_of(bytes.subspan(done));
      Transfer one{kind, false, file_, offset + done, segments, 0};
      if (kind == Kind::write && dice_.chance(30)) one.room = dice_.below(2 * most_);
      const int64_t result = run(storage_, rig_.doorbell, one);
      if (result == -EINTR || result == -EAGAIN) continue;
      EXPECT_GE(result, 0);
      EXPECT_LE(static_cast<size_t>(result), bytes.size() - done);
      if (result <= 0) break;
      done += static_cast<size_t>(result);
    }
    return done;
  }

  void write() {
    const uint64_t offset = dice_.below(most_);
    Bytes bytes = random_bytes(1 + dice_.below(most_ - offset), random_);
    ASSERT_EQ(transfer(Kind::write, offset, bytes), bytes.size());
    model_.resize(std::max<size_t>(model_.size(), offset + bytes.size()));
    std::copy(bytes.begin(), bytes.end(), model_.begin() + static_cast<ptrdiff_t>(offset));
  }

  void read() {
    const uint64_t offset = dice_.below(most_ + most_ / 4);
    Bytes bytes(1 + dice_.below(most_), std::byte{0xee});
    const size_t end = std::clamp<size_t>(offset + bytes.size(), offset, std::max<size_t>(model_.size(), offset));
    Bytes expected(bytes.size(), std::byte{0xee});
    if (end > offset) {
      std::copy(model_.begin() + static_cast<ptrdiff_t>(offset), model_.begin() + static_cast<ptrdiff_t>(end),
                expected.begin());
    }
    Bytes other = bytes;
    ASSERT_EQ(transfer(Kind::read, offset, bytes), end - offset);
    ASSERT_EQ(bytes, expected);
    ASSERT_EQ(files().read(file_, offset, other).value(), end - offset);
    ASSERT_EQ(other, expected);
  }

  void truncate() {
    model_.resize(dice_.below(most_));
    ASSERT_TRUE(files().truncate(file_, model_.size()).ok());
    ASSERT_EQ(files().size(file_).value(), model_.size());
  }
  void allocate() {
    const uint64_t offset = dice_.below(most_);
    const uint64_t length = dice_.below(most_ - offset);
    ASSERT_TRUE(files().allocate(file_, offset, length).ok());
    if (length > 0) model_.resize(std::max<size_t>(model_.size(), offset + length));
    ASSERT_EQ(files().size(file_).value(), model_.size());
  }
  void open_again() {
    files().close(file_);
    const OpenMode modes[] = {OpenMode::own, OpenMode::edit, OpenMode::update};
    file_ = files().open(path_, modes[dice_.below(3)], 0).value().file;
  }
  void rename() {
    const std::string to = dice_.chance(50) ? "d0/sub/other" : "d0/this";
    ASSERT_TRUE(files().rename(file_, to, true).ok());
    path_ = to;
  }
  void sync() {
    int64_t result = -EINTR;
    while (result == -EINTR) result = run(storage_, rig_.doorbell, {Kind::sync, false, file_, 0, {}, 0});
    ASSERT_EQ(result, 0);
  }
  void read_whole() { ASSERT_EQ(bytes_at(files(), path_), model_); }

  Dice dice_;
  std::mt19937_64 random_;
  StripedRig& rig_;
  Storage& storage_;
  const uint64_t most_;
  std::string path_ = "d0/this";
  FileHandle file_ = 0;
  Bytes model_;
};

TEST(Striped, RandomProgramsLeaveWhatAPlainModelHas) {
  for_seeds(40, [](uint64_t seed) {
    Dice dice(seed);
    StripedRig rig(static_cast<uint32_t>(dice.between(2, 5)), kLeastStripe * dice.between(1, 3));
    FaultStorage faulty(
        rig.disks, rig.doorbell, seed,
        {.short_percent = 30, .eintr_percent = 10, .eagain_percent = 10, .delay_reaps = 3, .reorder = true});
    const auto storage = rig.open({}, &faulty);
    {
      RandomProgram program(seed, rig, *storage);
      for (int step = 0; step < 60 && !::testing::Test::HasFailure(); ++step) program.step();
    }
  });
}

TEST(Striped, ATransferWithTooManySegmentsIsCutShort) {
  std::mt19937_64 random(test_seed());
  StripedRig rig(2);
  const auto storage = rig.open();
  const uint64_t most = uint64_t{2} * storage->capabilities().max_segments * rig.unit();
  Bytes bytes = random_bytes(most + 3 * rig.unit(), random);
  const FileHandle file = storage->files().open("d0/long", OpenMode::create, 0).value().file;
  EXPECT_EQ(run(*storage, rig.doorbell, Kind::write, file, 0, bytes), most);
  EXPECT_EQ(rig.complete(*storage, Kind::write, file, 0, bytes), bytes.size());
  EXPECT_EQ(bytes_at(storage->files(), "d0/long"), bytes);
}

TEST(Striped, AnOffsetThatNoFileHasIsRefused) {
  StripedRig rig;
  const auto storage = rig.open();
  Bytes bytes(10);
  const FileHandle file = storage->files().open("d0/far", OpenMode::create, 0).value().file;
  EXPECT_EQ(run(*storage, rig.doorbell, Kind::write, file, (uint64_t{1} << 63) - 5, bytes), -EFBIG);
  EXPECT_EQ(run(*storage, rig.doorbell, Kind::read, file, ~uint64_t{0}, bytes), -EINVAL);
  EXPECT_EQ(storage->files().truncate(file, uint64_t{1} << 63).fault().system_errno, EFBIG);
  EXPECT_EQ(storage->files().allocate(file, 5, ~uint64_t{0}).fault().system_errno, EFBIG);
}

// ---- failures of one object --------------------------------------------------------------------------------

// Three stripes of one file, each in another object; writes into one object fail.
class OneObjectFails : public ::testing::Test {
 protected:
  // Returns the result of a write of the three stripes if the object with stripe number `stripe` fails.
  int64_t result_if_fails(uint32_t stripe) {
    const auto probe = rig_.open();
    const Opened opened = probe->files().open("d0/name", OpenMode::create, 0).value();
    const uint32_t device = opened.stripes.servers[stripe];
    probe->files().close(opened.file);
    const std::string object = device == 0 ? "d0/name" : ".object" + std::to_string(device);
    FaultStorage faulty(rig_.disks, rig_.doorbell, 1,
                        {.rules = {{FaultOn::write, object, 0, FaultRule::kForever, ENOSPC}}});
    const auto storage = rig_.open({}, &faulty);
    const FileHandle file = storage->files().open("d0/name", OpenMode::edit, 0).value().file;
    Bytes bytes(3 * rig_.unit(), std::byte{7});
    const int64_t result = run(*storage, rig_.doorbell, Kind::write, file, 0, bytes);
    storage->files().close(file);
    return result;
  }

  StripedRig rig_;
};

TEST_F(OneObjectFails, TheResultIsWhatIsDoneBeforeItsBytes) {
  EXPECT_EQ(result_if_fails(0), -ENOSPC);
  EXPECT_EQ(result_if_fails(1), rig_.unit());
  EXPECT_EQ(result_if_fails(2), 2 * rig_.unit());
}

TEST(Striped, AFileThatCannotBeMadeLeavesTheOldOneAndNoObjects) {
  std::mt19937_64 random(test_seed());
  StripedRig rig;
  const Bytes old = random_bytes(30'000, random);
  {
    const auto storage = rig.open();
    storage->files().close(rig.make(*storage, "d0/name", old));
  }
  const size_t objects = rig.other_objects().size();
  for (const FaultOn on : {FaultOn::open, FaultOn::write}) {
    FaultStorage faulty(rig.disks, rig.doorbell, 1, {.rules = {{on, "object2", 0, FaultRule::kForever, ENOSPC}}});
    const auto storage = rig.open({}, &faulty);
    for (const OpenMode mode : {OpenMode::create, OpenMode::fresh}) {
      const Result<Opened> failed = storage->files().open("d0/name", mode, 0);
      ASSERT_FALSE(failed.ok());
      EXPECT_EQ(failed.status().fault().system_errno, ENOSPC) << message_of(failed);
    }
    EXPECT_FALSE(storage->files().open("d0/other", OpenMode::update, 0).ok());
  }
  EXPECT_EQ(bytes_at(rig.open()->files(), "d0/name"), old);
  EXPECT_EQ(rig.other_objects().size(), objects);
  EXPECT_EQ(rig.disks.files().list("d0").value(), std::vector<std::string>{"name"});
}

TEST(Striped, ASyncIsOneOfAllObjectsAndOnceOfTheirNames) {
  StripedRig rig;
  FaultStorage faulty(rig.disks, rig.doorbell, 1,
                      {.rules = {{FaultOn::sync, "d2", 1, 1, EIO}, {FaultOn::sync, "d2", 5, 1, EIO}}});
  const auto storage = rig.open({}, &faulty);
  const FileHandle file = storage->files().open("d0/name", OpenMode::create, 0).value().file;
  const auto sync = [&] {
    const auto synced = [](const FaultEvent& event) {
      return event.on == FaultOn::sync && event.what == FaultEvent::What::begun;
    };
    const auto before = std::count_if(faulty.log().begin(), faulty.log().end(), synced);
    const int64_t result = run(*storage, rig.doorbell, {Kind::sync, false, file, 0, {}, 0});
    const auto after = std::count_if(faulty.log().begin(), faulty.log().end(), synced);
    return std::pair(result, after - before);
  };
  using Outcome = std::pair<int64_t, ptrdiff_t>;
  EXPECT_EQ(sync(), (Outcome{-EIO, 6})) << "three objects, three directories, of which the last fails";
  EXPECT_EQ(sync(), (Outcome{0, 6})) << "so all again";
  EXPECT_EQ(sync(), (Outcome{0, 3})) << "the names are durable";
  EXPECT_EQ(sync(), (Outcome{-EIO, 3})) << "an object fails";
  storage->files().close(storage->files().open("d0/another", OpenMode::create, 0).value().file);
  EXPECT_EQ(sync(), (Outcome{0, 6})) << "there is a new name";
}

// Writes that do not end and a sync take all that the storage below can have in progress, when another file is
// opened.
TEST(Striped, OpeningBesideTransfersLosesNone) {
  for_seeds(20, [](uint64_t seed) {
    std::mt19937_64 random(seed);
    StripedRig rig(4);
    FaultStorage faulty(rig.disks, rig.doorbell, seed, {.delay_reaps = 50, .reorder = true});
    HeldWrites held(faulty);
    const auto storage = rig.open({}, &held);
    const FileHandle file = storage->files().open("d0/name", OpenMode::create, 0).value().file;
    const uint32_t depth = storage->capabilities().depth;
    ASSERT_EQ(depth * 4, rig.disks.capabilities().depth);
    const size_t length = 4 * rig.unit();
    Bytes bytes = random_bytes((depth - 1) * length, random);
    std::vector<iovec> segments;
    for (size_t at = 0; at < bytes.size(); at += length) {
      segments.push_back(segment_of(std::span(bytes).subspan(at, length)));
    }
    for (uint32_t i = 0; i < segments.size(); ++i) {
      storage->submit({Kind::write, false, file, i * length, std::span(&segments[i], 1), i});
    }
    storage->submit({Kind::sync, false, file, 0, {}, depth});
    storage->files().close(storage->files().open("d0/another", OpenMode::create, 0).value().file);
    held.release();
    for (const Completion& done : wait_for(*storage, rig.doorbell, depth)) {
      EXPECT_EQ(done.result, done.tag < depth ? static_cast<int64_t>(length) : 0);
    }
    EXPECT_EQ(bytes_at(storage->files(), "d0/name"), bytes);
    storage->files().close(file);
  });
}

// A read ends where the file did, and before its result is known the file has got longer.
TEST(Striped, AReadThatAWriteOvertookIsTriedAgain) {
  StripedRig rig;
  const auto storage = rig.open();
  const FileHandle file = storage->files().open("d0/name", OpenMode::create, 0).value().file;
  Bytes bytes(100, std::byte{7});
  Bytes back(100);
  const iovec from = segment_of(bytes);
  const iovec to = segment_of(back);
  storage->submit({Kind::read, false, file, 0, std::span(&to, 1), 0});
  storage->submit({Kind::write, false, file, 0, std::span(&from, 1), 1});
  for (const Completion& done : wait_for(*storage, rig.doorbell, 2)) {
    EXPECT_EQ(done.result, done.tag == 0 ? -EAGAIN : 100) << "0 would be the end of the file";
  }
  EXPECT_EQ(run(*storage, rig.doorbell, Kind::read, file, 0, back), 100);
  EXPECT_EQ(back, bytes);
}

// ---- crashes -----------------------------------------------------------------------------------------------

// Calls `act` on a storage that dies after 0, 1, 2, … steps, until it survives; before each, `prepare` makes the
// disks. Calls check(storage, succeeded) on what is left.
template <class Prepare, class Act, class Check>
void for_each_death(Prepare prepare, Act act, Check check) {
  bool died = true;
  for (uint64_t steps = 0; died && !::testing::Test::HasFailure(); ++steps) {
    ASSERT_LT(steps, 100u);
    SCOPED_TRACE("death after " + std::to_string(steps) + " steps");
    StripedRig rig;
    prepare(rig);
    bool succeeded = false;
    {
      const auto mortal = rig.open(steps);
      succeeded = act(*mortal);
      died = rig.last_has_died();
    }
    EXPECT_TRUE(died || succeeded);
    check(rig, *rig.open(), succeeded);
  }
}

// Removes these files, and expects that at most `most` objects are left, for which there is no file.
void expect_few_left(StripedRig& rig, Storage& storage, std::vector<std::string> paths, size_t most) {
  for (const std::string& path : paths) (void)storage.files().remove(path);
  EXPECT_LE(rig.other_objects().size(), most);
}

TEST(StripedCrash, ARenameLeavesTheOldFileOrTheNewOne) {
  std::mt19937_64 random(test_seed());
  const Bytes old = random_bytes(40'000, random);
  const Bytes young = random_bytes(25'000, random);
  for_each_death(
      [&](StripedRig& rig) {
        const auto storage = rig.open();
        storage->files().close(rig.make(*storage, "d0/name", old));
        storage->files().close(rig.make(*storage, "d0/name.part", young));
      },
      [](Storage& storage) {
        const FileHandle file = storage.files().open("d0/name.part", OpenMode::own, 0).value().file;
        return storage.files().rename(file, "d0/name", true).ok();
      },
      [&](StripedRig& rig, Storage& storage, bool succeeded) {
        const std::optional<Bytes> now = bytes_at(storage.files(), "d0/name");
        const std::optional<Bytes> part = bytes_at(storage.files(), "d0/name.part");
        ASSERT_TRUE(now.has_value());
        if (part) {
          EXPECT_FALSE(succeeded);
          EXPECT_EQ(*part, young);
          EXPECT_EQ(*now, old);
        } else {
          EXPECT_EQ(*now, young);
        }
        // Those of the old file, if the death was between the rename and their removal.
        expect_few_left(rig, storage, {"d0/name", "d0/name.part"}, part ? 0 : 2);
      });
}

TEST(StripedCrash, AFileIsMadeWholeOrNot) {
  std::mt19937_64 random(test_seed());
  const Bytes old = random_bytes(40'000, random);
  for (const OpenMode mode : {OpenMode::create, OpenMode::fresh, OpenMode::update, OpenMode::own_or_new}) {
    const bool keeps = mode == OpenMode::update || mode == OpenMode::own_or_new;
    const std::string path = keeps ? "d0/another" : "d0/name";
    for_each_death(
        [&](StripedRig& rig) {
          const auto storage = rig.open();
          storage->files().close(rig.make(*storage, "d0/name", old));
        },
        [&](Storage& storage) { return storage.files().open(path, mode, 0).ok(); },
        [&](StripedRig& rig, Storage& storage, bool succeeded) {
          const std::optional<Bytes> now = bytes_at(storage.files(), path);
          if (succeeded) {
            ASSERT_TRUE(now.has_value());
            EXPECT_TRUE(now->empty());
          } else if (keeps) {
            EXPECT_FALSE(now && !now->empty());
            EXPECT_EQ(bytes_at(storage.files(), "d0/name"), old);
          } else {
            ASSERT_TRUE(now.has_value());
            EXPECT_TRUE(now->empty() || *now == old);
          }
          expect_few_left(rig, storage, {"d0/name", "d0/another"}, 2);
        });
  }
}

TEST(StripedCrash, ARemovalLeavesTheFileOrNone) {
  std::mt19937_64 random(test_seed());
  const Bytes old = random_bytes(40'000, random);
  for_each_death(
      [&](StripedRig& rig) {
        const auto storage = rig.open();
        storage->files().close(rig.make(*storage, "d0/name", old));
      },
      [](Storage& storage) { return storage.files().remove("d0/name").ok(); },
      [&](StripedRig& rig, Storage& storage, bool succeeded) {
        const std::optional<Bytes> now = bytes_at(storage.files(), "d0/name");
        if (now) {
          EXPECT_FALSE(succeeded);
          EXPECT_EQ(*now, old);
          expect_few_left(rig, storage, {"d0/name"}, 0);
        }
      });
}

TEST(Striped, ReplacedAndRemovedFilesLeaveNoObjects) {
  StripedRig rig;
  const auto storage = rig.open();
  FileSystem& files = storage->files();
  const Bytes bytes(30'000, std::byte{1});
  for (const OpenMode mode : {OpenMode::create, OpenMode::create, OpenMode::fresh, OpenMode::update}) {
    files.close(rig.make(*storage, "d0/name", bytes, mode));
    EXPECT_EQ(rig.other_objects().size(), 2u);
  }
  const FileHandle part = rig.make(*storage, "d0/name.part", bytes, OpenMode::fresh);
  EXPECT_EQ(rig.other_objects().size(), 4u);
  EXPECT_EQ(files.rename(part, "d0/name", false).fault().system_errno, EEXIST);
  EXPECT_EQ(rig.other_objects().size(), 4u);
  ASSERT_TRUE(files.rename(part, "d0/name", true).ok());
  EXPECT_EQ(rig.other_objects().size(), 2u);
  ASSERT_TRUE(files.rename(part, "d0/name", true).ok()) << "to its own name";
  EXPECT_EQ(bytes_at(files, "d0/name"), bytes);
  EXPECT_EQ(files.list("d0").value(), std::vector<std::string>{"name"});
  ASSERT_TRUE(files.remove("d0/name").ok());
  EXPECT_TRUE(rig.other_objects().empty());
}

TEST(Striped, ObjectsStayAsLongAsTheFileHasAName) {
  TemporaryDirectory directory;
  Doorbell doorbell;
  auto made = make_back_end("striped", doorbell, {directory / "0", directory / "1"});
  ASSERT_TRUE(made.ok());
  Storage& storage = *made.value();
  Bytes bytes(20'000, std::byte{5});
  const FileHandle file = storage.files().open(directory / "0/name", OpenMode::create, 0).value().file;
  ASSERT_EQ(run(storage, doorbell, Kind::write, file, 0, bytes), bytes.size());
  ASSERT_EQ(::link((directory / "0/name").c_str(), (directory / "0/link").c_str()), 0);
  ASSERT_TRUE(storage.files().remove(directory / "0/name").ok());
  EXPECT_EQ(bytes_at(storage.files(), directory / "0/link"), bytes);
  ASSERT_TRUE(storage.files().remove(directory / "0/link").ok());
  EXPECT_TRUE(std::filesystem::is_empty(directory / "1"));
}

TEST(Striped, AFileWithoutOneOfItsObjectsIsNotPublished) {
  StripedRig rig;
  const auto storage = rig.open();
  const FileHandle part = rig.make(*storage, "d0/name.part", Bytes(30'000, std::byte{1}), OpenMode::fresh);
  ASSERT_TRUE(rig.disks.files().remove(rig.other_objects().back()).ok());
  EXPECT_EQ(storage->files().rename(part, "d0/name", true).fault().system_errno, ENOENT);
  EXPECT_EQ(rig.disks.files().list("d0").value(), std::vector<std::string>{"name.part"});
}

// ---- objects that do not belong together -------------------------------------------------------------------

// Two striped files; what a test does to the objects must be told when a file is opened.
class MixedUp : public ::testing::Test {
 protected:
  MixedUp() {
    const auto storage = rig_.open();
    storage->files().close(rig_.make(*storage, "d0/one", Bytes(50'000, std::byte{1})));
    storage->files().close(rig_.make(*storage, "d0/two", Bytes(50'000, std::byte{2})));
  }

  void move(const std::string& from, const std::string& to) {
    FileSystem& files = rig_.disks.files();
    const FileHandle file = files.open(from, OpenMode::edit, 0).value().file;
    ASSERT_TRUE(files.rename(file, to, true).ok());
    files.close(file);
  }
  void change(const std::string& path, uint64_t offset) {
    const FileHandle file = rig_.disks.files().open(path, OpenMode::edit, 0).value().file;
    Bytes byte{std::byte{0x99}};
    ASSERT_EQ(run(rig_.disks, rig_.doorbell, Kind::write, file, offset, byte), 1);
    rig_.disks.files().close(file);
  }
  // Expects that the file `path` cannot be opened, for a reason that contains `reason`.
  void expect_refused(const std::string& path, const std::string& reason, StripedRig* rig = nullptr) {
    const auto storage = (rig != nullptr ? *rig : rig_).open({}, &rig_.disks);
    for (const OpenMode mode : {OpenMode::read, OpenMode::edit, OpenMode::own, OpenMode::update}) {
      const Result<Opened> opened = storage->files().open(path, mode, 0);
      ASSERT_FALSE(opened.ok());
      EXPECT_EQ(opened.status().code(), TAILRACE_IO_ERROR);
      EXPECT_NE(opened.status().fault().system_errno, ENOENT);
      EXPECT_NE(message_of(opened).find(reason), std::string::npos) << message_of(opened);
    }
  }

  StripedRig rig_;
};

TEST_F(MixedUp, AnObjectOfAnotherFileIsRefused) {
  move("d1/1.object1", "d1/0.object1");
  expect_refused("d0/one", "'d1/0.object1' is object 1 of 3 of the file 1, expected object 1 of 3 of the file 0");
  expect_refused("d0/two", "'d0/two' is a striped file without its object 1, which was expected as 'd1/1.object1'");
}

TEST_F(MixedUp, AnotherObjectOfTheFileIsRefused) {
  move("d1/0.object1", "d2/0.object2");
  rig_.disks.files().close(rig_.make(rig_.disks, "d1/0.object1", Bytes(10)));
  expect_refused("d0/one", "'d1/0.object1' is no object of a striped file");
  move("d2/0.object2", "d1/0.object1");
  rig_.disks.files().close(rig_.make(rig_.disks, "d2/0.object2", *rig_.disks.contents("d1/0.object1")));
  expect_refused("d0/one", "'d2/0.object2' is object 1 of 3 of the file 0, expected object 2");
}

TEST_F(MixedUp, AMissingObjectIsTold) {
  ASSERT_TRUE(rig_.disks.files().remove("d2/0.object2").ok());
  expect_refused("d0/one", "without its object 2, which was expected as 'd2/0.object2'");
  const auto storage = rig_.open();
  EXPECT_EQ(storage->files().stat("d0/one").status().fault().system_errno, EIO);
  EXPECT_TRUE(storage->files().remove("d0/one").ok()) << "it can be removed all the same";
  EXPECT_EQ(bytes_at(storage->files(), "d0/two"), Bytes(50'000, std::byte{2}));
}

TEST_F(MixedUp, ADamagedHeadIsTold) {
  change("d0/one", 100);
  expect_refused("d0/one", "a checksum that does not fit");
  change("d1/1.object1", 33);
  expect_refused("d0/two", "'d1/1.object1' begins like an object of a striped file");
}

TEST_F(MixedUp, AnObjectIsNotTakenForAFile) {
  expect_refused("d1/0.object1", "'d1/0.object1' is object 1 of a striped file, expected object 0");
  EXPECT_GT(rig_.open()->files().stat("d1/0.object1").value().size, kObjectHeadBytes);
}

TEST_F(MixedUp, TooFewDirectoriesAreTold) {
  StripedRig fewer(2);
  expect_refused("d0/one", "is striped over 3 directories, expected at most 2", &fewer);
  const auto storage = fewer.open({}, &rig_.disks);
  EXPECT_EQ(storage->files().stat("d0/one").value().size, 50'000u);
  ASSERT_TRUE(storage->files().remove("d0/one").ok()) << "all of it can be removed";
  EXPECT_EQ(rig_.other_objects(), (std::vector<std::string>{"d1/1.object1", "d2/1.object2"}));
}

TEST_F(MixedUp, MoreDirectoriesAndAnotherUnitAreNoMatter) {
  StripedRig more(5, 4 * kLeastStripe);
  const auto storage = more.open({}, &rig_.disks);
  EXPECT_EQ(bytes_at(storage->files(), "d0/one"), Bytes(50'000, std::byte{1}));
}

// ---- without a configuration -------------------------------------------------------------------------------

TEST(StripedFiles, AreTreatedWithoutAConfiguration) {
  TemporaryDirectory directory;
  Doorbell doorbell;
  const std::vector<std::string> directories = {directory / "0", directory / "1", directory / "2"};
  auto made = make_back_end("striped", doorbell, directories);
  ASSERT_TRUE(made.ok());
  Bytes bytes(20'000, std::byte{5});
  const FileHandle part = made.value()->files().open(directory / "0/name.part", OpenMode::fresh, 0).value().file;
  ASSERT_EQ(run(*made.value(), doorbell, Kind::write, part, 0, bytes), bytes.size());
  made = Status(TAILRACE_INTERNAL, "ended");

  StripedFileSystem files(std::make_unique<OsFileSystem>());
  EXPECT_EQ(bytes_at(files, directory / "0/name.part"), bytes);
  const FileHandle file = files.open(directory / "0/name.part", OpenMode::own, 0).value().file;
  EXPECT_TRUE(files.sync(file).ok());
  ASSERT_TRUE(files.rename(file, directory / "0/name", false).ok());
  files.close(file);
  EXPECT_EQ(bytes_at(files, directory / "0/name"), bytes);
  files.close(files.open(directory / "0/new", OpenMode::create, 0).value().file);
  EXPECT_EQ(std::filesystem::file_size(directory / "0/new"), 0u) << "it makes plain files";
  ASSERT_TRUE(files.remove(directory / "0/name").ok());
  EXPECT_TRUE(std::filesystem::is_empty(directory / "1"));
  EXPECT_TRUE(std::filesystem::is_empty(directory / "2"));
}

// ---- heads -------------------------------------------------------------------------------------------------

TEST(ObjectHead, IsReadAsItWasWritten) {
  const ObjectHead head{1 << 20, 3, 2, 1, "0a-f", {"/a", "/b/c", ""}};
  const std::vector<std::byte> bytes = encode_object_head(head);
  ASSERT_EQ(bytes.size(), kObjectHeadBytes);
  const auto read = decode_object_head(bytes, "file");
  ASSERT_TRUE(read.ok() && read.value());
  EXPECT_TRUE(read.value()->is_same_file(head));
  EXPECT_EQ(read.value()->index, 2u);
  EXPECT_EQ(read.value()->directories, head.directories);
  EXPECT_FALSE(decode_object_head(std::span(bytes).first(4095), "file").value()) << "too short to be one";
}

// Whatever is changed, it is noticed: in the first bytes it is no head any more, elsewhere a damaged one.
TEST(ObjectHead, ChangedBytesAreNoticed) {
  const std::vector<std::byte> bytes = encode_object_head({4096, 2, 0, 1, "abc", {"/a", "/b"}});
  for_seeds(200, [&](uint64_t seed) {
    Dice dice(seed);
    std::vector<std::byte> changed = bytes;
    const size_t at = dice.below(dice.chance(50) ? 100 : changed.size());
    changed[at] ^= static_cast<std::byte>(dice.between(1, 255));
    const auto read = decode_object_head(changed, "file");
    EXPECT_TRUE(at < 8 ? read.ok() && !read.value() : !read.ok()) << at;
  });
}

// The configuration allows no more directories either.
TEST(ObjectHead, OfMoreObjectsThanAFileHasIsRefused) {
  for (const uint32_t objects : {kMostObjects, kMostObjects + 1}) {
    const std::vector<std::string> directories(kMostObjects, "/d");
    std::vector<std::byte> bytes = encode_object_head({4096, kMostObjects, 0, 0, "1", directories});
    ObjectWire wire;
    std::memcpy(&wire, bytes.data(), sizeof wire);
    wire.count = objects;
    wire.checksum = 0;
    wire.checksum = fnv1a(std::as_bytes(std::span(&wire, 1)));
    std::memcpy(bytes.data(), &wire, sizeof wire);
    const auto read = decode_object_head(bytes, "file");
    EXPECT_EQ(read.ok(), objects == kMostObjects);
    if (!read.ok()) {
      EXPECT_NE(read.status().fault().message.find("an impossible number of objects"), std::string::npos)
          << read.status().fault().message;
    }
  }
}

TEST(ObjectHead, HasRoomForSoManyNamesOnly) {
  std::vector<std::string> directories(2, std::string(2003, 'd'));
  EXPECT_TRUE(check_object_directories(directories).ok());
  (void)encode_object_head({4096, 2, 0, 0, "1", directories});
  directories[0] += "d";
  const Status status = check_object_directories(directories);
  EXPECT_EQ(status.code(), TAILRACE_INVALID_CONFIG);
  EXPECT_NE(status.fault().message.find("4009 bytes, expected at most 4008"), std::string::npos);
}

}  // namespace
}  // namespace tailrace::impl
