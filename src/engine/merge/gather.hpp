// Gather: holds small writes back while that pays, so that more of them can be merged.
//
// The small writes of a file gather as long as small accesses of the file are in progress, very small ones for
// `delay` even if none are; then they leave together. If none of the last group could be joined, nothing is held any
// more, until an access is joined again. Reads, large writes and awaited requests are never held. It gets the time
// from its callers, and knows nothing of how accesses are carried out. The engine's thread drives it.
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
  // The held requests of a file leave when they reach this number, or this many bytes.
  uint32_t count = 32768;
  uint64_t bytes = uint64_t{64} << 20;
  // The first very small request waits this long for others, even if the file is idle; 0: it does not.
  Nanoseconds delay{0};
  // A request is very small if its pieces are shorter than this on average: a separate access costs more than its
  // bytes.
  uint64_t very_small = uint64_t{64} << 10;
  // A request is small if its pieces are shorter than this on average.
  uint64_t small = uint64_t{512} << 10;
  // If true, held requests leave only by `count`, or when a client waits for them: the merged accesses then do not
  // depend on the speed of the storage. Awaited requests must be `immediate`.
  bool by_count = false;
};

class Gather {
 public:
  explicit Gather(const GatherOptions& options) : options_(options) {}

  // The file is one of many alike: they share what has been learnt.
  void opened_like_others(FileId file) { files_[file].learnt = of_many_; }

  // Takes a ready request that moves bytes if it is of the kind that may be held; borrowed until it leaves. Returns
  // false if it is not.
  bool put(const Request* request, Nanoseconds now);
  // Appends the requests that leave now.
  void take(Nanoseconds now, std::vector<const Request*>& leaving);
  // Returns when take() may have something even if nothing else happens; none: it will not.
  std::optional<Nanoseconds> due() const;
  bool empty() const { return waiting_.empty(); }

  // Notes that an access of small writes has begun; `joined`: it carries more than one request.
  void began(FileId file, bool joined);
  void ended(FileId file);

  // From here to its patient(), nothing of the file is held: a client waits for it.
  void impatient(FileId file) { ++files_[file].impatient; }
  void patient(FileId file) { --files_[file].impatient; }

  // A client waits, and we do not know for which file: all held requests leave at the next take().
  void hurry() { hurry_ = true; }

  // Forgets a closed file; nothing of it is held.
  void forget(FileId file) { files_.erase(file); }

 private:
  struct Learnt {
    bool pays = true;  // some of the last group were joined, or there was no group yet
  };
  struct File {
    std::vector<const Request*> held;
    uint64_t bytes = 0;
    uint64_t pieces = 0;
    Nanoseconds since{0};    // arrival of the first of them
    uint32_t under_way = 0;  // accesses of small writes in progress
    uint32_t impatient = 0;
    std::shared_ptr<Learnt> learnt = std::make_shared<Learnt>();
  };

  bool is_delayed(const File& file) const;
  bool held_back(const File& file, Nanoseconds now) const;
  void let_go(File& file, std::vector<const Request*>& leaving) const;

  const GatherOptions options_;
  const std::shared_ptr<Learnt> of_many_ = std::make_shared<Learnt>();
  std::unordered_map<FileId, File> files_;
  std::vector<FileId> waiting_;  // files with held requests
  bool hurry_ = false;
};

}  // namespace tailrace::impl
