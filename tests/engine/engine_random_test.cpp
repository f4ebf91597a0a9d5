// Random programs on the engine over a storage that misbehaves, compared with a plain model of files: for every byte,
// the writes that touched it, in the order they were made.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/names/counted.hpp"
#include "engine/schedule/adaptive.hpp"
#include "engine/schedule/hbrr.hpp"
#include "engine/schedule/twins.hpp"
#include "engine_rig.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kFileBytes = 24 << 10;
constexpr uint64_t kPageBytes = 4096;

// Hands out ready requests in any order: every order is right.
class AnyOrder final : public Scheduler {
 public:
  explicit AnyOrder(uint64_t seed) : dice_(seed) {}
  void push(const Request* request) override { ready_.push_back(request); }
  const Request* next(Nanoseconds /*now*/) override {
    if (ready_.empty()) return nullptr;
    std::swap(ready_[dice_.below(ready_.size())], ready_.back());
    const Request* request = ready_.back();
    ready_.pop_back();
    return request;
  }

 private:
  Dice dice_;
  std::vector<const Request*> ready_;
};

enum class Order { fifo, any, hbrr, twins, adaptive };

// Makes a scheduler, with numbers that the dice choose; null: the rig's fifo.
std::unique_ptr<Scheduler> make_order(Order order, Dice& dice) {
  Twins::Options twins;
  twins.forwarder = static_cast<uint32_t>(dice.below(9));
  twins.servers = static_cast<uint32_t>(dice.below(4));
  twins.window = Nanoseconds(dice.between(1, 5000));
  twins.batch = static_cast<uint32_t>(dice.between(1, 20));
  const std::vector<Nanoseconds> windows = {Nanoseconds(0), Nanoseconds(300), Nanoseconds(5000)};
  switch (order) {
    case Order::fifo: return nullptr;
    case Order::any: return std::make_unique<AnyOrder>(dice.below(UINT32_MAX));
    case Order::hbrr: return std::make_unique<Hbrr>(Hbrr::Options{1 + twins.forwarder, twins.batch});
    case Order::twins: return std::make_unique<Twins>(twins);
    case Order::adaptive: return std::make_unique<Adaptive>(Adaptive::Options{twins, windows, dice.below(100)});
  }
  return nullptr;
}

// One request, as the model remembers it.
struct Step {
  uint64_t token = 0;
  Operation operation = Operation::write;
  bool fence = false;
  uint32_t client = 0;
  std::vector<Piece> pieces;
  std::unique_ptr<std::byte, void (*)(void*)> memory{nullptr, std::free};
  std::set<uint64_t> unended;  // tokens of earlier steps of the file that had not ended when this was submitted

  bool covers(uint64_t offset) const { return byte_at(offset) != nullptr; }
  // Returns where the byte at `offset` of the file is in memory, or null.
  const std::byte* byte_at(uint64_t offset) const {
    for (const Piece& piece : pieces) {
      if (piece.extent.offset <= offset && offset < piece.extent.end()) {
        return piece.memory + (offset - piece.extent.offset);
      }
    }
    return nullptr;
  }
  bool overlaps(const Step& other) const {
    for (const Piece& a : pieces) {
      for (const Piece& b : other.pieces) {
        if (a.extent.overlaps(b.extent)) return true;
      }
    }
    return false;
  }
  bool is_fence() const { return fence || (operation != Operation::write && operation != Operation::read); }
};

struct ModelFile {
  std::string name;
  FileId id = 0;
  bool over = false;  // a publish, close or remove has been submitted
  std::deque<Step> steps;
  std::string part() const { return name + ".part"; }
};

class Program {
 public:
  // `exact`: only bad ranges fail, so the test knows which requests must fail.
  Program(uint64_t seed, bool exact) : Program(seed, exact, Dice(seed).chance(50) ? Order::any : Order::fifo) {}
  Program(uint64_t seed, bool exact, Order order)
      : dice_(seed), exact_(exact), scheduler_(make_order(order, dice_)), rig_(options(seed), scheduler_.get()) {
    if (dice_.chance(80)) rig_.picky.set_stripes({dice_.between(1, 6000), {2, 0, 1}});
    rig_.ends.then = [this](const Request&, const Status&) {
      if (rig_.engine.room() > 0 && dice_.chance(15)) submit_something();
    };
  }

