// NodeWrites: the collective writes of an open file whose bytes meet in a buffer of the node (NodeBuffer), from which
// any of its processes may take them and hand them over.
//
// Until then they are on their way in this process, as the others see (Pending): a process that touches them asks for
// them. Where this process itself touches them, it hands them over first, and waits for what another process has
// taken. Any thread may call.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "collective/buffer/node_buffer.hpp"
#include "mpiio/buffer/buffer_memory.hpp"
#include "mpiio/pending/pending.hpp"
#include "mpiio/transfer/output.hpp"
#include "mpiio/transfer/own_descriptor.hpp"

namespace tailrace::mpiio {

class NodeWrites {
 public:
  using Refusal = Output::Refusal;

  // Use: whether a write uses the buffer, and whether it may wait for other processes that write together with this
  // one.
  enum class Use : uint8_t { none, without_waiting, waiting };

  // Calls: `fails` gets what could not be handed over, bytes of any process, at any time. `progress` lets the MPI go
  // on, while the process waits for others.
  struct Calls {
    std::function<void(const Refusal&)> fails;
    std::function<void()> progress;
  };

  // Borrows both.
  NodeWrites(Output& output, const OwnDescriptor& own, Calls calls);
  ~NodeWrites();
  NodeWrites(const NodeWrites&) = delete;
  NodeWrites& operator=(const NodeWrites&) = delete;

  // Opens the buffer, once: later calls do nothing, and return true. `last`: the number of the latest collective
  // write, which only this opening of the file has. `agree` is called with whether this process has memory
  // for the buffer, and returns whether all have: then it is used.
  void open(uint64_t last, uint32_t members, uint32_t rank, const std::function<bool(bool)>& agree);
  bool is_open() const { return buffer_.has_value(); }

  // Writes bytes, which lie at `from` back to back, in the collective write with the number `access`. Waits for
  // another process only if that has bytes of another access at the same place on their way, or, if `use` allows it,
  // while the buffer is full and others have not come as far as this one. Requires an open buffer.
  Refusal write(std::span<const tailrace_extent> extents, const std::byte* from, uint64_t access, Use use);
  // Says that this process has written all its bytes of that collective write, by the buffer or otherwise: call it
  // after each. Does nothing if there is no buffer.
  void arrive(uint64_t access);
  // Hands over what is still in the buffer, and waits until others have written what they have taken. Returns the
  // errno of writes in which others have failed since the last call; 0: there is none.
  int settle();

 private:
  // Bytes that this process has put, and that may not have been handed over.
  struct Held {
    uint64_t access;
    std::vector<BytePattern> bytes;
    std::vector<collective::NodeBuffer::Place> places;
    std::unique_ptr<Pending::HandingOver> handing_over;
  };
  struct All;

  static All*& all();
  // Hands over what all files of the process still have in buffers, before it ends. `at_signal`: other threads go on,
  // but put nothing more; leaves what they hold for long.
  static void hand_over_all(bool at_signal);
  static void hand_over(const FileKey& file, std::span<const BytePattern> bytes, uint64_t access);
  static void leave_to_parent();
  static void tell_failures();
  std::vector<tailrace_extent> put(std::span<const tailrace_extent> extents, const std::byte* from, uint64_t access);
  bool wait_for_room(uint64_t access);
  void hand_over(const std::function<bool(const Held&)>& concerns);
  static bool has_room_for_another();
  void forget_taken();
  int failed_elsewhere();

  Output& output_;
  const OwnDescriptor& own_;
  const Calls calls_;
  bool tried_ = false;  // to open it
  uint32_t rank_ = 0;
  uint32_t failed_before_ = 0;  // writes of this process, when the buffer was opened
  uint64_t before_ = 0;         // number of the latest collective write before the buffer was opened
  std::unique_ptr<BufferMemory> memory_;

  std::mutex mutex_;  // guards all below; a process that has it waits for no other one's answer
  std::optional<collective::NodeBuffer> buffer_;
  std::list<Held> held_;
  bool others_have_ours_ = false;  // perhaps: others may have taken bytes of this process
  // By rank: what this process knows of the others' failures.
  struct Known {
    uint32_t failed = 0;  // writes
    bool has_ended = false;
  };
  std::vector<Known> known_;
};

}  // namespace tailrace::mpiio
