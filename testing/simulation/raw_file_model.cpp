#include "testing/simulation/raw_file_model.hpp"

#include <fmt/format.h>

#include <cstring>
#include <set>
#include <utility>

namespace tailrace::impl::simulation {
namespace {

bool covers(const std::vector<Extent>& extents, const Extent& part) {
  return std::any_of(extents.begin(), extents.end(), [&](const Extent& of) { return of.overlaps(part); });
}

bool lies_within(const Extent& inner, const Extent& outer) {
  return inner.offset >= outer.offset && inner.end() <= outer.end();
}

// Returns true if `later` certainly came after `earlier` had ended. A file is only emptied when no client has it
// open, and a client that writes has it open. Of two calls that empty it, the one that began first may have waited
// for the other.
bool is_after(const RawWrite& later, const RawWrite& earlier) {
  if (&later == &earlier) return false;
  if (later.client == earlier.client) return later.begun > earlier.begun;
  return earlier.ended < later.begun || (later.alone && !earlier.empties && earlier.begun < later.begun);
}

// A write that goes as one request is lost as a whole. Others are lost in parts, each of which may look like another
// write.
bool may_be_part_of(const RawWrite& write, const Extent& request) {
  return lies_within(request, write.hull()) && (!write.whole || lies_within(write.hull(), request));
}

bool is_seen_by(const RawWrite& write, const RawReader& reader) {
  if (!write.certain || (reader.after_power_cut && !write.durable)) return false;
  return reader.client == RawReader::kAll || write.client == reader.client || write.ended < reader.begun;
}

uint64_t word_at(const std::byte* bytes, uint64_t count) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, count);
  return word;
}

}  // namespace

Extent RawWrite::hull() const {
  if (extents.empty()) return {};
  uint64_t begin = kNever;
  uint64_t end = 0;
  for (const Extent& extent : extents) {
    begin = std::min(begin, extent.offset);
    end = std::max(end, extent.end());
  }
  return {begin, end - begin};
}

void RawFileModel::begin(bool exists, std::vector<std::byte> bytes) {
  writes.clear();
  may_be_made = made = named = false;
  users = openings = 0;
  existed_ = exists;
  before_ = std::move(bytes);
}

bool RawFileModel::lose(int client, const std::optional<Extent>& request) {
  bool found = false;
  for (RawWrite& write : writes) {
    if (write.client != client || write.empties || write.ended != RawWrite::kNever) continue;
    if (request && !may_be_part_of(write, *request)) continue;
    write.lost.push_back(request.value_or(write.hull()));
    found = true;
  }
  return found;
}

std::string RawFileModel::difference(const RawReader& reader, const Extent& extent, const std::byte* found) const {
  Winners winners;
  for (const Extent& of : cut(extent)) {
    const Part part = part_of(reader, of);
    const std::byte* const bytes = found + (of.offset - extent.offset);
    std::string what = difference_in(part, bytes);
    // A read may go as several requests, and others may write between them.
    if (what.empty() && reader.client == RawReader::kAll) what = mixture_in(part, bytes, winners);
    if (!what.empty()) return what;
  }
  return "";
}

// Cuts the extent at the ends of all writes that touch it.
std::vector<Extent> RawFileModel::cut(const Extent& extent) const {
  std::set<uint64_t> ends = {extent.offset, extent.end()};
  const auto add = [&](const Extent& of) {
    for (const uint64_t end : {of.offset, of.end()}) {
      if (end > extent.offset && end < extent.end()) ends.insert(end);
    }
  };
  for (const RawWrite& write : writes) {
    std::for_each(write.extents.begin(), write.extents.end(), add);
    std::for_each(write.lost.begin(), write.lost.end(), add);
  }
  std::vector<Extent> parts;
  for (auto end = std::next(ends.begin()); end != ends.end(); ++end) {
    parts.push_back({*std::prev(end), *end - *std::prev(end)});
  }
  return parts;
}