  void run() {
    for (int i = 0; i < 3; ++i) begin_file();
    const uint64_t length = dice_.between(20, 120);
    for (uint64_t i = 0; i < length; ++i) {
      if (rig_.engine.room() > 0 && dice_.chance(70)) submit_something();
      if (dice_.chance(10)) rig_.clock.advance(Nanoseconds(dice_.below(dice_.chance(5) ? 60'000'000 : 3000)));
      if (dice_.chance(40)) rig_.engine.progress(dice_.chance(7) ? Urgency::waiting : Urgency::none);
      ASSERT_EQ(rig_.engine.room(), max_pending_ - (rig_.next_token - 1 - rig_.ends.all.size()));
    }
    rig_.run_until_idle();
    rig_.ends.then = nullptr;
    for (ModelFile& file : files_) {
      if (!file.over) submit(file, dice_.chance(60) ? Operation::publish : Operation::close);
      rig_.run_until_idle();
    }
    EXPECT_EQ(rig_.ends.all.size(), rig_.next_token - 1) << "not every request ended";
    EXPECT_EQ(rig_.faults.under_way(), 0u);
    for (const ModelFile& file : files_) check(file);
  }

 private:
  EngineRigOptions options(uint64_t seed) {
    EngineRigOptions options;
    options.seed = seed;
    options.depth = static_cast<uint32_t>(dice_.between(1, 12));
    options.segments = static_cast<uint32_t>(dice_.between(1, 6));
    FaultPlan& plan = options.plan;
    plan.short_percent = dice_.chance(50) ? 40 : 0;
    plan.eintr_percent = dice_.chance(50) ? 20 : 0;
    plan.eagain_percent = dice_.chance(50) ? 20 : 0;
    plan.delay_reaps = static_cast<uint32_t>(dice_.below(8));
    plan.reorder = dice_.chance(70);
    plan.pretend_direct = dice_.chance(50) ? kPageBytes : 0;
    if (!exact_) add_rules(plan);
    max_pending_ = static_cast<uint32_t>(dice_.between(1, 40));
    options.engine.max_pending = max_pending_;
    options.engine.merge.largest = dice_.between(1, 3 * kPageBytes);
    options.engine.merge.alignment = dice_.chance(50) ? 0 : dice_.between(1, 600);
    options.engine.morph = morph_ = dice_.chance(60);
    using ReadAfter = EngineOptions::ReadAfter;
    const ReadAfter reads[] = {ReadAfter::submitted, ReadAfter::any, ReadAfter::written};
    options.engine.read_after = read_after_ = reads[dice_.below(std::size(reads))];
    options.engine.gather.on = dice_.chance(80);
    options.engine.gather.count = static_cast<uint32_t>(dice_.between(1, 30));
    options.engine.gather.bytes = dice_.between(1, 4 * kPageBytes);
    options.engine.gather.small = dice_.between(1, 2 * kPageBytes);
    options.engine.gather.delay = Nanoseconds(dice_.chance(50) ? 0 : dice_.between(1, 1000));
    options.engine.merge.sieve = dice_.chance(50) ? 0 : dice_.between(1, 400);
    options.engine.merge.waste = dice_.chance(50) ? 0.5 : 1.0;
    options.engine.merge.scatter = dice_.chance(50) ? 0 : dice_.between(1, 400);
    fine_ = dice_.chance(30);
    if (fine_) options.engine.fine_from = static_cast<uint32_t>(dice_.between(2, 4));
    options.engine.merge.scatter_from = static_cast<uint32_t>(dice_.between(1, 3));
    options.engine.execute.largest_transfer = kPageBytes * dice_.between(1, 3);
    options.engine.execute.direct_from = dice_.chance(50) ? 0 : 2 * kPageBytes;
    options.engine.execute.bounce_bytes = dice_.chance(50) ? 0 : kPageBytes;
    options.engine.execute.bounce_count = static_cast<uint32_t>(dice_.between(1, 3));
    return options;
  }

