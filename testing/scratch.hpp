// ScratchDirectory: a new directory for one test, removed with its contents. TEST_TMPDIR says where.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/assert.hpp"

namespace tailrace::impl {

class ScratchDirectory {
 public:
  ScratchDirectory() {
    path_ = ::testing::TempDir() + "tailrace_XXXXXX";
    TAILRACE_REQUIRE(mkdtemp(path_.data()) != nullptr);
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Returns the bytes of a file, or nothing if it cannot be opened.
inline std::optional<std::vector<std::byte>> bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  const std::vector<char> chars{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<std::byte> bytes(chars.size());
  std::transform(chars.begin(), chars.end(), bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

}  // namespace tailrace::impl
