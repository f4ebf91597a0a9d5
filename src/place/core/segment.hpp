// Segment: the memory that one client and the server of its node share: a pool, and the parts of a channel behind it.
//
// A file in shared memory, named, so that what was committed outlives both processes. Only the two sides of one
// client map it: no client can touch what is another's. Made by the server, which takes the pool's pages from the
// system afterwards, beside all else, and puts them together to huge ones: some at once, more as the client uses
// them. Who writes into the pool makes sure first that the pages are there, by take(): if shared memory is full, it
// hears so then, and is not ended by a signal. Each side computes with sizes it knows. The other side may cut the
// file short: then Channel::is_lost() says so, in a server's process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/memory/memory_guard.hpp"
#include "base/memory/process_mark.hpp"
#include "base/memory/range_allocator.hpp"
#include "base/memory/toucher.hpp"
#include "base/os/closed_in_children.hpp"
#include "base/os/file_descriptor.hpp"
#include "base/os/private_directory.hpp"
#include "base/status.hpp"
#include "channel/channel_memory.hpp"

namespace tailrace::impl {

class Segment {
 public:
  // Makes the file `name` of that size. TAILRACE_OUT_OF_MEMORY if there is no room for all of it now. There is no
  // file if it fails.
  static Result<std::unique_ptr<Segment>> create(const PrivateDirectory& directory, const std::string& name,
                                                 const ChannelSizes& sizes, uint64_t pool);
  // Returns the part of a client's budget that is its pool: whole pages.
  static uint64_t pool_of(uint64_t budget) { return budget / RangeAllocator::kPage * RangeAllocator::kPage; }
  // Maps what is there; refuses a file of another size.
  static Result<std::unique_ptr<Segment>> map(FileDescriptor file, const ChannelSizes& sizes, uint64_t pool);

  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment();

  // The client makes sure that a part of the pool has its pages, in its own mapping, too, and that the server knows
  // of it. TAILRACE_OUT_OF_MEMORY if there is no room for it, in `directory`, where the file is.
  Status take(const PrivateDirectory& directory, uint64_t offset, uint64_t bytes);
  // Begins to take the pages of the pool from the system, in the background: at least `ahead` bytes before the client
  // uses them. Call it once, on the side that has made the file.
  void take_ahead(uint64_t ahead = UINT64_MAX);
  // The server looks how much the client uses, and takes pages ahead of that in the background.
  void follow();

  // This side's view.
  Channel& channel() { return channel_; }
  ChannelControl& control() { return ChannelMemory::control(parts()); }
  const ChannelSizes& sizes() const { return memory_.sizes(); }
  std::span<std::byte> pool() const { return {mapping_, pool_}; }
  int fd() const { return file_.get(); }

 private:
  Segment(FileDescriptor file, std::byte* mapping, const ChannelSizes& sizes, uint64_t pool);
  static Result<std::unique_ptr<Segment>> make(const PrivateDirectory& directory, const std::string& name,
                                               const ChannelSizes& sizes, uint64_t pool);
  Status guard();
  bool take_part(size_t offset, size_t size);
  bool gather_later();
  std::byte* parts() const { return mapping_ + pool_; }

  static constexpr int kGatherRounds = 64;  // after these, parts that were in use each time keep small pages

  FileDescriptor file_;
  ClosedInChildren not_for_children_;  // file_, which keeps all of its memory; ends before it
  std::byte* const mapping_;
  const uint64_t process_ = process_mark();  // a child has other things at these addresses
  const uint64_t pool_;
  const ChannelMemory memory_;
  Channel channel_;
  std::optional<MemoryGuard> guard_;  // ends before the memory does
  bool huge_pages_ = true;            // used by the toucher: shared memory may have huge pages
  std::vector<size_t> in_use_;        // used by the toucher: parts whose pages could not be gathered yet
  int rounds_left_ = kGatherRounds;   // used by the toucher
  uint64_t used_ = 0;                 // used by the server: bytes that the toucher knows to be in use
  std::optional<Toucher> toucher_;    // ends first; none: this side takes no pages
};

}  // namespace tailrace::impl