  void add_rules(FaultPlan& plan) {
    for (uint64_t rules = dice_.between(1, 3); rules > 0; --rules) {
      FaultRule rule;
      const FaultOn kinds[] = {FaultOn::write, FaultOn::write,  FaultOn::read,
                               FaultOn::sync,  FaultOn::rename, FaultOn::remove};
      rule.on = kinds[dice_.below(std::size(kinds))];
      if (dice_.chance(70)) rule.path_contains = "f" + std::to_string(dice_.below(4)) + ".part";
      rule.first = dice_.below(20);
      rule.times = dice_.chance(50) ? 1 : FaultRule::kForever;
      rule.error = dice_.chance(50) ? EIO : ENOSPC;
      rule.torn = rule.on == FaultOn::write && dice_.chance(50);
      plan.rules.push_back(rule);
    }
  }

  void begin_file() {
    files_.push_back({"f" + std::to_string(files_.size()), 0, false, {}});
    ModelFile& file = files_.back();
    file.id = rig_.create(file.name, kFileBytes);
    while (exact_ && dice_.chance(50)) {
      rig_.picky.spoil(file.part(), {dice_.below(kFileBytes), dice_.between(1, 300)});
    }
  }

  void submit_something() {
    std::vector<ModelFile*> open;
    for (ModelFile& file : files_) {
      if (!file.over) open.push_back(&file);
    }
    if (open.empty()) return begin_file();
    ModelFile& file = *open[dice_.below(open.size())];
    const uint64_t kind = dice_.below(100);
    if (kind < 60) return submit(file, Operation::write);
    if (kind < 90) return submit(file, Operation::read);
    if (kind < 96) return submit(file, Operation::sync);
    const Operation lasts[] = {Operation::publish, Operation::publish, Operation::close, Operation::remove};
    submit(file, lasts[dice_.below(std::size(lasts))]);
  }

  std::vector<Extent> some_extents() {
    std::vector<Extent> extents;
    const bool large = dice_.chance(25);
    uint64_t at = large ? kPageBytes * dice_.below(3) + (dice_.chance(50) ? 0 : dice_.below(100))
                        : dice_.below(dice_.chance(50) ? 300 : kFileBytes - 200);
    for (uint64_t pieces = large ? 1 : dice_.between(1, 3); pieces > 0; --pieces) {
      const uint64_t length = large ? dice_.between(kPageBytes, 3 * kPageBytes) : dice_.between(1, 40);
      extents.push_back({at, length});
      at += length + (dice_.chance(50) ? 0 : dice_.below(20));
    }
    return extents;
  }

  void submit(ModelFile& file, Operation operation) {
    Step step;
    step.operation = operation;
    if (operation == Operation::write || operation == Operation::read) {
      step.fence = dice_.chance(6);
      step.client = static_cast<uint32_t>(dice_.below(2));
      // Half of the time memory has the same offset within a page as the file, so that transfers can be direct.
      const uint64_t shift = dice_.chance(50) ? 0 : dice_.below(64);
      step.memory.reset(static_cast<std::byte*>(std::aligned_alloc(kPageBytes, kFileBytes + 2 * kPageBytes)));
      for (const Extent& extent : some_extents()) {
        std::byte* const memory = step.memory.get() + extent.offset + shift;
        for (uint64_t i = 0; i < extent.length; ++i) memory[i] = static_cast<std::byte>(1 + dice_.below(255));
        step.pieces.push_back({extent, memory});
      }
    }
    file.over = operation == Operation::publish || operation == Operation::close || operation == Operation::remove;
    for (const Step& earlier : file.steps) {
      if (!rig_.ends.has(earlier.token)) step.unended.insert(earlier.token);
    }
    // Known to the model before it is submitted.
    step.token = rig_.next_token;
    file.steps.push_back(std::move(step));
    const Step& known = file.steps.back();
    rig_.submit(operation, file.id, known.pieces, known.fence, known.client, dice_.chance(10));
  }

  bool failed(const Step& step) const { return !rig_.ends.of(step.token).ok(); }

  // Returns true if an injected fault of this kind came upon the file.
  bool injected(const ModelFile& file, FaultOn on) const {
    return std::any_of(rig_.faults.log().begin(), rig_.faults.log().end(), [&](const FaultEvent& event) {
      return event.on == on && event.path == file.part() && event.result < 0 && event.result != -EINTR &&
             event.result != -EAGAIN;
    });
  }

  bool touches_bad_bytes(const ModelFile& file, const Step& step) const {
    return std::any_of(step.pieces.begin(), step.pieces.end(),
                       [&](const Piece& piece) { return rig_.picky.is_bad(file.part(), piece.extent); });
  }

