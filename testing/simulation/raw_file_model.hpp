// RawFileModel: the plain model of one raw file: what its clients have written, and so which bytes may be in it.
//
// Of writes it knows which came after which: of one client as they were made, of several where one was known to have
// ended when the other began. Of each byte that leaves a few writes that may have been the last. Moments are counted,
// not measured. Plain data; RawFileProgram writes it, and asks it what a read may find.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/request.hpp"
#include "testing/simulation/contents.hpp"

namespace tailrace::impl::simulation {

// A list of extents that was written; or an opening or a truncate that emptied the file, which is a write of zeros
// everywhere.
struct RawWrite {
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

  int client = 0;
  uint32_t handle = 0;  // the client's number of the file
  Content content = 0;
  std::vector<Extent> extents;
  bool empties = false;
  bool alone = false;        // empties: by an opening, which nobody else had the file open for
  bool whole = false;        // goes as one request, so that others' lie before or after it
  uint64_t begun = 0;        // when the call was made …
  uint64_t ended = kNever;   // … and when its client knew that it had ended
  bool certain = false;      // it was accepted, and whoever writes it lives
  bool durable = false;      // a sync has said so
  std::vector<Extent> lost;  // what of it may not be there, as its client was told

  Extent hull() const;
};

// The client that looks at the file, and when.
struct RawReader {
  static constexpr int kAll = -1;  // after the end of all

  int client = kAll;
  uint64_t begun = RawWrite::kNever;
  bool after_power_cut = false;
  bool may_be_torn = false;  // writes of the file have failed midway
};

class RawFileModel {
 public:
  // A new phase: everything that is there is there for good.
  void begin(bool exists, std::vector<std::byte> bytes);

  std::deque<RawWrite> writes;  // as they were made
  bool may_be_made = false;     // a client has tried to open it for writing …
  bool made = false;            // … and was told that it has
  bool named = false;           // … and has synced it
  uint64_t users = 0;           // that may have it open; whoever has died is still one
  uint64_t openings = 0;        // that were begun

  // Notes that a request of the client has failed, in each write that it may have been a part of; false if there is
  // none. `request`: from its first byte to its last, if that is known.
  bool lose(int client, const std::optional<Extent>& request);

  bool must_exist(bool after_power_cut) const { return existed_ || (after_power_cut ? named : made); }
  // "" if what the reader has found there may be there, else what is wrong.
  std::string difference(const RawReader& reader, const Extent& extent, const std::byte* found) const;
  // The file has at least, and at most, so many bytes.
  uint64_t least_size(const RawReader& reader) const;
  uint64_t most_size(const RawReader& reader) const;

 private:
  // Where each write is either wholly or not at all.
  struct Part {
    Extent extent;
    std::vector<const RawWrite*> last;  // any of these may have been the last; null: what was there before
    bool may_be_torn = false;
  };
  // The later one of two whole writes, where only these two can decide it.
  using Winners = std::map<std::pair<const RawWrite*, const RawWrite*>, const RawWrite*>;

  std::vector<Extent> cut(const Extent& extent) const;
  Part part_of(const RawReader& reader, const Extent& extent) const;
  std::string difference_in(const Part& part, const std::byte* found) const;
  static std::string mixture_in(const Part& part, const std::byte* found, Winners& winners);
  uint64_t word_before(uint64_t from) const;

  bool existed_ = false;
  std::vector<std::byte> before_;
};

// The raw files of a run, by path, and its moments.
struct RawFileModels {
  std::map<std::string, RawFileModel> files;
  uint64_t now = 0;

  uint64_t tick() { return ++now; }
};

}  // namespace tailrace::impl::simulation
