// RequestQueue: the first stage. Holds every request that has not ended, and knows which must wait for which, which
// bytes need not be written any more, and which reads need no storage.
//
// A request is ready when all earlier requests that it conflicts with have ended. Between requests that do not
// conflict there is no order, so later stages may take the ready ones in any. Conflicts are found in a PendingIndex
// of the file, so a request costs what its own list is long. Bounded; driven by the engine's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/queue/morph.hpp"
#include "engine/queue/pending_index.hpp"
#include "model/request.hpp"

namespace tailrace::impl {

class RequestQueue {
 public:
  // The means that the queue may use beside letting one request wait for another.
  struct Rules {
    // A write takes over the bytes that an earlier one of its client has not begun to write. The two then end
    // together, and the earlier one fails if the later one does.
    bool morph = false;
    // A read gets bytes that are about to be written from the memory of the write, of its own client …
    bool steal = false;
    // … or of every client.
    bool steal_from_all = false;
  };
  struct Counts {
    uint64_t overwritten = 0;  // bytes never written, since a later write had them
    uint64_t stolen = 0;       // bytes of reads that came from pending writes
  };
  struct Ended {
    Request request;
    Status status;
  };

  explicit RequestQueue(uint32_t limit) : RequestQueue(limit, Rules{}) {}
  RequestQueue(uint32_t limit, const Rules& rules);

  // How many more requests can be held.
  uint32_t room() const { return limit_ - static_cast<uint32_t>(slots_.size() - free_slots_.size()); }
  bool empty() const { return free_slots_.size() == slots_.size(); }
  // Every slot that has ever been given is below this.
  size_t slots() const { return slots_.size(); }
  const Counts& counts() const { return counts_; }

  // Takes a request in; room() > 0. Returns it (with its slot, its pieces in order) if it is ready at once, else
  // null. The pointer is good until finish(). What a read steals is copied here.
  const Request* admit(Request request);

  // A ready request begins: from now on nobody takes bytes over from it. Returns the pieces to be carried out, which
  // may be none; borrowed until its finish().
  std::span<const Piece> begin(uint32_t slot);
  // Returns true if nothing of the request is left to be carried out.
  bool served(uint32_t slot) const { return slots_[slot].partial && slots_[slot].left.empty(); }

  // Finishes a request with `status`: all that was to be carried out of it has been. It ends now, or, if it is bound
  // to others by bytes that were taken over, when all of those have been carried out. Appends the requests that end
  // by this, which leave the queue, in the order of admission, and those that are ready by this. Where a write has
  // failed, its status also becomes the end of every read that waited for its bytes (see inherited()).
  void finish(uint32_t slot, const Status& status, std::vector<Ended>& ended, std::vector<const Request*>& ready);

  // The failure of an earlier write that this read would have seen; ok for all others.
  const Status& inherited(uint32_t slot) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Slots are used again, numbers are not.
  struct Name {
    uint32_t slot = 0;
    uint64_t number = 0;
  };
  struct Pending {
    Request request;
    bool held = false;
    bool begun = false;
    bool done = false;        // what was to be carried out has been
    bool partial = false;     // `left` says what is to be carried out, and not the request
    uint64_t number = 0;      // of its admission, from 1
    uint32_t before = kNone;  // its neighbours in the file's list
    uint32_t after = kNone;
    uint32_t blockers = 0;             // earlier requests that have yet to end
    std::vector<Name> waits_for;       // the blockers, with those that have ended
    std::vector<uint32_t> dependents;  // slots of later requests that wait for this one
    uint32_t bond = kNone;             // with whom it ends; none: alone
    std::vector<uint32_t> took_from;   // slots of earlier writes
    std::vector<Extent> cuts;          // what was taken over
    std::vector<Piece> left;
    Status inherited;
    Status status;               // the first failure, of its own or of a taker
    uint64_t blocker_of = 0;     // the latest request that it was found to block
    uint64_t overlapped_by = 0;  // the latest write that may take bytes over
    uint64_t taken_by = 0;       // the latest write that did
  };
  // Writes that took bytes over from one another. They end together: were one known to have ended before the others,
  // whoever goes on after a death would write those again, over its bytes. See morph.hpp.
  struct Bond {
    std::vector<uint32_t> members;  // slots
    uint64_t floor = 0;
    uint64_t newest_blocker = 0;
    size_t left = 0;  // members that have yet to be carried out
  };
  struct FileQueue {
    uint32_t first = kNone;  // in the order of admission
    uint32_t last = kNone;
    uint32_t fence = kNone;  // the latest that has not ended
    PendingIndex index;
  };
  struct Overlap {
    uint32_t slot = 0;
    Extent extent;
  };

  Pending& take_slot(Request request);
  void append(FileQueue& file, Pending& pending);
  void wait_for_all(FileQueue& file, Pending& fence);
  void admit_write(FileQueue& file, Pending& write);
  void admit_read(FileQueue& file, Pending& read);
  void found_before_write(Pending& write, const ReaderSets& readers, const Extent& extent,
                          const PendingIndex::Run& run);
  void take_over(Pending& write);
  MorphCandidate candidate(const Pending& earlier) const;
  void bind(Pending& earlier, Pending& later);
  uint32_t bond_of(Pending& pending);
  bool may_steal(const FileQueue& file, const Pending& read, const Pending& write) const;
  void block(Pending& later, uint32_t earlier);
  uint64_t newest_blocker(const Pending& pending) const;
  void end_together(uint32_t bond, std::vector<Ended>& ended, std::vector<const Request*>& ready);
  void end(uint32_t slot, std::vector<Ended>& ended, std::vector<const Request*>& ready);
  static Status consequence(const Request& of, const Status& cause);

  const Rules rules_;
  const uint32_t limit_;
  Counts counts_;
  uint64_t admitted_ = 0;
  std::deque<Pending> slots_;  // made when there is need, and kept
  std::vector<uint32_t> free_slots_;
  std::unordered_map<FileId, FileQueue> by_file_;  // of each file that has had requests, until it is closed
  std::vector<Overlap> overlaps_;                  // of the write being admitted with writes it may take over from
  std::vector<MorphCandidate> candidates_;         // those writes
  std::vector<Bond> bonds_;
  std::vector<uint32_t> free_bonds_;
};

}  // namespace tailrace::impl