  // Returns true if a fault of the storage may have (exact: must have) ended the step by itself.
  bool fault_of_its_own(const ModelFile& file, const Step& step) const {
    switch (step.operation) {
      case Operation::write: return exact_ ? touches_bad_bytes(file, step) : injected(file, FaultOn::write);
      case Operation::read: return exact_ ? touches_bad_bytes(file, step) : injected(file, FaultOn::read);
      case Operation::sync: return injected(file, FaultOn::sync);
      case Operation::publish: return injected(file, FaultOn::rename);
      case Operation::remove: return injected(file, FaultOn::remove);
      case Operation::truncate:  // which this test does not draw, like renames
      case Operation::rename:
      case Operation::close: return false;
    }
    return false;
  }

  static bool waits_for(const Step& step, const Step& earlier) { return step.unended.contains(earlier.token); }

  // Returns true if `step` waited for a write that failed, and whose bytes it would have read.
  bool inherits(const ModelFile& file, size_t number, bool may_steal = true) const {
    const Step& step = file.steps[number];
    if (step.operation != Operation::read) return false;
    // A fence before it already accounts for requests that the fence waits for.
    size_t first = number;
    while (first > 0 && !(file.steps[first].is_fence() && waits_for(step, file.steps[first]))) --first;
    const Step& fence = file.steps[first];
    const bool behind_fence = fence.is_fence() && waits_for(step, fence);
    std::set<uint64_t> seen;  // bytes of which the last write is known
    for (size_t i = number; i-- > first;) {
      const Step& earlier = file.steps[i];
      if (earlier.operation != Operation::write || !waits_for(step, earlier)) continue;
      const bool whole = earlier.fence || step.fence;
      if (whole && failed(earlier)) return true;
      if (whole) continue;
      const bool steals = may_steal && !behind_fence && read_after_ != EngineOptions::ReadAfter::written &&
                          (read_after_ == EngineOptions::ReadAfter::any || step.client == earlier.client);
      for (const Piece& piece : step.pieces) {
        for (uint64_t at = piece.extent.offset; at < piece.extent.end(); ++at) {
          if (earlier.covers(at) && seen.insert(at).second && !steals && failed(earlier)) return true;
        }
      }
    }
    return false;
  }

  // Returns true if a later write may have taken bytes over from it, and failed.
  bool lost_by_another(const ModelFile& file, size_t number) const {
    const Step& step = file.steps[number];
    if (!morph_ || step.operation != Operation::write) return false;
    return std::any_of(file.steps.begin() + static_cast<ptrdiff_t>(number) + 1, file.steps.end(),
                       [&](const Step& later) {
                         return later.operation == Operation::write && later.client == step.client &&
                                waits_for(later, step) && later.overlaps(step) && failed(later);
                       });
  }

  // Returns true if the fault of its own may have passed it by, since its bytes came from memory.
  bool may_be_served(const Step& step) const {
    return step.operation == Operation::read && read_after_ != EngineOptions::ReadAfter::written;
  }

  void check(const ModelFile& file) const {
    bool file_failed = false;  // something that the whole file depends on has failed
    for (size_t number = 0; number < file.steps.size(); ++number) {
      const Step& step = file.steps[number];
      SCOPED_TRACE(file.name + ": " + name_of(step.operation) + " " + std::to_string(step.token));
      const bool told =
          step.is_fence() && file_failed && step.operation != Operation::close && step.operation != Operation::remove;
      const bool inherited = inherits(file, number);
      const bool own = fault_of_its_own(file, step);
      const bool certain = told || (inherited && !morph_) || (exact_ && own && !may_be_served(step));
      if (certain) {
        EXPECT_TRUE(failed(step));
      } else if (failed(step)) {
        // Nothing is copied from the memory of fine writes.
        const bool waited = fine_ && inherits(file, number, false);
        EXPECT_TRUE(inherited || waited || own || lost_by_another(file, number))
            << rig_.ends.of(step.token).fault().message;
      }
      if (exact_ && failed(step) && !told && !inherited && !fine_ && !lost_by_another(file, number)) {
        check_piece(file, step);
      }
      if (step.operation == Operation::read && !failed(step)) check_read(file, step);
      if (failed(step) && step.operation != Operation::read) file_failed = true;
    }
    check_end(file);
  }

