#include "engine/merge/gather.hpp"

#include <algorithm>

namespace tailrace::impl {
namespace {

uint64_t bytes_of(const Request& request) {
  uint64_t bytes = 0;
  for (const Piece& piece : request.pieces) bytes += piece.extent.length;
  return bytes;
}

}  // namespace

bool Gather::put(const Request* request, Nanoseconds now) {
  const uint64_t bytes = bytes_of(*request);
  const bool small = request->operation == Operation::write && bytes / request->pieces.size() < options_.small;
  if (!options_.on || !small) return false;
  File& file = files_[request->file];
  if (file.held.empty()) {
    waiting_.push_back(request->file);
    file.since = now;
  }
  file.held.push_back(request);
  file.bytes += bytes;
  file.pieces += request->pieces.size();
  return true;
}

void Gather::take(Nanoseconds now, std::vector<const Request*>& leaving) {
  std::erase_if(waiting_, [&](FileId id) {
    File& file = files_[id];
    if (hurry_ || !held_back(file, now)) let_go(file, leaving);
    return file.held.empty();
  });
  hurry_ = false;
}

void Gather::let_go(File& file, std::vector<const Request*>& leaving) const {
  // By count: `count` requests at a time, even if more have come meanwhile.
  const size_t count = options_.by_count ? std::min<size_t>(file.held.size(), options_.count) : file.held.size();
  if (count > 1) file.learnt->pays = false;  // began() corrects this if some are joined
  const auto end = file.held.begin() + static_cast<ptrdiff_t>(count);
  for (auto it = file.held.begin(); it != end; ++it) {
    file.bytes -= bytes_of(**it);
    file.pieces -= (*it)->pieces.size();
  }
  leaving.insert(leaving.end(), file.held.begin(), end);
  file.held.erase(file.held.begin(), end);
}

bool Gather::held_back(const File& file, Nanoseconds now) const {
  if (file.impatient > 0 || file.held.size() >= options_.count) return false;
  if (options_.by_count) return true;
  if (!file.learnt->pays || file.bytes >= options_.bytes) return false;
  return is_delayed(file) ? now - file.since < options_.delay : file.under_way > 0;
}

bool Gather::is_delayed(const File& file) const {
  return options_.delay > Nanoseconds::zero() && file.bytes < options_.very_small * file.pieces;
}

std::optional<Nanoseconds> Gather::due() const {
  if (options_.delay == Nanoseconds::zero() || options_.by_count) return std::nullopt;
  std::optional<Nanoseconds> least;
  for (const FileId id : waiting_) {
    const File& file = files_.at(id);
    if (!is_delayed(file)) continue;  // such a file waits for the end of an access
    const Nanoseconds due = file.since + options_.delay;
    least = std::min(least.value_or(due), due);
  }
  return least;
}

void Gather::began(FileId id, bool joined) {
  File& file = files_[id];
  ++file.under_way;
  if (joined) file.learnt->pays = true;
}

void Gather::ended(FileId id) {
  File& file = files_[id];
  TAILRACE_ASSERT(file.under_way > 0);
  --file.under_way;
}

}  // namespace tailrace::impl
