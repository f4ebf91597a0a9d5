#include "testing/simulation/engine_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/engine.hpp"
#include "engine/schedule/fifo.hpp"
#include "testing/simulation/engine_model.hpp"
#include "testing/simulation/sim_process.hpp"

namespace tailrace::impl::simulation {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMaxFile = 6 * kPage;

SimStorageOptions storage_of(SplitDice dice, const Without& without) {
  SimStorageOptions options;
  options.depth = dice.between32(1, 12);
  options.max_segments = dice.between32(1, 6);
  if (dice.chance(50)) options.operations = dice.between32(1, 3);
  const uint32_t alignments[] = {0, 512, 4096};
  options.direct_alignment = dice.one_of(alignments);
  options.most_delay = without.delays ? 0 : dice.between(0, 20'000);
  options.least_delay = dice.below(options.most_delay + 1);
  return options;
}

void choose_sieving(MergeLimits& merge, SplitDice dice) {
  if (dice.chance(40)) return;
  merge.sieve = dice.chance(50) ? dice.between(1, 300) : dice.between(1, 2 * kPage);
  merge.waste = dice.one_of({0.1, 0.5, 0.9, 1.0});
}

void choose_scattering(MergeLimits& merge, SplitDice dice) {
  if (dice.chance(40)) return;
  merge.scatter = dice.chance(50) ? dice.between(1, 300) : dice.between(1, kPage);
  merge.scatter_piece = dice.between(1, kPage);
  merge.scatter_run = dice.between(1, 2 * kPage);
  merge.scatter_segments = dice.between32(2, 40);
  merge.scatter_from = dice.between32(1, 4);
}

void choose_bounces(Executor::Options& execute, SplitDice dice) {
  execute.bounce_bytes = dice.chance(50) ? 0 : kPage * dice.between(1, 2);
  execute.bounce_count = dice.between32(1, 3);
}

EngineOptions engine_of(SplitDice dice, const FaultPlan& faults, SplitDice sieve, SplitDice bounces,
                        SplitDice scatter) {
  EngineOptions options;
  options.execute.patience = faults.patience;
  options.max_pending = dice.between32(1, 40);
  options.merge.largest = dice.between(1, 3 * kPage);
  options.execute.largest_transfer = kPage * dice.between(1, 3);
  options.execute.direct_from = dice.chance(50) ? 0 : 2 * kPage;
  options.merge.alignment = dice.chance(50) ? 0 : dice.between(1, kPage);
  options.morph = dice.chance(75);
  using ReadAfter = EngineOptions::ReadAfter;
  options.read_after = dice.one_of({ReadAfter::submitted, ReadAfter::submitted, ReadAfter::any, ReadAfter::written});
  options.gather.on = dice.chance(80);
  options.gather.count = dice.between32(1, 30);
  options.gather.bytes = dice.between(1, 4 * kPage);
  options.gather.small = dice.between(1, 2 * kPage);
  options.gather.delay = Nanoseconds(dice.chance(60) ? 0 : dice.between(1, 50'000));
  choose_sieving(options.merge, sieve);
  choose_bounces(options.execute, bounces);
  choose_scattering(options.merge, scatter);
  options.fine_from = scatter.chance(50) ? 1024 : scatter.between32(2, 4);
  return options;
}

FaultPlan faults_of(SplitDice dice, const Without& without) {
  FaultPlan plan = draw_faults(dice, 1, 3, without);
  plan.capacity = std::numeric_limits<uint64_t>::max();
  for (HardFault& fault : plan.hard) {
    if (!fault.path_contains.empty()) fault.path_contains = fmt::format("file_{}", dice.below(4));
  }
  return plan;
}

class EngineRun final : public CompletionSink {
 public:
  EngineRun(uint64_t seed, const RunOptions& options, Story& story)
      : dice_(seed, "engine run"),
        operations_(std::min<uint64_t>(options.operations, dice_.between(10, 120))),
        crash_at_(!options.without.deaths && dice_.chance(30) ? dice_.below(operations_ + 1) : operations_ + 1),
        story_(story),
        world_(seed, {.switch_percent = 0}, story),
        disk_(seed),
        faults_{faults_of(SplitDice(seed, "engine faults"), options.without), {}, {}},
        storage_(world_, disk_, faults_, doorbell_, SplitDice(seed, "engine storage"),
                 storage_of(SplitDice(seed, "engine sizes"), options.without), "engine"),
        any_order_(SplitDice(seed, "engine order")),
        client_dice_(seed, "engine clients"),
        clients_(client_dice_.between32(1, 4)),
        engine_options_(engine_of(SplitDice(seed, "engine options"), faults_.plan, SplitDice(seed, "engine sieve"),
                                  SplitDice(seed, "engine bounces"), SplitDice(seed, "engine scatter"))),
        engine_(storage_, dice_.chance(70) ? static_cast<Scheduler&>(any_order_) : fifo_, world_.clock(),
                engine_options_) {
    storage_.ignore([this](const void* memory) { return engine_.throws_away(memory); });
  }

  void run() {
    world_.spawn("engine", 1, [this] { program(); });
    world_.run();
    if (cut_) {
      disk_.crash();
      for (size_t i = 0; i < model_.files.size(); ++i) check_after_crash(i);
      return;
    }
    story_.check(storage_.idle(), "end", "something is under way after the end");
    for (const EngineStep& step : model_.steps) story_.check(step.ended, "end", "a request has never ended");
    for (EngineFile& file : model_.files) check_file(file);
  }

  void ended(const Request& request, const Status& status) override {
    if (cut_) return;
    EngineStep& step = model_.step(static_cast<StepNumber>(request.token));
    story_.tell("ended: {} {} {}", step.number, name_of(step.operation), status.ok() ? "ok" : status.fault().message);
    story_.mix(step.number * 2 + (status.ok() ? 1 : 0));
    story_.check(!submitting_, "port", "an end is told from within submit");
    story_.check(!std::exchange(step.ended, true), "end", "a request has ended twice");
    step.failed = !status.ok();
    if (step.operation == Operation::read) check_read(step, status);
    if (step.operation == Operation::write) scribble(step);
    note_end(step, status);
    if (engine_.room() > 0 && dice_.chance(15)) submit_something();
  }

 private:
  void program() {
    for (int i = 0; i < 2; ++i) begin_file();
    for (uint64_t operation = 0; operation < operations_; ++operation) {
      if (operation == crash_at_) return cut();
      if (engine_.room() > 0 && dice_.chance(70)) submit_something();
      if (dice_.chance(40)) engine_.progress();
      if (dice_.chance(10)) sleep();
    }
    while (!engine_.idle()) sleep();
    for (size_t i = 0; i < model_.files.size(); ++i) {
      if (model_.files[i].over) continue;
      submit(i, dice_.chance(60) ? Operation::publish : Operation::close, false);
      while (!engine_.idle()) sleep();
    }
  }

  // As in ServerCore: the engine is never asleep while there is work.
  void sleep() {
    engine_.progress();
    if (engine_.idle()) return;
    doorbell_.prepare();
    engine_.progress();
    if (engine_.idle()) {
      doorbell_.cancel();
    } else {
      if (const auto due = engine_.due()) {
        world_.after(std::max(*due - world_.clock().now(), Nanoseconds::zero()), [this] { doorbell_.ring(); });
      }
      doorbell_.sleep();
    }
  }

  // Cuts the power; the rest of the engine ends unseen.
  void cut() {
    story_.tell("THE POWER IS CUT");
    cut_ = true;
    storage_.cut();
    while (!engine_.idle()) engine_.progress();
  }

  void begin_file() {
    EngineFile file;
    file.name = fmt::format("d0/file_{}", names_++);
    file.id = engine_.open(file.part(), OpenMode::create, 0, file.name);
    opening_.push_back(std::move(file));
  }

  void use_what_is_open() {
    for (EngineFile& file : std::exchange(opening_, {})) {
      if (!engine_.is_open(file.id) && !engine_.has_failed(file.id)) {
        opening_.push_back(std::move(file));
        continue;
      }
      if (!engine_.is_open(file.id)) continue;
      // Without space it stays open until the engine ends.
      const FileId id = file.id;
      engine_.carry_out(id, {.kind = FileOperation::Kind::allocate, .size = kMaxFile}, 0,
                        [this, of = std::make_shared<EngineFile>(std::move(file))](const FileOperationEnd& end) {
                          if (end.status.ok() && !cut_) use(std::move(*of));
                        });
    }
  }

  void use(EngineFile file) {
    file.writers.assign(kMaxFile, 0);
    file.synced.assign(kMaxFile, 0);
    model_.files.push_back(std::move(file));
  }

  void submit_something() {
    use_what_is_open();
    if (model_.files.empty() || (model_.files.size() < 5 && dice_.chance(4))) begin_file();
    if (model_.files.empty()) return;
    const size_t file = dice_.below(model_.files.size());
    if (model_.files[file].over) return;
    const uint64_t kind = dice_.below(100);
    if (kind < 50) return submit(file, Operation::write, false);
    if (kind < 82) return submit(file, Operation::read, false);
    if (kind < 88) return submit(file, dice_.chance(70) ? Operation::write : Operation::read, true);
    if (kind < 95) return submit(file, Operation::sync, false);
    if (kind < 98) return submit(file, Operation::publish, false);
    submit(file, dice_.chance(50) ? Operation::close : Operation::remove, false);
  }

  // Returns one to three pieces that do not overlap, in any order.
  std::vector<Extent> some_extents() {
    std::vector<Extent> extents;
    for (uint64_t count = dice_.between(1, 3); count > 0; --count) {
      Extent extent{dice_.below(kMaxFile), dice_.chance(50) ? dice_.between(1, 300) : dice_.between(1, 2 * kPage)};
      if (dice_.chance(40)) extent.offset -= extent.offset % 512;
      if (dice_.chance(25)) extent = {extent.offset / kPage * kPage, kPage * dice_.between(1, 2)};
      extent.length = std::min(extent.length, kMaxFile - extent.offset);
      const bool free =
          std::none_of(extents.begin(), extents.end(), [&](const Extent& other) { return other.overlaps(extent); });
      if (free) extents.push_back(extent);
    }
    return extents;
  }

  void submit(size_t of, Operation operation, bool fence) {
    EngineFile& file = model_.files[of];
    model_.steps.emplace_back();
    EngineStep& step = model_.steps.back();
    step.number = static_cast<StepNumber>(model_.steps.size());
    step.file = of;
    step.operation = operation;
    step.client = client_dice_.between32(1, clients_);
    Request request;
    request.client = step.client;
    request.immediate = client_dice_.chance(10);
    request.operation = operation;
    if (request.moves_bytes()) {
      step.memory.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, 2 * kMaxFile)));
      // The bytes are in memory as in the file, or shifted.
      const uint64_t shift = dice_.chance(60) ? 0 : dice_.one_of<uint64_t>({1, 64, 512, 1000});
      for (const Extent& extent : some_extents()) {
        step.pieces.push_back({extent, step.memory.get() + extent.offset + shift});
      }
    } else if (operation != Operation::sync) {
      file.over = true;
    }
    if (operation == Operation::read || operation == Operation::sync) step.before = file.writers;
    if (operation == Operation::write) take_as_written(step, file);
    request.file = file.id;
    request.pieces = step.pieces;
    request.fence = fence;
    request.sink = this;
    request.token = request.sequence = step.number;
    story_.tell("submit: {} {}{} of '{}', {} pieces, of client {}", step.number, fence ? "fence " : "",
                name_of(operation), file.name, step.pieces.size(), step.client);
    submitting_ = true;
    engine_.submit(std::move(request));
    submitting_ = false;
  }

  void take_as_written(const EngineStep& step, EngineFile& file) {
    EngineModel::fill(step);
    for (const Piece& piece : step.pieces) {
      std::fill_n(file.writers.begin() + static_cast<ptrdiff_t>(piece.extent.offset), piece.extent.length,
                  step.number);
    }
  }

  // The memory is the caller's again: a write that still uses it writes wrong bytes.
  static void scribble(const EngineStep& step) {
    for (const Piece& piece : step.pieces) std::fill_n(piece.memory, piece.extent.length, std::byte{0xee});
  }

  void check_read(EngineStep& step, const Status& status) {
    for (const Piece& piece : step.pieces) {
      for (uint64_t i = 0; i < piece.extent.length; ++i) {
        const uint64_t offset = piece.extent.offset + i;
        const StepNumber writer = step.before[offset];
        const bool there = writer == 0 || model_.step(writer).ended || may_be_served(step, model_.step(writer));
        story_.check(there, "order", "a read ended before a write it depends on");
        if (!status.ok() || model_.may_be(piece.memory[i], writer, offset)) continue;
        story_.fail("read", fmt::format("request {} read a wrong byte at {}: it is not of request {}", step.number,
                                        offset, writer));
      }
    }
  }

  // Returns true if the memory of the write may have served the read.
  bool may_be_served(const EngineStep& read, const EngineStep& write) const {
    using ReadAfter = EngineOptions::ReadAfter;
    if (engine_options_.read_after == ReadAfter::written) return false;
    return engine_options_.read_after == ReadAfter::any || read.client == write.client;
  }

  void note_end(EngineStep& step, const Status& status) {
    EngineFile& file = model_.files[step.file];
    if (!status.ok()) check_cause(step, file, status.fault());
    if (!status.ok() && step.operation != Operation::read) file.failed = true;
    switch (step.operation) {
      case Operation::sync:
        if (!status.ok()) return;
        file.synced = std::move(step.before);
        file.synced_by = step.number;
        return;
      case Operation::publish:
        story_.check(!status.ok() || !file.failed, "published", "a file of which something failed was published");
        file.published = status.ok();
        file.gone = true;
        return;
      case Operation::remove:
        file.removed = status.ok();
        file.gone = true;
        return;
      case Operation::close: file.gone = true; return;
      case Operation::truncate:  // the engine's program draws neither
      case Operation::rename:
      case Operation::read:
      case Operation::write: return;
    }
  }

  // Checks that a failure has a cause: a fault of this file, or an earlier failure.
  void check_cause(const EngineStep& step, const EngineFile& file, const Fault& fault) {
    if (file.failed && fault.code == TAILRACE_NOT_PUBLISHED) return;
    for (const Cause& cause : faults_.causes) {
      if (cause.path == file.part() && cause.error == fault.system_errno) return;
    }
    story_.fail("telling", fmt::format("request {} failed without a cause: {}", step.number, fault.message));
  }

  // Returns true if `found` may be there: from the last write that succeeded, or any after it that failed.
  bool may_remain(std::byte found, const EngineFile& file, uint64_t offset) {
    if (!model_.may_be(found, file.writers[offset], offset)) return false;
    if (file.writers[offset] == 0 || !model_.step(file.writers[offset]).failed) return true;
    for (auto step = model_.steps.rbegin(); step != model_.steps.rend(); ++step) {
      if (&model_.files[step->file] != &file || step->operation != Operation::write || !step->covers(offset))
        continue;
      if (found == byte_of(step->number, offset)) return true;
      if (!step->failed) return false;
    }
    return found == std::byte{0};
  }

  // Call it after everything has ended.
  void check_file(EngineFile& file) {
    const InodePointer part = disk_.find(file.part());
    const InodePointer named = disk_.find(file.name);
    story_.check((named != nullptr) == file.published, "published", "what was published is not what is there");
    story_.check((part != nullptr) == (!file.published && !file.removed), "left over", "a .part is there, or is not");
    if (!file.over || (part == nullptr && named == nullptr)) return;
    const std::vector<std::byte>& bytes = (named ? named : part)->bytes;
    for (uint64_t offset = 0; offset < kMaxFile; ++offset) {
      const std::byte found = offset < bytes.size() ? bytes[offset] : std::byte{0};
      if (may_remain(found, file, offset)) continue;
      story_.fail("content", fmt::format("byte {} of '{}' is not what request {} wrote last", offset, file.name,
                                         file.writers[offset]));
    }
  }

  // Each byte is as at the last sync, or from a later write.
  void check_after_crash(size_t of) {
    const EngineFile& file = model_.files[of];
    const InodePointer found = disk_.find(file.published ? file.name : file.part());
    if (found == nullptr || file.synced_by == 0) return;
    for (uint64_t offset = 0; offset < kMaxFile; ++offset) {
      const std::byte byte = offset < found->bytes.size() ? found->bytes[offset] : std::byte{0};
      if (model_.may_be(byte, file.synced[offset], offset)) continue;
      bool later = false;
      for (size_t i = file.synced_by; i < model_.steps.size() && !later; ++i) {
        const EngineStep& step = model_.steps[i];
        later = step.file == of && step.operation == Operation::write && step.covers(offset);
      }
      if (!later) {
        story_.fail("durable", fmt::format("byte {} of '{}' was synced by request {}, and is lost", offset, file.name,
                                           file.synced_by));
      }
    }
  }

  SplitDice dice_;
  const uint64_t operations_;
  const uint64_t crash_at_;
  Story& story_;
  World world_;
  SimDisk disk_;
  Faults faults_;
  Doorbell doorbell_;
  SimStorage storage_;
  Fifo fifo_;
  AnyOrder any_order_;
  EngineModel model_;
  std::vector<EngineFile> opening_;
  SplitDice client_dice_;
  const uint32_t clients_;
  const EngineOptions engine_options_;
  Engine engine_;
  uint64_t names_ = 0;  // no name is reused
  bool submitting_ = false;
  bool cut_ = false;
};

}  // namespace

void run_engine(uint64_t seed, const RunOptions& options, Story& story) { EngineRun(seed, options, story).run(); }

}  // namespace tailrace::impl::simulation