  // The failure of a list itself names the piece, and that has bad bytes.
  void check_piece(const ModelFile& file, const Step& step) const {
    if (step.pieces.size() < 2) return;
    const std::string& message = rig_.ends.of(step.token).fault().message;
    std::vector<uint64_t> offsets;
    for (const Piece& piece : step.pieces) offsets.push_back(piece.extent.offset);
    std::sort(offsets.begin(), offsets.end());
    const bool names_a_bad_one = std::any_of(step.pieces.begin(), step.pieces.end(), [&](const Piece& piece) {
      const auto before = std::lower_bound(offsets.begin(), offsets.end(), piece.extent.offset) - offsets.begin();
      const std::string name = ": piece " + std::to_string(before + 1) + " of " + std::to_string(offsets.size()) +
                               ", " + counted(piece.extent.length, "byte") + " at offset " +
                               std::to_string(piece.extent.offset);
      return message.ends_with(name) && rig_.picky.is_bad(file.part(), piece.extent);
    });
    EXPECT_TRUE(names_a_bad_one) << message;
  }

  // Returns true if a step may find that byte at `offset`: from the last write that succeeded, or any failed one
  // after it.
  bool may_be(const ModelFile& file, const Step* before, uint64_t offset, std::byte value) const {
    auto step = file.steps.rbegin();
    while (before != nullptr && &*step != before) ++step;
    if (before != nullptr) ++step;
    for (; step != file.steps.rend(); ++step) {
      if (step->operation != Operation::write || !step->covers(offset)) continue;
      if (*step->byte_at(offset) == value) return true;
      if (!failed(*step)) return false;
    }
    return value == std::byte{0};
  }

  void check_read(const ModelFile& file, const Step& step) const {
    for (const Piece& piece : step.pieces) {
      for (uint64_t at = piece.extent.offset; at < piece.extent.end(); ++at) {
        ASSERT_TRUE(may_be(file, &step, at, *step.byte_at(at))) << "byte " << at;
      }
    }
  }

  void check_end(const ModelFile& file) const {
    const Step& last = file.steps.back();
    const bool published = last.operation == Operation::publish && !failed(last);
    const bool removed = last.operation == Operation::remove && !failed(last);
    const MemoryStorage::Bytes* bytes = rig_.memory.contents(published ? file.name : file.part());
    if (!published) {
      EXPECT_EQ(rig_.memory.contents(file.name), nullptr) << "published after a failure";
    }
    if (removed) {
      EXPECT_EQ(bytes, nullptr);
      return;
    }
    ASSERT_NE(bytes, nullptr);
    ASSERT_EQ(bytes->size(), kFileBytes);
    for (uint64_t at = 0; at < kFileBytes; ++at) {
      ASSERT_TRUE(may_be(file, nullptr, at, (*bytes)[at])) << file.name << " at the end, byte " << at;
    }
    if (!published) return;
    for (const Step& step : file.steps) {
      if (step.operation != Operation::read) {
        EXPECT_FALSE(failed(step)) << "published all the same";
      }
    }
  }

  Dice dice_;
  const bool exact_;
  const std::unique_ptr<Scheduler> scheduler_;
  uint32_t max_pending_ = 0;
  bool morph_ = false;
  bool fine_ = false;
  EngineOptions::ReadAfter read_after_ = EngineOptions::ReadAfter::written;
  EngineRig rig_;
  std::deque<ModelFile> files_;
};

TEST(EngineRandom, OnlyRequestsThatTouchBadBytesFail) {
  for_seeds(300, [](uint64_t seed) { Program(seed, true).run(); });
}

TEST(EngineRandom, WhateverFailsTheModelHolds) {
  for_seeds(300, [](uint64_t seed) { Program(seed, false).run(); });
}

TEST(EngineRandom, TheModelHoldsWithHbrr) {
  for_seeds(150, [](uint64_t seed) { Program(seed, seed % 2 == 0, Order::hbrr).run(); });
}

TEST(EngineRandom, TheModelHoldsWithTwins) {
  for_seeds(150, [](uint64_t seed) { Program(seed, seed % 2 == 0, Order::twins).run(); });
}

TEST(EngineRandom, TheModelHoldsWithAdaptive) {
  for_seeds(150, [](uint64_t seed) { Program(seed, seed % 2 == 0, Order::adaptive).run(); });
}

}  // namespace
}  // namespace tailrace::impl