RawFileModel::Part RawFileModel::part_of(const RawReader& reader, const Extent& extent) const {
  Part part{extent, {}, reader.after_power_cut || reader.may_be_torn};
  std::vector<const RawWrite*> touching;
  std::vector<const RawWrite*> seen;
  for (const RawWrite& write : writes) {
    if (!write.empties && !covers(write.extents, extent)) continue;
    touching.push_back(&write);
    const bool may_be_lost = !write.certain || covers(write.lost, extent);
    part.may_be_torn = part.may_be_torn || may_be_lost;
    if (!may_be_lost && is_seen_by(write, reader)) seen.push_back(&write);
  }
  if (seen.empty()) part.last.push_back(nullptr);
  for (const RawWrite* write : touching) {
    const bool is_over = std::any_of(seen.begin(), seen.end(), [&](const auto* by) { return is_after(*by, *write); });
    if (!is_over) part.last.push_back(write);
  }
  return part;
}

// An aligned word comes from one write; if a write may have been torn, only a byte does.
std::string RawFileModel::difference_in(const Part& part, const std::byte* found) const {
  for (uint64_t at = part.extent.offset; at < part.extent.end();) {
    const uint64_t word_begin = at / 8 * 8;
    const uint64_t count = part.may_be_torn ? 1 : std::min(word_begin + 8, part.extent.end()) - at;
    const uint64_t is = word_at(found + (at - part.extent.offset), count);
    const bool may_be = std::any_of(part.last.begin(), part.last.end(), [&](const RawWrite* write) {
      const uint64_t word = write == nullptr ? word_before(word_begin) : word_of(write->content, word_begin);
      const uint64_t expected = word >> (at - word_begin) * 8;
      return std::memcmp(&expected, &is, count) == 0;
    });
    if (!may_be) return fmt::format("byte {} is of none of the {} that may be there", at, part.last.size());
    at += count;
  }
  return "";
}

// Compares a part that only two writes can be the last in: if both go as one request, the same one is last
// everywhere.
std::string RawFileModel::mixture_in(const Part& part, const std::byte* found, Winners& winners) {
  if (part.last.size() != 2 || part.may_be_torn) return "";
  const std::pair two(part.last[0], part.last[1]);
  if (two.first == nullptr || !two.first->whole || !two.second->whole) return "";
  const auto is_of = [&](const RawWrite& write) {
    for (uint64_t i = 0; i < part.extent.length; ++i) {
      if (found[i] != byte_of(write.content, part.extent.offset + i)) return false;
    }
    return true;
  };
  const bool of_first = is_of(*two.first);
  const bool of_second = is_of(*two.second);
  if (of_first && of_second) return "";  // a coincidence, which short parts allow
  const RawWrite* const last = of_first ? two.first : two.second;
  const bool same = winners.emplace(two, last).first->second == last;
  if (same && (of_first || of_second)) return "";
  return fmt::format("bytes from {} on are a mixture of two writes, of clients {} and {}", part.extent.offset,
                     two.first->client, two.second->client);
}

// Returns the word that was there when the phase began.
uint64_t RawFileModel::word_before(uint64_t from) const {
  if (from >= before_.size()) return 0;
  return word_at(before_.data() + from, std::min<uint64_t>(8, before_.size() - from));
}

uint64_t RawFileModel::least_size(const RawReader& reader) const {
  const auto may_be_emptied = [&](const RawWrite* write) {
    return std::any_of(writes.begin(), writes.end(),
                       [&](const RawWrite& by) { return by.empties && (write == nullptr || !is_after(*write, by)); });
  };
  uint64_t size = may_be_emptied(nullptr) ? 0 : before_.size();
  for (const RawWrite& write : writes) {
    if (write.empties || !write.lost.empty() || !is_seen_by(write, reader) || may_be_emptied(&write)) continue;
    size = std::max(size, write.hull().end());
  }
  return size;
}

uint64_t RawFileModel::most_size(const RawReader& reader) const {
  const auto was_emptied = [&](const RawWrite* write) {
    return std::any_of(writes.begin(), writes.end(), [&](const RawWrite& by) {
      return by.empties && is_seen_by(by, reader) && (write == nullptr || is_after(by, *write));
    });
  };
  uint64_t size = was_emptied(nullptr) ? 0 : before_.size();
  for (const RawWrite& write : writes) {
    if (!write.empties && !was_emptied(&write)) size = std::max(size, write.hull().end());
  }
  return size;
}

}  // namespace tailrace::impl::simulation
