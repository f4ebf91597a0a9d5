// RawFileModel: the plain model of one raw file: what its clients have written, and so which bytes may be in it.
//
// It knows the order of some writes: those of one client as they were made, and those of several if one was known to
// have ended when the other began. So for each byte there are a few writes that may have been the last. Time is
// counted in steps, not measured. Plain data; RawFileProgram writes it, and asks it what a read may return.
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

// A list of extents that was written. An opening or a truncate that emptied the file counts as a write of zeros
// everywhere.
struct RawWrite {
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

  int client = 0;
  uint32_t handle = 0;  // the client's number for the file
  Content content = 0;
  std::vector<Extent> extents;
  bool empties = false;
  bool alone = false;        // for an opening that empties: no other client had the file open
  bool whole = false;        // it goes as one request, so others' writes come before or after it
  uint64_t begun = 0;        // when the call began …
  uint64_t ended = kNever;   // … and when its client knew that the write had ended
  bool certain = false;      // it was accepted, and the server lives
  bool durable = false;      // a sync has confirmed it
  std::vector<Extent> lost;  // parts of it that may be missing, as its client was told

  Extent hull() const;
};

// A client that looks at the file, and when.
struct RawReader {
  static constexpr int kAll = -1;  // after all have ended

  int client = kAll;
  uint64_t begun = RawWrite::kNever;
  bool after_power_cut = false;
  bool may_be_torn = false;  // writes to the file have failed midway
};

class RawFileModel {
 public:
  // Begins a new phase: everything that exists now is permanent.
  void begin(bool exists, std::vector<std::byte> bytes);

  std::deque<RawWrite> writes;  // in the order they were made
  bool may_be_made = false;     // a client has tried to open it for writing …
  bool made = false;            // … and has succeeded …
  bool named = false;           // … and has synced it
  uint64_t users = 0;           // clients that may have it open, including dead ones
  uint64_t openings = 0;        // openings that have begun

  // Notes that a request of the client has failed, in each write that it may belong to; returns false if there is
  // none. `request`: from its first byte to its last, if that is known.
  bool lose(int client, const std::optional<Extent>& request);

  bool must_exist(bool after_power_cut) const { return existed_ || (after_power_cut ? named : made); }
  // Returns "" if what the reader has found is possible, else what is wrong.
  std::string difference(const RawReader& reader, const Extent& extent, const std::byte* found) const;
  // Return the least and the largest possible size of the file, in bytes.
  uint64_t least_size(const RawReader& reader) const;
  uint64_t most_size(const RawReader& reader) const;

 private:
  // A part of the file that each write covers wholly or not at all.
  struct Part {
    Extent extent;
    std::vector<const RawWrite*> last;  // writes that may have been the last; null: the bytes from before the phase
    bool may_be_torn = false;
  };
  // The later one of two whole writes, where only these two can be the last.
  using Winners = std::map<std::pair<const RawWrite*, const RawWrite*>, const RawWrite*>;

  std::vector<Extent> cut(const Extent& extent) const;
  Part part_of(const RawReader& reader, const Extent& extent) const;
  std::string difference_in(const Part& part, const std::byte* found) const;
  static std::string mixture_in(const Part& part, const std::byte* found, Winners& winners);
  uint64_t word_before(uint64_t from) const;

  bool existed_ = false;
  std::vector<std::byte> before_;
};

// The raw files of a run, by path, and its clock.
struct RawFileModels {
  std::map<std::string, RawFileModel> files;
  uint64_t now = 0;

  uint64_t tick() { return ++now; }
};

}  // namespace tailrace::impl::simulation
