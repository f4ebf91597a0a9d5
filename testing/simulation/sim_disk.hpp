// SimDisk: files in memory, in two states: what the system holds (the page cache), and what a power cut would leave.
//
// It knows names, bytes and sectors; SimStorage has delays, faults and processes. A sync makes durable what had been
// written when it began. crash() keeps that. Of unsynced sectors and names it keeps some, as the seed decides.
// Directories are flat and always exist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/request.hpp"
#include "testing/simulation/split_dice.hpp"

namespace tailrace::impl::simulation {

inline constexpr uint64_t kSector = 512;
// Bytes that the system moves at once: an aligned word in its page cache comes from one write.
inline constexpr uint64_t kWord = 8;

// A file, independent of its name.
struct Inode {
  std::vector<std::byte> bytes;                    // as readers see it
  std::vector<std::byte> durable;                  // as the device has it
  std::map<uint64_t, uint64_t> dirty;              // sectors that may differ → the number of their last write
  std::map<uint64_t, uint64_t> cuts;               // the number of a truncation → the size that it left
  std::vector<std::pair<Extent, bool>> under_way;  // transfers that have begun and not ended; true: a write
};

using InodePointer = std::shared_ptr<Inode>;

// The state that a sync under way will make durable.
struct SyncPoint {
  InodePointer inode;     // for a file …
  std::string directory;  // … or for a directory
  uint64_t number = 0;    // it includes writes and name changes up to this number
  uint64_t size = 0;
  std::vector<std::pair<uint64_t, std::vector<std::byte>>> sectors;  // their bytes at that time
};

class SimDisk {
 public:
  explicit SimDisk(uint64_t seed) : dice_(seed, "disk") {}

  // ---- as a file system ----
  InodePointer find(const std::string& path) const;
  InodePointer create(const std::string& path);  // makes an empty file, and replaces an existing one
  bool rename(const std::string& from, const std::string& to);
  bool remove(const std::string& path);
  void write(const InodePointer& inode, uint64_t offset, std::span<const std::byte> bytes);
  void extend(const InodePointer& inode, uint64_t size);
  // Sets the file's size. Bytes that are cut off are lost on the device, too.
  void resize(const InodePointer& inode, uint64_t size);
  SyncPoint begin_sync(const InodePointer& inode, const std::string& directory);
  void end_sync(const SyncPoint& point);
  uint64_t used() const;  // bytes of all files that have a name
  // Locks held by living processes, by path.
  std::set<std::string>& locked() { return locked_; }

  // ---- from outside ----

  // Cuts the power: what the system held is lost, except what the seed says had reached the device.
  void crash();
  // Never tears the first sector of a file in a power cut, as devices that write sectors whole.
  void keep_heads() { keeps_heads_ = true; }
  // Makes everything durable.
  void sync_all();
  // Returns the names of all files, sorted.
  std::vector<std::string> names() const;
  void put(const std::string& path, std::vector<std::byte> bytes);
  void clear();

 private:
  // A change of a directory that was not synced.
  struct NameChange {
    uint64_t number;
    std::string directory;
    std::string removed;  // "" or the name that was removed
    std::string added;    // "" or the name that was added
    InodePointer inode;   // the file under the added name
  };

  void change(NameChange change);
  static void apply(const NameChange& change, std::map<std::string, InodePointer>& names);
  void crash_file(Inode& inode);

  SplitDice dice_;
  bool keeps_heads_ = false;
  uint64_t number_ = 0;  // of the last write or change of names
  std::map<std::string, InodePointer> names_;
  std::map<std::string, InodePointer> durable_names_;
  std::vector<NameChange> changes_;
  std::set<std::string> locked_;
};

// Returns "d0" for "d0/file".
std::string directory_of(const std::string& path);

}  // namespace tailrace::impl::simulation
