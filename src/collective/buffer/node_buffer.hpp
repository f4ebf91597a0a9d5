// NodeBuffer: a collective buffer in memory that the processes of a node share. In a collective write each process
// puts its bytes where they belong in the file; so pieces of all of them, which are small and interleaved, become
// large pieces by one copy. No process waits for another one.
//
// The buffer has blocks. A block in use is a part of the file in one collective write. The process that fills the
// last byte of a block takes it, and writes it; the last process that has put its bytes takes the blocks with holes.
// Any process that has bytes in a block may take it earlier: then later bytes get another block. Bytes for which
// there is no block are left to their process.
//
// The bytes between those that were put are never given out. A process that ends in the midst of a copy does not hold
// up others. One thread at a time, where nothing else is said.
#pragma once

#include <tailrace/tailrace.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tailrace::collective {

class NodeBuffer {
 public:
  static constexpr uint64_t kBlockBytes = uint64_t{1} << 20;
  static constexpr uint32_t kBlocks = 64;

  // The environment of this process.
  struct Parts {
    std::span<std::byte> memory;  // shared, size() bytes, zero when it is new; page-aligned
    uint32_t members = 1;         // processes
    uint32_t rank = 0;            // of this one
    // Has the memory from `begin` to `begin` + `length` in fact; false: there is none.
    std::function<bool(uint64_t begin, uint64_t length)> provide;
    // Returns true if the process of that rank has not ended.
    std::function<bool(uint32_t rank)> lives;
    // Writes bytes, which lie back to back, of the collective write of that number. They may change when it returns.
    std::function<void(uint64_t number, std::span<const tailrace_extent> extents, const std::byte* bytes)> write;
  };

  // Returns how much memory that many processes share; and how much of it, from its begin on, must be there at once.
  static uint64_t size(uint32_t members);
  static uint64_t table_size(uint32_t members);

  explicit NodeBuffer(Parts parts);

  // A block that the process has put bytes in.
  struct Place {
    uint32_t block = 0;
    uint32_t generation = 0;
  };
  // Puts bytes, which lie at `from` back to back. Extents ascend. Appends the blocks to `places`, and what has found
  // no block to `left`. `number`: of the collective write, from 1 on, ascending; all processes give it one number.
  void put(uint64_t number, std::span<const tailrace_extent> extents, const std::byte* from,
           std::vector<Place>& places, std::vector<tailrace_extent>& left);
  // Says that this process has put all its bytes of collective writes up to that number.
  void arrive(uint64_t number);
  // Returns the first rank that has not put all its bytes of the writes up to that number; none if all have. Any
  // thread may call.
  std::optional<uint32_t> behind(uint64_t number) const;
  // Failed: a process tells the others which of its writes to the file have failed. Any thread may call.
  struct Failed {
    uint32_t count = 0;
    int latest_errno = 0;
  };
  void tell_failed(const Failed& own);
  Failed failed(uint32_t rank) const;
  // Says that this process has written all that it had taken, or will do so, and takes nothing more.
  void leave();
  // Returns true if the process of that rank has ended otherwise: bytes of others that it had taken may be lost. Any
  // thread may call.
  bool has_failed(uint32_t rank) const;
  // Takes the block, unless it has been taken and written. Waits while another process writes it.
  void take(const Place& place);
  // Returns true if the block has been taken, and its bytes handed over.
  bool is_taken(const Place& place) const;

 private:
  struct Control;
  struct Member;
  struct Table;
  // The block that the process is inside.
  struct Inside {
    uint64_t index = UINT64_MAX;  // of the part of the file; none
    Control* control = nullptr;   // null: there is no block
    uint64_t put = 0;             // bytes
  };

  Control& control(uint32_t block) const;
  uint32_t number_of(const Control& control) const;
  std::byte* bytes(uint32_t block) const;
  std::span<uint8_t> marks(uint32_t block) const;
  Control* enter(uint64_t number, uint64_t index);
  bool open(Control& control, uint64_t number, uint64_t index);
  void leave_block(Inside& inside);
  bool seal(Control& control, uint32_t generation);
  void write_out(Control& control);
  uint32_t ended() const;

  const Parts parts_;
  Table* const table_;
  bool may_grow_ = true;  // there may be memory for more blocks
  std::vector<tailrace_extent> extents_;
  std::vector<std::byte> packed_;
};

}  // namespace tailrace::collective
