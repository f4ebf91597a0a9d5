// OwnFiles: which of the raw files that a client has open are one and the same file, whatever their paths. Runs on
// the client's thread.
#pragma once

#include <cstdint>
#include <map>

#include "base/assert.hpp"
#include "model/file_identity.hpp"

namespace tailrace::impl {

class OwnFiles {
 public:
  // Stands for all files whose identity is not known.
  static constexpr uint32_t kUnknown = 0;

  // Notes an opening. Returns the key of its file, which no other file gets.
  uint32_t opened(FileIdentity identity) {
    if (!identity.is_known()) return kUnknown;
    uint32_t& key = keys_[identity];
    if (key == kUnknown) {
      key = ++last_;
      files_[key].identity = identity;
    }
    ++files_[key].openings;
    return key;
  }
  // Notes that an opening's close has ended. Returns true if it was the file's last one.
  bool closed(uint32_t key) {
    if (key == kUnknown) return false;
    const auto found = files_.find(key);
    TAILRACE_REQUIRE(found != files_.end());
    if (--found->second.openings > 0) return false;
    keys_.erase(found->second.identity);
    files_.erase(found);
    return true;
  }

  // Returns true if the file has been read since it was opened.
  bool is_read(uint32_t key) const { return key != kUnknown && files_.at(key).is_read; }
  void set_read(uint32_t key) { files_.at(key).is_read = true; }

 private:
  struct File {
    FileIdentity identity;
    uint32_t openings = 0;
    bool is_read = false;
  };

  std::map<FileIdentity, uint32_t> keys_;
  std::map<uint32_t, File> files_;  // by key
  uint32_t last_ = kUnknown;
};

}  // namespace tailrace::impl
