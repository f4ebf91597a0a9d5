// SharedFiles when the file system is slow: openings and removals under way, and what others do meanwhile.
#include "server/raw_files/shared_files.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "engine/schedule/fifo.hpp"
#include "testing/plain_storage.hpp"
#include "testing/scratch.hpp"
#include "testing/sim_clock.hpp"

namespace tailrace::impl {
namespace {

using Mode = SharedFiles::Mode;

class SlowSharedFiles : public ::testing::Test {
 protected:
  // The end of an opening or a removal; none: it is under way.
  struct End {
    std::optional<Status> status;
    SharedFile* file = nullptr;
  };

  SharedFiles::Place place(const std::string& name) const {
    const std::string path = scratch_ / name;
    return {path, path.substr(0, path.rfind('/'))};
  }
  SharedFiles::Then into(End& end) {
    return [&end](const Result<SharedFile*>& file) {
      end.status = file.status();
      if (file.ok()) end.file = file.value();
    };
  }
  void open(const std::string& name, Mode mode, End& end) { files_.open(place(name), mode, into(end)); }
  void remove(const std::string& name, End& end) {
    files_.remove(place(name), [&end](const Status& status) { end.status = status; });
  }
  void make(const std::string& name, const std::string& text) { std::ofstream(scratch_ / name) << text; }
  void run() {
    storage_.release_operations();
    while (!engine_.idle() || files_.progress()) engine_.progress();
  }
  // Carries out what operations that are held do not hold up.
  void advance() {
    while (files_.progress()) engine_.progress();
    engine_.progress();
  }

  const ScratchDirectory scratch_;
  Doorbell doorbell_;
  SimClock clock_;
  PlainStorage storage_{doorbell_};
  Fifo fifo_;
  Engine engine_{storage_, fifo_, clock_, {}};
  SharedFiles files_{engine_};
};

TEST_F(SlowSharedFiles, AFileThatIsOpenedWhileItsNameIsRemovedIsANewOne) {
  make("f", "old");
  End removed;
  End opened;
  storage_.operations_held = true;
  remove("f", removed);
  open("f", Mode::write, opened);
  run();
  EXPECT_TRUE(removed.status->ok());
  ASSERT_TRUE(opened.status->ok());
  EXPECT_EQ(std::filesystem::file_size(scratch_ / "f"), 0u);
}

TEST_F(SlowSharedFiles, AFileThatIsBeingOpenedIsNotRemoved) {
  make("f", "old");
  End removed;
  End opened;
  storage_.operations_held = true;
  open("f", Mode::read, opened);
  remove("f", removed);
  run();
  EXPECT_TRUE(opened.status->ok());
  EXPECT_EQ(removed.status->code(), TAILRACE_WRONG_ORDER);
  EXPECT_TRUE(std::filesystem::exists(scratch_ / "f"));
}

TEST_F(SlowSharedFiles, OnlyTheFirstOfTwoEmptiesAFile) {
  make("f", "old");
  End first;
  End second;
  storage_.operations_held = true;
  open("f", Mode::truncate, first);
  open("f", Mode::truncate, second);
  run();
  EXPECT_TRUE(first.status->ok());
  EXPECT_EQ(second.status->code(), TAILRACE_WRONG_ORDER);
  EXPECT_EQ(std::filesystem::file_size(scratch_ / "f"), 0u);
}

// Another name of the file takes its own turns: while it is open, it cannot be emptied.
TEST_F(SlowSharedFiles, AFileIsNotEmptiedByItsOtherNameWhileItIsOpen) {
  make("f", "old");
  std::filesystem::create_hard_link(scratch_ / "f", scratch_ / "g");
  End first;
  End second;
  storage_.operations_held = true;
  open("f", Mode::write, first);
  open("g", Mode::truncate, second);
  run();
  EXPECT_TRUE(first.status->ok());
  EXPECT_EQ(second.status->code(), TAILRACE_WRONG_ORDER);
  EXPECT_EQ(std::filesystem::file_size(scratch_ / "f"), 3u);
}

TEST_F(SlowSharedFiles, AFileIsPublishedIfAnOpeningBeforeFails) {
  End read;
  End published;
  storage_.operations_held = true;
  open("f", Mode::read, read);
  files_.open_to_publish(place("f"), OpenMode::update, into(published));
  run();
  EXPECT_EQ(read.status->fault().system_errno, ENOENT);
  EXPECT_TRUE(published.status->ok());
}

TEST_F(SlowSharedFiles, AnyNumberMayFailWhenTheirTurnComes) {
  End published;
  storage_.operations_held = true;
  files_.open_to_publish(place("f"), OpenMode::update, into(published));
  size_t refused = 0;
  for (int i = 0; i < 50'000; ++i) {
    files_.open(place("f"), Mode::read, [&refused](const Result<SharedFile*>& file) {
      refused += file.status().code() == TAILRACE_WRONG_ORDER ? 1 : 0;
    });
  }
  run();
  EXPECT_TRUE(published.status->ok());
  EXPECT_EQ(refused, 50'000u);
}

// At the close of any descriptor of a file, its process loses its POSIX locks on the file: a close that came later
// would take the program's next locks.
TEST_F(SlowSharedFiles, AUseHasEndedWhenTheFileIsClosed) {
  End opened;
  open("f", Mode::write, opened);
  run();
  ASSERT_TRUE(opened.status->ok());
  bool released = false;
  storage_.operations_held = true;
  files_.release(*opened.file, [&released] { released = true; });
  advance();
  EXPECT_EQ(storage_.operations(), 2u) << "one descriptor for writes, one for syncs";
  EXPECT_FALSE(released);
  run();
  EXPECT_TRUE(released);
}

TEST_F(SlowSharedFiles, AnOpeningHasEndedWhenWhatItDoesNotNeedIsClosed) {
  make("f", "old");
  End first;
  open("f", Mode::write, first);
  run();
  for (const Mode mode : {Mode::write, Mode::truncate}) {
    End second;
    open("f", mode, second);
    for (int step = 0; step < 10 && !second.status; ++step) {
      storage_.release_operations();
      storage_.operations_held = true;
      advance();
    }
    ASSERT_TRUE(second.status.has_value());
    EXPECT_EQ(second.status->ok(), mode == Mode::write);
    advance();
    EXPECT_EQ(storage_.operations(), 0u);
    run();
  }
}

// A file to be published may have the name of another one's unfinished data.
TEST_F(SlowSharedFiles, AFileNamedPartialIsPublishedByItsOwnTurn) {
  for (int times = 0; times < 2; ++times) {
    End opened;
    files_.open_to_publish(place("f.partial"), OpenMode::update, into(opened));
    run();
    ASSERT_TRUE(opened.status->ok());
    files_.release(*opened.file, [] {});
    run();
  }
  EXPECT_FALSE(files_.is_busy());
}

TEST_F(SlowSharedFiles, OnlyRegularFilesAreRemoved) {
  std::filesystem::create_symlink("elsewhere", scratch_ / "link");
  std::filesystem::create_directory(scratch_ / "directory");
  for (const char* const name : {"link", "directory"}) {
    SCOPED_TRACE(name);
    End removed;
    remove(name, removed);
    run();
    EXPECT_EQ(removed.status->code(), TAILRACE_INVALID_ARGUMENT);
    EXPECT_TRUE(std::filesystem::is_symlink(scratch_ / name) || std::filesystem::exists(scratch_ / name));
  }
}

}  // namespace
}  // namespace tailrace::impl
