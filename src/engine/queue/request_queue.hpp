// RequestQueue: the first stage. Holds every unfinished request, and knows which requests must wait for which, which
// bytes need not be written any more, and which reads need no storage.
//
// A request is ready when all earlier requests that it conflicts with have ended. Requests that do not conflict have
// no order, so later stages may take ready ones in any order. A PendingIndex per file finds conflicts, so a request's
// cost depends only on the length of its list. Looking up each piece of a fine write would take longer than writing
// it; so, where it comes first, it counts as one piece without holes, and what comes later into these waits for it,
// too. Bounded; the engine's thread drives it.
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
  // The optimisations that the queue may use, besides making one request wait for another.
  struct Rules {
    // A write takes over bytes of an earlier write of its client that has not begun. Both then end together, and the
    // earlier one fails if the later one does.
    bool morph = false;
    // A read copies pending bytes from the memory of a write of its own client …
    bool steal = false;
    // … or of every client.
    bool steal_from_all = false;
    // A write of at least so many pieces that are short and lie close together is fine.
    uint32_t fine_from = 1024;
  };
  struct Counts {
    uint64_t overwritten = 0;  // bytes never written, since a later write replaced them
    uint64_t stolen = 0;       // bytes of reads copied from pending writes
  };
  struct Ended {
    Request request;
    Status status;
  };

  explicit RequestQueue(uint32_t limit) : RequestQueue(limit, Rules{}) {}
  RequestQueue(uint32_t limit, const Rules& rules);

  // Returns how many more requests the queue can hold.
  uint32_t room() const { return limit_ - static_cast<uint32_t>(slots_.size() - free_slots_.size()); }
  bool empty() const { return free_slots_.size() == slots_.size(); }
  // Returns a bound: every slot so far is below it.
  size_t slots() const { return slots_.size(); }
  const Counts& counts() const { return counts_; }

  // Notes the data server of an unfinished request.
  void set_server(uint32_t slot, uint32_t server) { slots_[slot].request.server = server; }

  // Takes a request; requires room() > 0. Returns it, with its slot and its pieces in order, if it is ready at once,
  // else null. The pointer is valid until finish(). Copies the bytes that a read steals.
  const Request* admit(Request request);

  // Begins a ready request: from now on no other request takes bytes over from it. Returns the pieces to be carried
  // out, which may be none; borrowed until its finish().
  std::span<const Piece> begin(uint32_t slot);
  // Returns true if the request has no bytes left to transfer.
  bool served(uint32_t slot) const { return slots_[slot].partial && slots_[slot].left.empty(); }

  // Finishes a request with `status` after all its transfers. It ends now, or, if it is bound to others by bytes that
  // were taken over, when all of those have been carried out. Appends the requests that end now, in the order of
  // admission, to `ended`, and removes them from the queue. Appends those that become ready to `ready`. A failed
  // write also ends every read that waited for its bytes with its status (see inherited()).
  void finish(uint32_t slot, const Status& status, std::vector<Ended>& ended, std::vector<const Request*>& ready);

  // Returns the failure of an earlier write that this read would have seen; ok for all other requests.
  const Status& inherited(uint32_t slot) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Slots are reused, numbers are not.
  struct Name {
    uint32_t slot = 0;
    uint64_t number = 0;
  };
  struct Pending {
    Request request;
    bool held = false;
    bool begun = false;
    bool done = false;        // all its transfers are done
    bool partial = false;     // `left` lists the bytes to carry out, instead of the request
    uint64_t number = 0;      // in the order of admission, from 1
    uint32_t before = kNone;  // neighbours in the file's list
    uint32_t after = kNone;
    uint32_t blockers = 0;             // earlier requests that have not ended
    std::vector<Name> waits_for;       // the blockers, including those that have ended
    std::vector<uint32_t> dependents;  // slots of later requests that wait for this one
    uint32_t bond = kNone;             // the bond with which it ends; none: alone
    std::vector<uint32_t> took_from;   // slots of earlier writes
    std::vector<Extent> cuts;          // extents that were taken over
    std::vector<Piece> left;
    std::vector<Piece> bounds;         // of a fine write: one piece that has all its pieces; else none
    std::vector<uint32_t> reads_fine;  // slots of the fine writes of which it reads bytes
    Status inherited;
    Status status;               // the first failure, its own or of a request that took bytes over
    uint64_t blocker_of = 0;     // the latest request that it blocks
    uint64_t overlapped_by = 0;  // the latest write that may take bytes over
    uint64_t taken_by = 0;       // the latest write that did
  };
  // Writes that took bytes over from one another. They end together: if only one were known to have ended, the
  // successor of a dead server would repeat the others, over its bytes. See morph.hpp.
  struct Bond {
    std::vector<uint32_t> members;  // slots
    uint64_t floor = 0;
    uint64_t newest_blocker = 0;
    size_t left = 0;  // members that have not been carried out
  };
  struct FileQueue {
    uint32_t first = kNone;  // in the order of admission
    uint32_t last = kNone;
    uint32_t fence = kNone;  // the latest unfinished one
    PendingIndex index;
  };
  struct Overlap {
    uint32_t slot = 0;
    Extent extent;
  };

  bool is_fine(const Request& request) const;
  static std::span<const Piece> touched_by(const Pending& pending);
  static bool has(const std::vector<Piece>& pieces, const Extent& extent);
  static bool reads_from(const Pending& request, const Pending& write);
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
  std::deque<Pending> slots_;  // made on demand, and kept
  std::vector<uint32_t> free_slots_;
  std::unordered_map<FileId, FileQueue> by_file_;  // of each file that has had requests, until it is closed
  std::vector<Overlap> overlaps_;                  // of the new write with writes that it may take from
  std::vector<MorphCandidate> candidates_;         // those writes
  std::vector<Bond> bonds_;
  std::vector<uint32_t> free_bonds_;
};

}  // namespace tailrace::impl
