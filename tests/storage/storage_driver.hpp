// The rig of the storage tests: a directory, seeds, aligned memory, and transfers waited for on the doorbell.
//
// It never sleeps for a fixed time: a test waits until the back end rings.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/sync/doorbell.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

// A new directory, removed with its contents. TEST_TMPDIR says where.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = ::testing::TempDir() + "tailrace_storage_XXXXXX";
    TAILRACE_REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Returns the seed of a random test: TAILRACE_SEED, or a new one. Prints it, so that a failure can be repeated.
inline uint64_t test_seed() {
  const char* given = std::getenv("TAILRACE_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << "TAILRACE_SEED=" << seed << std::endl;
  return seed;
}

// Memory aligned to `alignment`.
class AlignedMemory {
 public:
  AlignedMemory(size_t size, size_t alignment)
      : bytes_(static_cast<std::byte*>(std::aligned_alloc(alignment, size)), std::free), size_(size) {
    TAILRACE_REQUIRE(bytes_ != nullptr);
    std::fill_n(bytes_.get(), size, std::byte{0});
  }
  std::span<std::byte> span() { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<std::byte, void (*)(void*)> bytes_;
  size_t size_;
};

inline void fill(std::span<std::byte> bytes, std::mt19937_64& random) {
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
}

inline iovec segment_of(std::span<std::byte> bytes) { return {bytes.data(), bytes.size()}; }

// Waits for `count` completions, as the engine does.
inline std::vector<Completion> wait_for(Storage& storage, Doorbell& doorbell, size_t count) {
  std::vector<Completion> all;
  while (all.size() < count) {
    std::array<Completion, 7> some;
    doorbell.prepare();
    const size_t got = storage.reap(std::span(some).first(std::min(some.size(), count - all.size())));
    if (got == 0) {
      doorbell.sleep();
      continue;
    }
    doorbell.cancel();
    all.insert(all.end(), some.begin(), some.begin() + got);
  }
  return all;
}

// Carries out one transfer, and returns its result.
inline int64_t run(Storage& storage, Doorbell& doorbell, Transfer transfer) {
  transfer.tag = 4711;
  storage.submit(transfer);
  const Completion done = wait_for(storage, doorbell, 1).front();
  EXPECT_EQ(done.tag, transfer.tag);
  return done.result;
}

inline int64_t run(Storage& storage, Doorbell& doorbell, Transfer::Kind kind, FileHandle file, uint64_t offset,
                   std::span<std::byte> bytes, bool direct = false) {
  const iovec segment = segment_of(bytes);
  return run(storage, doorbell, {kind, direct, file, offset, std::span(&segment, 1), 0});
}

// Carries out an operation on a whole file, and returns how it ended.
inline Status run(Storage& storage, Doorbell& doorbell, FileOperation operation) {
  operation.tag = 4712;
  storage.submit(std::move(operation));
  for (;;) {
    doorbell.prepare();
    if (const auto end = storage.reap_operation()) {
      doorbell.cancel();
      EXPECT_EQ(end->tag, 4712u);
      return end->status;
    }
    doorbell.sleep();
  }
}

}  // namespace tailrace::impl
