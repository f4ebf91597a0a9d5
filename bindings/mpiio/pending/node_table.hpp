// NodeTable: which bytes of files the processes of a node have on their way, in memory that all processes of the user
// share. Each process has a slot of the table, which it alone writes; all may read it, and ask its process to write
// what is on its way.
//
// The table is a file in memory. A process holds its slot by a lock on a byte of that file, which ends with the
// process. What the slot shows stays, until a process has waited for the server that still writes it (place core).
// Where the table cannot be had, a process has one of its own: it then counts as a node of its own.
//
// Any thread may read and ask; one thread at a time writes the own slot.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "mpiio/pending/byte_pattern.hpp"
#include "process_client/file_key.hpp"

namespace tailrace::mpiio {

using process::FileKey;

class NodeTable {
 public:
  static constexpr uint32_t kSlots = 1024;
  static constexpr uint32_t kEntries = 128;  // of a slot

  // Returns the path of the table that the processes of this user share.
  static std::string default_path();
  // Waits until everything is written that a process left which has ended. Returns true if it is; `only_looks`: does
  // not wait.
  using WaitForDeparted = bool (*)(int process, bool only_looks);
  // Opens the table, and makes it if there is none. Takes a slot.
  NodeTable(const std::string& path, WaitForDeparted wait_for_departed);
  ~NodeTable();
  NodeTable(const NodeTable&) = delete;
  NodeTable& operator=(const NodeTable&) = delete;

  // Returns the table's number, which is random: processes with the same number share a table.
  uint64_t number() const;

  // Changes the own slot. A reader sees the slot before or after the changes between begin_change() and end_change().
  void begin_change();
  // `access`: the number of the collective access that the bytes belong to; 0: of none.
  void set(uint32_t entry, const FileKey& file, const BytePattern& bytes, uint64_t access = 0);
  void set_count(uint32_t entries);
  void end_change();

  // Counts bytes that one process had in a buffer and another one shows in its slot now: after it shows them, and
  // before the first one shows them no more. A reader that finds nothing, and the same count before and after, has
  // missed none.
  void note_move();
  uint64_t moves() const;

  // A process that has a slot. The slot may be another process's later: `life` counts them.
  struct Process {
    uint32_t slot = 0;
    uint32_t life = 0;
  };
  // Returns the next process, from slot `from` on, that has bytes of the file on their way which touch any of the
  // patterns, or may have had them when it ended; none if there is no more. The own slot is left out, and so are
  // bytes of the collective access of that number, if it is not 0: those of its processes do not overlap.
  std::optional<Process> find(uint32_t from, const FileKey& file, std::span<const BytePattern> bytes,
                              uint64_t access = 0) const;
  // Asks the process to write what it has on its way now, and waits until it has. If the process has ended, waits for
  // what it left.
  void ask(const Process& process) const;
  // Waits until others have asked. answer() says to all of them that everything is written which was on its way when
  // this returned.
  void wait_for_questions();
  void answer();

  // Call it in a forked child: the copy of the descriptor would hold the parent's slot. Then only destroy the table.
  void leave_to_parent();

 private:
  struct Entry;
  struct Slot;
  struct Table;

  bool map(int descriptor);
  bool prepare(int descriptor);
  void take_slot();
  bool take_slot(uint32_t slot, bool even_if_not_written);
  bool is_held(uint32_t slot) const;
  bool wait_if_ended(const Process& process) const;
  bool has(const Slot& slot, const FileKey& file, std::span<const BytePattern> bytes, uint64_t access) const;

  const WaitForDeparted wait_for_departed_;
  mutable std::mutex
      departed_;         // held while wait_for_departed_ runs for another slot: locks of files are the process's
  int descriptor_ = -1;  // of the table that is shared; -1: it is not
  Table* table_ = nullptr;
  Slot* own_ = nullptr;
  uint32_t heard_ = 0;  // questions; used by the thread that answers
};

}  // namespace tailrace::mpiio
