#include "testing/simulation/sim_disk.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "base/assert.hpp"

namespace tailrace::impl::simulation {
namespace {

// Returns the bytes of a sector, with zeros beyond the end of the file.
std::vector<std::byte> sector_of(const std::vector<std::byte>& bytes, uint64_t sector) {
  std::vector<std::byte> found(kSector);
  const uint64_t begin = sector * kSector;
  if (begin < bytes.size()) {
    std::memcpy(found.data(), bytes.data() + begin, std::min<uint64_t>(kSector, bytes.size() - begin));
  }
  return found;
}

// Puts the bytes of a sector that lie below `end` into the file.
void put_sector(std::vector<std::byte>& bytes, uint64_t sector, const std::vector<std::byte>& content,
                uint64_t end = UINT64_MAX) {
  const uint64_t begin = sector * kSector;
  end = std::min<uint64_t>(end, bytes.size());
  if (begin >= end) return;
  std::memcpy(bytes.data() + begin, content.data(), std::min<uint64_t>(kSector, end - begin));
}

// Returns the least size that the file had from write `number` on, if it was truncated after that; else UINT64_MAX.
uint64_t cut_after(const Inode& inode, uint64_t number) {
  uint64_t least = UINT64_MAX;
  for (auto cut = inode.cuts.upper_bound(number); cut != inode.cuts.end(); ++cut)
    least = std::min(least, cut->second);
  return least;
}

}  // namespace

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

InodePointer SimDisk::find(const std::string& path) const {
  const auto found = names_.find(path);
  return found == names_.end() ? nullptr : found->second;
}

InodePointer SimDisk::create(const std::string& path) {
  auto inode = std::make_shared<Inode>();
  change({++number_, directory_of(path), "", path, inode});
  return inode;
}

bool SimDisk::rename(const std::string& from, const std::string& to) {
  const InodePointer inode = find(from);
  if (inode == nullptr) return false;
  TAILRACE_REQUIRE(directory_of(from) == directory_of(to));
  change({++number_, directory_of(from), from, to, inode});
  return true;
}

bool SimDisk::remove(const std::string& path) {
  if (find(path) == nullptr) return false;
  change({++number_, directory_of(path), path, "", nullptr});
  return true;
}

void SimDisk::change(NameChange change) {
  apply(change, names_);
  changes_.push_back(std::move(change));
}

void SimDisk::apply(const NameChange& change, std::map<std::string, InodePointer>& names) {
  if (!change.removed.empty()) names.erase(change.removed);
  if (!change.added.empty()) names[change.added] = change.inode;
}

void SimDisk::write(const InodePointer& inode, uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  extend(inode, offset + bytes.size());
  std::memcpy(inode->bytes.data() + offset, bytes.data(), bytes.size());
  ++number_;
  for (uint64_t sector = offset / kSector; sector * kSector < offset + bytes.size(); ++sector) {
    inode->dirty[sector] = number_;
  }
}

void SimDisk::extend(const InodePointer& inode, uint64_t size) {
  if (size > inode->bytes.size()) inode->bytes.resize(size);
}

void SimDisk::resize(const InodePointer& inode, uint64_t size) {
  if (size < inode->bytes.size()) inode->cuts[++number_] = size;
  inode->bytes.resize(size);
  if (inode->durable.size() > size) inode->durable.resize(size);
  inode->dirty.erase(inode->dirty.lower_bound((size + kSector - 1) / kSector), inode->dirty.end());
}

SyncPoint SimDisk::begin_sync(const InodePointer& inode, const std::string& directory) {
  SyncPoint point{inode, directory, number_, 0, {}};
  if (inode == nullptr) return point;
  point.size = inode->bytes.size();
  for (const auto& [sector, number] : inode->dirty)
    point.sectors.push_back({sector, sector_of(inode->bytes, sector)});
  return point;
}

void SimDisk::end_sync(const SyncPoint& point) {
  if (point.inode != nullptr) {
    Inode& inode = *point.inode;
    const uint64_t end = std::min(point.size, cut_after(inode, point.number));
    if (end > inode.durable.size()) inode.durable.resize(end);
    for (const auto& [sector, content] : point.sectors) {
      put_sector(inode.durable, sector, content, end);
      const auto dirty = inode.dirty.find(sector);
      if (dirty != inode.dirty.end() && dirty->second <= point.number) inode.dirty.erase(dirty);
    }
    return;
  }
  for (const NameChange& change : changes_) {
    if (change.directory == point.directory && change.number <= point.number) apply(change, durable_names_);
  }
  std::erase_if(changes_, [&](const NameChange& change) {
    return change.directory == point.directory && change.number <= point.number;
  });
}

uint64_t SimDisk::used() const {
  uint64_t bytes = 0;
  for (const auto& [name, inode] : names_) bytes += inode->bytes.size();
  return bytes;
}

// Loses names that were not synced. In half of all crashes the first ones survive, as with a journal; otherwise any
// may.
void SimDisk::crash() {
  const bool journal = dice_.chance(50);
  const uint64_t kept = dice_.below(changes_.size() + 1);
  for (size_t i = 0; i < changes_.size(); ++i) {
    if (journal ? i < kept : dice_.chance(50)) apply(changes_[i], durable_names_);
  }
  changes_.clear();
  names_ = durable_names_;
  std::set<Inode*> seen;
  for (const auto& [name, inode] : names_) {
    if (seen.insert(inode.get()).second) crash_file(*inode);
  }
}

// Decides for each dirty sector whether it has reached the device; one of them may be torn.
void SimDisk::crash_file(Inode& inode) {
  const uint64_t chance = dice_.one_of<uint64_t>({0, 20, 50, 80, 100});
  uint64_t size = dice_.chance(50) ? inode.bytes.size() : inode.durable.size();
  std::vector<std::pair<uint64_t, std::vector<std::byte>>> survivors;
  bool torn = false;
  for (const auto& [sector, number] : inode.dirty) {
    if (!dice_.chance(chance)) continue;
    std::vector<std::byte> content = sector_of(inode.bytes, sector);
    if (!torn && dice_.chance(5) && !(keeps_heads_ && sector == 0)) {
      torn = true;
      const std::vector<std::byte> before = sector_of(inode.durable, sector);
      const uint64_t at = dice_.below(kSector);
      std::copy(before.begin() + static_cast<ptrdiff_t>(at), before.end(),
                content.begin() + static_cast<ptrdiff_t>(at));
    }
    size = std::max(size, std::min<uint64_t>((sector + 1) * kSector, inode.bytes.size()));
    survivors.push_back({sector, std::move(content)});
  }
  if (size > inode.durable.size()) inode.durable.resize(size);
  for (const auto& [sector, content] : survivors) put_sector(inode.durable, sector, content);
  inode.bytes = inode.durable;
  inode.dirty.clear();
}

void SimDisk::sync_all() {
  for (const auto& [name, inode] : names_) {
    inode->durable = inode->bytes;
    inode->dirty.clear();
  }
  changes_.clear();
  durable_names_ = names_;
}

std::vector<std::string> SimDisk::names() const {
  std::vector<std::string> names;
  for (const auto& [name, inode] : names_) names.push_back(name);
  return names;
}

void SimDisk::put(const std::string& path, std::vector<std::byte> bytes) { create(path)->bytes = std::move(bytes); }

void SimDisk::clear() {
  names_.clear();
  durable_names_.clear();
  changes_.clear();
}

}  // namespace tailrace::impl::simulation
