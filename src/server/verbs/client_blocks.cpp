#include "server/verbs/client_blocks.hpp"

#include <algorithm>

#include "base/sync/free_stack.hpp"
#include "model/extents.hpp"

namespace tailrace::impl {
namespace {

// Blocks of at least this many bytes are expected to bypass the page cache.
constexpr uint64_t kDirectFrom = Executor::Options{}.direct_from;

}  // namespace

ClientBlocks::ClientBlocks(const Declarations& declared, bool holds_writes, int client, const Parts& parts)
    : declared_(declared), holds_writes_(holds_writes), client_(client), parts_(parts) {
  const std::vector<Variable>& variables = declared.variables;
  if (std::none_of(variables.begin(), variables.end(), [](const Variable& of) { return of.filtered(); })) return;
  TAILRACE_REQUIRE(parts.crew != nullptr);
  Filtering::Host& host = *this;
  filtering_ = std::make_unique<Filtering>(declared, holds_writes, client, parts.to_client, parts.engine, parts.files,
                                           *parts.crew, host);
}

void ClientBlocks::begin_write(const Descriptor& descriptor) {
  const WorkId id = new_work(Kind::block, descriptor, parts_.layouts.block_of(descriptor));
  Work& work = works_[id];
  if (descriptor.verb == Verb::write) pending_bytes_ += descriptor.bytes.length;
  if (Status writable = parts_.files.iterations().writable(descriptor.iteration); !writable.ok()) {
    work.refused = true;
    work.status = std::move(writable);
    return end_work(id);
  }
  if (actions_ != nullptr && descriptor.verb == Verb::write) actions_->came(work.block, descriptor, false);
  if (in_chunks(work.block)) return begin_filtered(id);
  const Result<FileGroup::Place> place = parts_.files.place(work.block);
  work.status = place.status();
  if (!work.status.ok()) {
    // One block is lost, so the iteration can never be whole.
    parts_.files.iterations().refuse(descriptor.iteration, work.status);
    return end_work(id);
  }
  const std::vector<Extent>& extents = place.value().extents;
  TAILRACE_ASSERT(total_of(extents) == descriptor.bytes.length);
  if (extents.empty()) return end_work(id);  // only its dataset was needed
  Request request;
  request.operation = Operation::write;
  request.file = place.value().file;
  request.pieces = in_turn(extents, memory_of(descriptor));
  request.reserve = true;
  // The program may wait for a request with a ticket.
  if (descriptor.ticket == kNoTicket) request.phase = phase_of(descriptor.iteration);
  request.immediate = descriptor.ticket != kNoTicket && holds_writes_;
  submit(id, std::move(request));
}

// The server only reads a block in the client's own memory.
std::byte* ClientBlocks::memory_of(const Descriptor& descriptor) const {
  const Descriptor::Bytes& bytes = descriptor.bytes;
  if (bytes.block == kNoBlock) return reinterpret_cast<std::byte*>(bytes.address);
  const std::span<std::byte> pool = parts_.to_client.memory();
  TAILRACE_ASSERT(bytes.address + bytes.length <= pool.size());
  return pool.data() + bytes.address;
}

// Begins a block of a filtered variable, whose places become known chunk by chunk, or a read of one.
void ClientBlocks::begin_filtered(WorkId id) {
  Work& work = works_[id];
  work.status =
      filtering_->begin(id, work.block, work.descriptor, {memory_of(work.descriptor), work.descriptor.bytes.length});
  if (!work.status.ok()) end_work(id);
}

void ClientBlocks::filtered(WorkId id, const Status& status, const Request::Course& course) {
  Work& work = works_[id];
  work.status = status;
  work.course = course;
  end_work(id);
}

void ClientBlocks::postponed(WorkId id) {
  const auto node = works_.extract(id);
  const Work& read = node.mapped();
  deferred_[read.block.iteration].push_back({read.descriptor, read.block});
}

void ClientBlocks::begin_read(const Descriptor& descriptor) {
  ++reads_;
  read_block(descriptor, parts_.layouts.block_of(descriptor));
}

void ClientBlocks::read_block(const Descriptor& descriptor, const Block& block) {
  if (parts_.files.iterations().leaving(block.iteration)) {
    deferred_[block.iteration].push_back({descriptor, block});
    return;
  }
  const WorkId id = new_work(Kind::read, descriptor, block);
  if (in_chunks(block)) return begin_filtered(id);
  Work& work = works_[id];
  std::vector<Extent> extents;
  const Result<FileId> file = file_to_read(work, extents);
  if (!file.ok() || extents.empty()) {
    work.status = file.status();
    return end_work(id);
  }
  Request request;
  request.operation = Operation::read;
  request.file = file.value();
  request.pieces = in_turn(extents, memory_of(descriptor));
  request.immediate = true;
  submit(id, std::move(request));
}

// Returns the iteration's own file while it is being written, which orders the read after pending writes; otherwise
// the published file, opened for this read. If the iteration has ended without a file, a file that the format finds
// under its name belongs to an earlier run.
Result<FileId> ClientBlocks::file_to_read(Work& work, std::vector<Extent>& extents) {
  const Result<Located> located = parts_.files.format().locate(work.block);
  if (located.status().code() == TAILRACE_NOT_FOUND) return located.status();
  if (Status gone = parts_.files.iterations().why_no_file(work.block.iteration); !gone.ok()) return gone;
  if (!located.ok()) return located.status();
  extents = located.value().extents;
  const auto unfinished = parts_.files.unfinished_file(work.block.iteration, located.value().file);
  if (unfinished) return *unfinished;
  work.file = parts_.engine.open(located.value().path, OpenMode::read, 0, {});
  return work.file;
}

void ClientBlocks::left(int64_t iteration) {
  const auto node = deferred_.extract(iteration);
  if (node.empty()) return;
  for (const Deferred& read : node.mapped()) read_block(read.descriptor, read.block);
}

void ClientBlocks::give_up(int64_t iteration) {
  if (filtering_) filtering_->give_up(iteration);
}

bool ClientBlocks::accept_again(const Descriptor& descriptor) {
  const Block of = parts_.layouts.block_of(descriptor);
  // Keep the first one's: a block with another layout of the same dataset was refused.
  layouts_again_.emplace(std::pair(descriptor.variable, descriptor.iteration), of.layout);
  if (!has_ended(descriptor)) return false;
  const ClientEnds::BlockEnd end = parts_.to_client.end_of(descriptor.bytes.block);
  const bool held = end.kept && end.sequence == descriptor.sequence;
  if (actions_ != nullptr && held) actions_->came(of, descriptor, true);
  if (in_chunks(of)) return true;  // its chunks are placed again one by one
  // Its bytes are in the file: note where, and in which file.
  const Result<FileGroup::Place> place = parts_.files.place(of);
  if (!place.ok()) parts_.files.iterations().fail(descriptor.iteration, place.status());
  forget_if_failed(of);
  return true;
}

void ClientBlocks::place_again(Block block, const FileGroup::Chunk& chunk) {
  block.layout = layouts_again_[{block.variable, block.iteration}];
  if (!block.layout)
    return parts_.files.iterations().fail(block.iteration, Status(TAILRACE_INTERNAL, "found a chunk of no block"));
  const Result<FileGroup::Place> place = parts_.files.place_again(block, chunk);
  if (!place.ok()) parts_.files.iterations().fail(block.iteration, place.status());
  forget_if_failed(block);
}

// It is unknown which of an iteration's blocks an earlier server had lost, so none of them counts as written.
void ClientBlocks::forget_if_failed(const Block& block) {
  const Status why = parts_.files.iterations().failure(block.iteration);
  if (!why.ok()) parts_.files.format().forget(block, why);
}

// A block of the pool is used again only when the previous verb has ended.
bool ClientBlocks::has_ended(const Descriptor& descriptor) const {
  return parts_.to_client.end_of(descriptor.bytes.block).sequence >= descriptor.sequence;
}

ClientBlocks::WorkId ClientBlocks::new_work(Kind kind, const Descriptor& descriptor, const Block& block) {
  const WorkId id = next_work_++;
  works_[id].kind = kind;
  works_[id].descriptor = descriptor;
  works_[id].block = block;
  return id;
}

void ClientBlocks::submit(WorkId id, Request request) {
  request.client = static_cast<uint32_t>(client_);
  request.sequence = works_[id].descriptor.sequence;
  request.sink = this;
  request.token = id;
  parts_.engine.submit(std::move(request));
}

void ClientBlocks::ended(const Request& request, const Status& status) {
  const auto found = works_.find(request.token);
  TAILRACE_ASSERT(found != works_.end());
  found->second.status = status;
  found->second.course = request.course;
  end_work(request.token);
}

void ClientBlocks::end_work(WorkId id) {
  const auto node = works_.extract(id);
  TAILRACE_ASSERT(!node.empty());
  const Work& work = node.mapped();
  if (work.file != 0) {
    Request close;
    close.operation = Operation::close;
    close.file = work.file;
    parts_.engine.submit(std::move(close));
  }
  if (work.kind == Kind::block) return end_block(work);
  --reads_;
  parts_.ends.end(work.descriptor, work.status);
}

void ClientBlocks::end_block(const Work& work) {
  const Descriptor& descriptor = work.descriptor;
  if (descriptor.verb == Verb::write) pending_bytes_ -= descriptor.bytes.length;
  if (!work.status.ok() && !work.refused) {
    parts_.files.iterations().fail(descriptor.iteration, work.status);
    parts_.files.format().forget(work.block, work.status);
  }
  count_block(work);
  measure_block(work);
  parts_.ends.end(descriptor, work.status);
  if (descriptor.verb == Verb::write) return_block(descriptor);
}

void ClientBlocks::count_block(const Work& work) {
  const Descriptor& descriptor = work.descriptor;
  VariableCounters& of = parts_.to_client.variables()[descriptor.variable];
  ServerCounters& counters = parts_.to_client.counters();
  if (!work.status.ok()) {
    counters.blocks_failed.add();
    counters.bytes_failed.add(descriptor.bytes.length);
    of.blocks_failed.add();
    return;
  }
  if (!in_chunks(work.block)) parts_.meter.stored(descriptor.iteration, descriptor.bytes.length);
  counters.blocks_written.add();
  counters.bytes_written.add(descriptor.bytes.length);
  of.blocks_written.add();
  of.bytes_written.add(descriptor.bytes.length);
}

// Its bytes are in the file: gives the block back to the client, now or when actions no longer need it.
void ClientBlocks::return_block(const Descriptor& descriptor) {
  if (actions_ == nullptr || !actions_->keeps(client_, descriptor)) {
    return parts_.to_client.give_back(descriptor.bytes.block, descriptor.sequence);
  }
  parts_.to_client.keep(descriptor.bytes.block, descriptor.sequence);
}

// A block whose file could not be opened never reached the engine, so there is nothing to measure.
void ClientBlocks::measure_block(const Work& work) {
  const Request::Course& course = work.course;
  if (course.begun == Nanoseconds::max()) return;
  const Descriptor& descriptor = work.descriptor;
  const Nanoseconds handed{descriptor.bytes.handed};
  VariableCounters& of = parts_.to_client.variables()[descriptor.variable];
  of.queued.add(static_cast<uint64_t>((course.begun - handed).count()));
  of.writing.add(static_cast<uint64_t>((course.ended - course.begun).count()));
  if (course.merged) of.blocks_merged.add();
  if (course.cached && descriptor.bytes.length >= kDirectFrom) of.blocks_cached.add();
  if (!parts_.trace.on()) return;
  parts_.trace.add({.what = TraceEvent::What::block,
                    .in_pool = descriptor.verb == Verb::write,
                    .failed = !work.status.ok(),
                    .merged = course.merged,
                    .variable = descriptor.variable,
                    .iteration = descriptor.iteration,
                    .bytes = descriptor.bytes.length,
                    .start = handed,
                    .begun = course.begun,
                    .end = course.ended});
}

}  // namespace tailrace::impl
