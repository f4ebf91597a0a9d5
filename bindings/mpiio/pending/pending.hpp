// Pending: which bytes of files this process has handed over that may not be written yet, and those of other
// processes of the node, which its accesses wait for.
//
// MPI-IO promises other processes nothing before a sync. But every MPI writes at once on a local file system, and
// programs rely on it: what one process has written is there for another one after a barrier. So an access waits for
// bytes that it touches and that another process has on their way. Processes meet in a NodeTable. A thread of its own
// answers the questions of others, and calls no MPI: no process waits for what the program does elsewhere.
//
// All openings of a file in the process are one file here. Any thread may call.
#pragma once

#include <tailrace/tailrace.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "mpiio/pending/byte_pattern.hpp"
#include "mpiio/pending/node_table.hpp"
#include "process_client/process_client.hpp"

namespace tailrace::mpiio {

class Pending {
 public:
  // The one of this process. Never destroyed.
  static Pending& instance();
  Pending();
  // Returns the number of the node's table: processes with the same number wait for each other's bytes.
  uint64_t node() const { return table_.number(); }

  // HandingOver: make it before bytes are handed over, and destroy it when they have been. `access`: see
  // wait_for_others(). `lasts`: it waits for other processes, and later ones may end first; then this process or
  // another one has shown the bytes as its own when it ends.
  class HandingOver {
   public:
    HandingOver(const FileKey& file, std::span<const tailrace_extent> extents, uint64_t access, bool lasts = false);
    ~HandingOver();
    HandingOver(const HandingOver&) = delete;
    HandingOver& operator=(const HandingOver&) = delete;

   private:
    uint64_t number_;
  };

  // Returns true if the process has anything of the file on its way (of any file, if it is not known which), or bytes
  // from `begin` to `end`. Asks the server at most after the first time, so it may return true for a while longer.
  bool has(const FileKey& file);
  bool has(const FileKey& file, uint64_t begin, uint64_t end);
  // Returns where the last byte of the file ends that may be on its way; 0 if there is none.
  uint64_t end_of(const FileKey& file);
  // Returns true if the process has anything on its way.
  static bool has_any();
  // Writes everything that the process has on its way, or, in the second form, what it has handed over to its client.
  process::ProcessClient::Refusal flush();
  process::ProcessClient::Refusal flush_client();

  // Hands over to a client what the process still has in a node's buffer: bytes of the file that touch any of the
  // patterns, but those of the collective access of that number, if it is not 0.
  using HandOver = void (*)(const FileKey& file, std::span<const BytePattern> bytes, uint64_t access);
  void set_hand_over(HandOver how) { hand_over_.store(how, std::memory_order_release); }

  // Notes that bytes which another process had in a node's buffer are shown as this one's now.
  void note_move() { table_.note_move(); }
  // Tells other processes which writes have failed, before they see that all have ended.
  using TellFailures = void (*)();
  void set_tell_failures(TellFailures how) { tell_failures_.store(how, std::memory_order_release); }

  // Waits until everything is written that other processes of the node have on their way: of the extents, or of the
  // whole file. Does nothing if the program asks for no more order than MPI-IO promises. `access`: the number of the
  // collective write that the extents belong to, which all of its processes know; 0: of none. Its processes write
  // different bytes, as MPI asks for, and do not wait for one another.
  void wait_for_others(const FileKey& file, std::span<const tailrace_extent> extents, uint64_t access = 0);
  void wait_for_others(const FileKey& file);
  // Waits for those of this process, too.
  void wait_for_all(const FileKey& file, std::span<const tailrace_extent> extents, uint64_t access);
  // Writes everything, here and in other processes of the node, before the MPI accesses a file that is not known
  // here.
  void settle_all();

 private:
  struct Entry {
    FileKey file;
    BytePattern bytes;
    uint64_t number;  // of the latest hand-over in it
    uint64_t access;  // the collective write that all of it belongs to; 0: none
    uint64_t first;   // number of the first hand-over in it
  };
  struct Mark {
    uint64_t mark;    // the carrier's
    uint64_t handed;  // the hand-overs up to this number are before it
  };

  static void forget_in_child();
  bool has_room();
  void join_entries(bool (*alike)(const Entry& one, const Entry& other));
  void hand_over(const FileKey& file, std::span<const BytePattern> bytes, uint64_t access);
  void wait_for(const FileKey& file, std::span<const BytePattern> bytes, uint64_t access);
  void put(const FileKey& file, const BytePattern& bytes, uint64_t access);
  uint64_t handed() const;
  void look();
  void set_mark();
  void forget_up_to(uint64_t number);
  void show(size_t from);
  void answer_others();
  bool has_written(uint64_t number);

  std::atomic<HandOver> hand_over_{nullptr};          // its release and acquire order what it uses,
  std::atomic<TellFailures> tell_failures_{nullptr};  // as do those of this one

  std::mutex mutex_;  // guards all below but the parts of the table that others use
  NodeTable table_;
  std::vector<Entry> entries_;       // as in the own slot of the table
  uint64_t number_ = 0;              // of the latest hand-over
  uint64_t written_ = 0;             // the hand-overs up to this number are known to be written
  std::set<uint64_t> handing_over_;  // numbers of those that have not ended, without …
  std::set<uint64_t> lasting_;       // … these
  std::optional<Mark> mark_;
  bool answers_ = false;  // the thread has started
};

}  // namespace tailrace::mpiio
