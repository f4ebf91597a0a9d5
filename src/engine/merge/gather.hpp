// Gather: holds small writes back while it pays, so that there are more of them to merge.
//
// The small writes of a file gather as long as small accesses of the file are under way, very small ones for `delay`
// even if there are none; then they leave together. Where the last that left together had nothing in common to be
// joined, nothing is held any more, until it has again. Reads, large writes and what somebody waits for are never
// held. Knows the time only as it is told, and nothing of how accesses are carried out. Driven by the engine's
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "model/request.hpp"

namespace tailrace::impl {

struct GatherOptions {
  bool on = true;
  // The held requests of a file leave when they are so many, or have so many bytes.
  uint32_t count = 32768;
  uint64_t bytes = uint64_t{64} << 20;
  // The first very small one waits so long for others, whatever is under way; 0: it does not.
  Nanoseconds delay{0};
  // A request is very small if its pieces are shorter than this on average: an access of its own costs more than its
  // bytes.
  uint64_t very_small = uint64_t{64} << 10;
  // A request is small if its pieces are shorter than this on average.
  uint64_t small = uint64_t{512} << 10;
  // Held requests leave by `count` alone, or when somebody waits for them: the merged accesses do not depend on the
  // speed of the storage. A request that somebody waits for must be `immediate`.
  bool by_count = false;
};

class Gather {
 public:
  explicit Gather(const GatherOptions& options) : options_(options) {}

  // The file is one of many like it: what has been learnt of those is known of it, too.
  void opened_like_others(FileId file) { files_[file].learnt = of_many_; }

  // Takes in a ready request that moves bytes; borrowed until it leaves. Whether it is of those that may be held.
  bool put(const Request* request, Nanoseconds now);
  // Appends what leaves now.
  void take(Nanoseconds now, std::vector<const Request*>& leaving);
  // When take() may have something though nothing else happens; none: it will not.
  std::optional<Nanoseconds> due() const;
  bool empty() const { return waiting_.empty() && free_.empty(); }

  // An access of small writes of the file has begun; `joined`: it carries more than one request.
  void began(FileId file, bool joined);
  void ended(FileId file);

  // From here to its patient() nothing of the file is held: somebody waits for it.
  void impatient(FileId file) { ++files_[file].impatient; }
  void patient(FileId file) { --files_[file].impatient; }

  // All that is held when take() is called next leaves then: somebody waits, and nobody knows for which file.
  void hurry() { hurry_ = true; }

  // The file is closed; nothing of it is held.
  void forget(FileId file) { files_.erase(file); }

 private:
  struct Learnt {
    bool pays = true;  // the last that left together were joined, or have yet to be seen
  };
  struct File {
    std::vector<const Request*> held;
    uint64_t bytes = 0;
    uint64_t pieces = 0;
    Nanoseconds since{0};    // when the first of them came
    uint32_t under_way = 0;  // accesses of small writes
    uint32_t impatient = 0;
    std::shared_ptr<Learnt> learnt = std::make_shared<Learnt>();
  };

  bool is_delayed(const File& file) const;
  bool held_back(const File& file, Nanoseconds now) const;
  void let_go(File& file, std::vector<const Request*>& leaving) const;

  const GatherOptions options_;
  const std::shared_ptr<Learnt> of_many_ = std::make_shared<Learnt>();
  std::unordered_map<FileId, File> files_;
  std::vector<FileId> waiting_;       // of which something is held
  std::vector<const Request*> free_;  // that nothing holds
  bool hurry_ = false;
};

}  // namespace tailrace::impl
