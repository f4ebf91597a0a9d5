#include "testing/simulation/joint_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/schedule/fifo.hpp"
#include "format/hdf5/hdf5_format.hpp"
#include "publish/file_group.hpp"
#include "runtime/output/earlier_files.hpp"
#include "runtime/output/output_directories.hpp"
#include "server/replay.hpp"
#include "testing/hdf5_file.hpp"
#include "testing/sample_config.hpp"
#include "testing/simulation/sim_process.hpp"

namespace tailrace::impl::simulation {
namespace {

constexpr uint64_t kMostSleeps = 100'000;  // of a node; more is a hang

// A block of an array: some of its rows.
struct RowBlock {
  uint32_t array = 0;
  uint64_t first = 0;  // row
  uint64_t rows = 0;
};

struct Array {
  uint64_t rows = 0;  // for each iteration, times its scale
  uint64_t columns = 0;
};

// Which node has which rows in which iteration of a run, and of the run after it. The iterations of both runs are
// counted through; the next run may write some numbers of the first one again.
struct JointPlan {
  uint32_t nodes = 0;
  int64_t iterations = 0;        // of both runs
  int64_t iterations_first = 0;  // of these, the first run's; all: it is the only one
  int64_t again = 0;             // how many numbers of the first run's last iterations the next one writes again
  std::vector<Array> arrays;
  std::vector<uint64_t> scales;                            // by iteration
  std::vector<std::vector<std::vector<RowBlock>>> blocks;  // by node and iteration
  Durability durability = Durability::written;
  XdmfIterations xdmf = XdmfIterations::none;

  bool has_next_run() const { return iterations_first < iterations; }
  // Returns the number that programs and files give the iteration.
  int64_t number_of(int64_t iteration) const { return iteration < iterations_first ? iteration : iteration - again; }
  // Returns true if the next run writes this iteration of the first run again.
  bool is_written_again(int64_t iteration) const {
    return iteration < iterations_first && iteration >= iterations_first - again && iteration + again < iterations;
  }
  // TODO(joint): a node's server dies, and the next one finds the file of the earlier run: without a block of its own
  // in the iteration, it cannot tell that from the file of its run, and takes it for that.
  bool has_node_without_block_again() const {
    for (int64_t iteration = iterations_first; iteration < std::min(iterations, iterations_first + again);
         ++iteration) {
      for (const auto& of_node : blocks) {
        if (of_node[static_cast<size_t>(iteration)].empty()) return true;
      }
    }
    return false;
  }
  std::string path_of(int64_t iteration) const { return fmt::format("d0/sim_It{}.h5", number_of(iteration)); }
  uint64_t rows_of(uint32_t array, int64_t iteration) const {
    return arrays[array].rows * scales[static_cast<size_t>(iteration)];
  }
};

std::string name_of_array(uint32_t array) { return fmt::format("group/v{}", array); }

std::byte value_at(int64_t iteration, uint32_t array, uint64_t row, uint64_t column) {
  return static_cast<std::byte>(mixed(static_cast<uint64_t>(iteration) * 977 + array * 131 + row * 31 + column));
}

JointPlan draw_plan(SplitDice dice, const RunOptions& options) {
  JointPlan plan;
  plan.nodes = options.without.company ? 1 + 1 : dice.between32(2, 4);
  plan.iterations = static_cast<int64_t>(std::min<uint64_t>(options.operations, dice.between(1, 4)));
  plan.iterations_first = plan.iterations;
  if (!options.without.restarts && dice.chance(60)) plan.iterations += static_cast<int64_t>(dice.between(1, 2));
  for (uint64_t i = dice.between(1, 3); i > 0; --i)
    plan.arrays.push_back({dice.between(1, 9), dice.between(1, 1500)});
  for (int64_t i = 0; i < plan.iterations; ++i) plan.scales.push_back(dice.chance(70) ? 1 : dice.between(1, 3));
  plan.blocks.assign(plan.nodes, std::vector<std::vector<RowBlock>>(static_cast<size_t>(plan.iterations)));
  for (int64_t iteration = 0; iteration < plan.iterations; ++iteration) {
    for (uint32_t array = 0; array < plan.arrays.size(); ++array) {
      if (dice.chance(15)) continue;  // nobody writes it
      for (uint64_t row = 0; row < plan.rows_of(array, iteration);) {
        const uint64_t rows = std::min(dice.between(1, 4), plan.rows_of(array, iteration) - row);
        const auto node = static_cast<size_t>(dice.below(plan.nodes));
        if (!dice.chance(10)) plan.blocks[node][static_cast<size_t>(iteration)].push_back({array, row, rows});
        row += rows;
      }
    }
  }
  plan.durability = dice.chance(30) ? Durability::durable : Durability::written;
  plan.xdmf = dice.chance(70) ? XdmfIterations::none : dice.one_of({XdmfIterations::first, XdmfIterations::every});
  if (plan.has_next_run() && dice.chance(50))
    plan.again = static_cast<int64_t>(dice.between(1, static_cast<uint64_t>(plan.iterations_first)));
  if (plan.has_node_without_block_again()) plan.again = 0;
  return plan;
}

Config config_of(const JointPlan& plan, uint32_t node, Existing existing) {
  std::vector<SampleVariable> variables;
  for (uint32_t array = 0; array < plan.arrays.size(); ++array) {
    variables.push_back({name_of_array(array), ElementType::uint8, {1, plan.arrays[array].columns}});
  }
  Config config = sample_config({"d0"}, variables);
  for (Variable& variable : config.variables) variable.dataset = variable.name;
  config.storage.file_per = FilePer::job;
  config.storage.durability = plan.durability;
  config.storage.existing = existing;
  config.place.nodes = static_cast<int>(plan.nodes);
  config.place.node = static_cast<int>(node);
  config.format.kind = FormatKind::plain;
  config.format.file = "sim_It{iteration}.h5";
  config.format.xdmf = plan.xdmf;
  return config;
}

FaultPlan faults_of(SplitDice dice, const JointPlan& plan, const Without& without) {
  FaultPlan faults = draw_faults(dice, 1, 1, without);
  faults.capacity = std::numeric_limits<uint64_t>::max();
  const auto iterations = static_cast<uint64_t>(plan.iterations);
  for (HardFault& fault : faults.hard) {
    const std::string file = fmt::format("sim_It{}.h5.part", dice.below(iterations));
    fault.path_contains = dice.chance(50) ? file : fmt::format("{}.n{}", file, dice.below(plan.nodes));
  }
  return faults;
}

// The opening of the next run: it begins when the first one has ended or died on all nodes. Its clients write when
// all nodes have opened, as after a barrier of theirs.
struct Opening {
  uint32_t ended = 0;
  uint32_t opened = 0;
  uint32_t lost = 0;  // nodes that never open
};

// A node: what outlives its servers (clients' memory, and the ledger), and the server.
class JointNode final : public CompletionSink, public GroupMember, public Witness {
 public:
  JointNode(World& world, SimDisk& disk, Faults& faults, const JointPlan& plan, Opening& opening, uint32_t number,
            uint64_t seed, const RunOptions& options)
      : world_(world),
        disk_(disk),
        faults_(faults),
        plan_(plan),
        opening_(opening),
        number_(number),
        config_(config_of(plan, number, Existing::refuse)),
        config_next_(config_of(plan, number, Existing::resume)),
        seed_(seed),
        dice_(seed, "joint node", number),
        name_(fmt::format("node {}", number)) {
    for (int64_t iteration = 0; iteration < plan.iterations; ++iteration) {
      const auto& blocks = plan.blocks[number][static_cast<size_t>(iteration)];
      for (size_t block = 0; block < blocks.size(); ++block) verbs_.push_back({iteration, block});
      verbs_.push_back({iteration, std::nullopt});
      for (const RowBlock& block : blocks)
        memory_[{iteration, block.array, block.first}] = bytes_of(iteration, block);
    }
    while (verbs_of_first_ < verbs_.size() && verbs_[verbs_of_first_].iteration < plan.iterations_first) {
      ++verbs_of_first_;
    }
    // All its processes die, and leave what they had in shared memory to the next run.
    if (plan.has_next_run() && dice_.chance(60)) dies_at_ = dice_.below(10 + 15 * verbs_of_first_);
    if (options.without.server_deaths) return;
    for (uint64_t deaths = dice_.chance(50) ? dice_.between(1, 2) : 0; deaths > 0; --deaths) {
      deaths_.insert(dice_.below(20 + 15 * verbs_.size()));
    }
    dies_for_good_ = !options.without.restarts && dice_.chance(10);
  }

  // The body of its fiber.
  void run() {
    start(config_);
    const bool lives = serve(plan_.iterations_first, verbs_of_first_);
    if (!lives && !plan_.has_next_run()) return;
    ++opening_.ended;
    if (plan_.has_next_run()) {
      if (!lives && dies_for_good_) return lose();
      wait_until([this] { return opening_.ended == plan_.nodes; });
      world_.sleep(this, Nanoseconds(dice_.below(400'000)));
      if (!lives) drain();
      if (!open_next_run()) return lose();
      if (wait_for_all() && !serve(plan_.iterations, verbs_.size())) return;
      end();
    }
    closed_ = true;
  }

  bool closed() const { return closed_; }
  // Returns true if the node's data for the iteration are confirmed: its client has ended it, and can end itself.
  bool has_confirmed(int64_t iteration) const { return confirmed_.contains(iteration); }
  bool is_lost() const { return is_lost_; }
  // Returns true if a client heard of a failure in the iteration.
  bool heard_of_failure(int64_t iteration) const {
    return failures_.contains(iteration) || (ends_.contains(iteration) && !ends_.at(iteration).ok()) || told_;
  }

  // ---- CompletionSink ----
  void ended(const Request& request, const Status& status) override {
    if (dead_) return;
    Verb& verb = verbs_[request.token];
    verb.written = true;
    if (status.ok()) return;
    world_.story().tell("{}: a block of iteration {} is lost: {}", name_, verb.iteration, status.fault().message);
    server_->group.iterations().fail(plan_.number_of(verb.iteration), status);
  }

  // ---- GroupMember ----
  int client() const override { return static_cast<int>(number_); }
  void left(int64_t number, const Departure& how) override {
    if (dead_) return;
    world_.story().tell("{}: iteration {} has left: {}", name_, number,
                        how.status.ok() ? "ok" : how.status.fault().message);
    ends_[iteration_of(number)] = how.status;
  }
  void gone(int64_t) override {}
  void tell(const Status& failure) override {
    world_.story().tell("{}: {}", name_, failure.fault().message);
    told_ = true;
  }

  // ---- Witness ----
  void failed(int64_t number, const Status& why) override {
    if (!dead_) failures_[iteration_of(number)] = why;
  }
  void left(int64_t number) override {
    if (!dead_) left_.insert(iteration_of(number));
  }
  void unpublished(int64_t number, const Status&) override { left(number); }
  void journaled(uint64_t) override {}
  Status doubt(int64_t) override { return {}; }
  void placed(const Block&, uint64_t, const FilteredChunk&, const Loss&) override {}

 private:
  struct Verb {
    int64_t iteration = 0;
    std::optional<size_t> block;  // none: the end of the iteration
    bool written = false;         // the block's request has ended
  };
  struct Server {
    Server(JointNode& node, const Config& config, uint32_t number)
        : log(node.world_.story()),
          storage(node.world_, node.disk_, node.faults_, doorbell, SplitDice(node.seed_, node.name_, number),
                  {.depth = SplitDice(node.seed_, node.name_ + " depth").between32(1, 8)}, node.name_),
          engine(storage, fifo, node.world_.clock(), {}),
          format(config, storage, {0, "machine", [] { return std::string("now"); }}),
          group(config.storage, engine, format, log, node, {.clients = 1, .journal = "d0/sim.dropped"}) {
      // Two nodes may complete a file at once: they write the same metadata.
      storage.ignore([&node](const void* memory) { return !node.has(memory); });
    }
    StoryLog log;
    Doorbell doorbell;
    SimStorage storage;
    std::vector<std::unique_ptr<NameLock>> locks;
    Fifo fifo;
    Engine engine;
    Hdf5Format format;
    FileGroup group;
  };

  std::vector<std::byte> bytes_of(int64_t iteration, const RowBlock& block) const {
    std::vector<std::byte> bytes;
    for (uint64_t row = block.first; row < block.first + block.rows; ++row) {
      for (uint64_t column = 0; column < plan_.arrays[block.array].columns; ++column) {
        bytes.push_back(value_at(iteration, block.array, row, column));
      }
    }
    return bytes;
  }

  // Returns the present run's iteration of this number.
  int64_t iteration_of(int64_t number) const { return first_ == 0 ? number : number + plan_.again; }

  bool has(const void* memory) const {
    const auto* const byte = static_cast<const std::byte*>(memory);
    return std::any_of(memory_.begin(), memory_.end(), [byte](const auto& one) {
      return byte >= one.second.data() && byte < one.second.data() + one.second.size();
    });
  }

  bool has_room() const { return server_->engine.room() >= 2 * FileGroup::kRequestsAtOnce; }

  // Starts a server, which takes the names of its files, as CoreServer does.
  void start(const Config& config) {
    present_ = &config;
    server_ = std::make_unique<Server>(*this, config, servers_++);
    server_->group.clients().join(*this);
    auto locks =
        take_output_directories(config, server_->storage, fmt::format("n{}", number_), client(), server_->log);
    if (!locks.ok()) world_.story().fail("locks", name_ + ": " + locks.status().fault().message);
    server_->locks = std::move(locks).value();
  }

  // Serves until all iterations before `end` have left; `verbs`: how many verbs are sent. Servers die, and others go
  // on. Returns false if all processes of the node have died.
  bool serve(int64_t end, size_t verbs) {
    while (left_.size() < static_cast<size_t>(end - first_)) {
      const uint64_t step = steps_++;
      if (first_ == 0 && step == dies_at_) {
        die();
        return false;
      }
      if (deaths_.contains(step)) {
        die();
        if (first_ == 0 && dies_for_good_) return false;
        start(*present_);
        take_up();
      }
      if (accepted_ < verbs && has_room() && dice_.chance(40)) {
        if (!verbs_[accepted_].block) confirmed_.insert(verbs_[accepted_].iteration);
        accept(accepted_++);
      } else {
        sleep();
      }
    }
    this->end();
    return true;
  }

  void end() {
    if (!server_) return;
    while (!server_->group.idle() || !server_->engine.idle()) sleep();
    server_.reset();
  }

  // Writes what a run whose processes have died has left in shared memory, as the next server does before its clients
  // come. Servers die meanwhile, too.
  void drain() {
    for (bool drained = false; !drained;) {
      start(config_);
      take_up();
      server_->group.leave(*this);
      server_->group.abandon();
      bool dead = false;
      while (!dead && (!server_->group.idle() || !server_->engine.idle())) {
        dead = deaths_.contains(steps_++);
        if (!dead) sleep();
      }
      drained = !dead;
      if (dead) die();
    }
    server_.reset();
  }

  // Makes way for the next run. Returns false if that has failed, which its clients hear.
  bool open_next_run() {
    left_.clear();
    accepted_ = begin_ = verbs_of_first_;
    first_ = plan_.iterations_first;
    for (bool again = dice_.chance(15);; again = false) {
      start(config_next_);
      const auto complete = [this](const std::string& file, const FileEnding& ending) {
        return complete_joint(file, ending);
      };
      const Status way = make_way(config_next_, server_->storage, client(), server_->log, complete);
      if (!way.ok()) tell(way);
      if (!again || !way.ok()) return way.ok();
      die();
    }
  }

  Status complete_joint(const std::string& path, const FileEnding& ending) {
    const InodePointer file = disk_.find(path);
    if (file == nullptr) return Status::of_errno("open", path, ENOENT);
    const auto write = [&](const MetadataPiece& piece) {
      world_.choose();
      disk_.write(file, piece.offset, piece.bytes.all());
    };
    for (const MetadataPiece& piece : ending.body) write(piece);
    disk_.end_sync(disk_.begin_sync(file, path));
    write(ending.head);
    return {};
  }

  // Returns false if some node never opens: then nobody writes.
  bool wait_for_all() {
    ++opening_.opened;
    wait_until([this] { return opening_.opened + opening_.lost == plan_.nodes; });
    return opening_.lost == 0;
  }

  void wait_until(FunctionRef<bool()> ready) {
    while (!ready()) world_.sleep(this, Nanoseconds(10'000));
  }

  void lose() {
    is_lost_ = true;
    ++opening_.lost;
    if (server_) die();
  }

  void die() {
    world_.story().tell("{}: ITS SERVER DIES", name_);
    dead_ = true;
    server_->storage.cut();
    while (!server_->engine.idle()) server_->engine.progress();
    past_.push_back(std::move(server_));
    dead_ = false;
  }

  // Returns the layouts of all arrays, and of the block among them.
  Block block_of(const Verb& verb) const {
    const RowBlock& rows = plan_.blocks[number_][static_cast<size_t>(verb.iteration)][*verb.block];
    auto layouts = std::make_shared<Layouts>();
    for (uint32_t array = 0; array < plan_.arrays.size(); ++array) {
      auto layout = std::make_shared<Layout>(config_.layouts[array]);
      layout->global_shape = {plan_.rows_of(array, verb.iteration), plan_.arrays[array].columns};
      layout->offset = {array == rows.array ? rows.first : 0, 0};
      layout->shape = {array == rows.array ? rows.rows : 0, plan_.arrays[array].columns};
      layouts->push_back(std::move(layout));
    }
    return {rows.array, plan_.number_of(verb.iteration), client(), (*layouts)[rows.array], layouts};
  }

  void accept(size_t index) {
    const Verb& verb = verbs_[index];
    const int64_t number = plan_.number_of(verb.iteration);
    if (!verb.block) {
      world_.story().tell("{}: end iteration {}", name_, number);
      server_->group.end(*this, number);
      return;
    }
    const Block block = block_of(verb);
    const Result<FileGroup::Place> place = server_->group.place(block);
    if (!place.ok()) {
      verbs_[index].written = true;  // it has ended
      return server_->group.iterations().fail(number, place.status());
    }
    if (verb.written) return;
    Request request;
    request.operation = Operation::write;
    request.file = place.value().file;
    request.sink = this;
    request.token = request.sequence = index;
    request.phase = phase_of(number);
    std::byte* from = memory_.at({verb.iteration, block.variable, block.layout->offset[0]}).data();
    for (const Extent& extent : place.value().extents) {
      request.pieces.push_back({extent, from});
      from += extent.length;
    }
    server_->engine.submit(std::move(request));
  }

  // Goes on where the earlier server has stopped, as ServedClients does.
  void take_up() {
    std::vector<int64_t> held;
    std::set<int64_t> published;
    for (int64_t iteration = first_; iteration < plan_.iterations; ++iteration) {
      if (left_.contains(iteration)) {
        published.insert(iteration);
        continue;
      }
      const int64_t number = plan_.number_of(iteration);
      bool ended = false;
      bool some = false;
      bool all = true;
      bool any = false;
      for (size_t index = begin_; index < accepted_; ++index) {
        if (verbs_[index].iteration != iteration) continue;
        any = true;
        if (!verbs_[index].block) ended = true;
        if (!verbs_[index].block) continue;
        some = some || verbs_[index].written;
        all = all && verbs_[index].written;
      }
      if (!any) continue;
      const bool in_it = Replay::may_be_in_file(some, all, true);
      if (ended && in_it && !failures_.contains(iteration) && server_->format.published(number)) {
        published.insert(iteration);
        server_->group.complete_publication(number);
        continue;
      }
      server_->group.iterations().resume(number, some && !failures_.contains(iteration));
      if (server_->group.hold(number).ok()) held.push_back(number);
    }
    for (const auto& [iteration, why] : failures_) {
      if (iteration >= first_) server_->group.iterations().fail(plan_.number_of(iteration), why);
    }
    for (size_t index = begin_; index < accepted_; ++index) {
      if (published.contains(verbs_[index].iteration)) continue;
      while (!has_room()) sleep();
      accept(index);
    }
    for (const int64_t number : held) server_->group.release(number);
  }

  // As in ServerCore: nothing sleeps while there is work.
  void sleep() {
    if (++sleeps_ > kMostSleeps) world_.story().fail("hang", name_ + " waits for ever");
    Server& server = *server_;
    const auto progress = [&] {
      server.engine.progress();
      return server.group.progress();
    };
    if (progress()) return;
    server.doorbell.prepare();
    progress();
    if (server.engine.idle()) return server.doorbell.cancel();
    if (const auto due = server.engine.due()) {
      const Nanoseconds delay = std::max(*due - world_.clock().now(), Nanoseconds::zero());
      Doorbell* const doorbell = &server.doorbell;
      world_.after(delay, [this, doorbell] {
        if (server_ && &server_->doorbell == doorbell) doorbell->ring();
      });
    }
    server.doorbell.sleep();
  }

  World& world_;
  SimDisk& disk_;
  Faults& faults_;
  const JointPlan& plan_;
  Opening& opening_;
  const uint32_t number_;
  const Config config_;
  const Config config_next_;         // the next run's
  const Config* present_ = nullptr;  // the server's
  const uint64_t seed_;
  SplitDice dice_;
  const std::string name_;
  std::vector<Verb> verbs_;
  size_t verbs_of_first_ = 0;  // run
  // The present run has:
  size_t begin_ = 0;   // its first verb …
  int64_t first_ = 0;  // … and iteration
  size_t accepted_ = 0;
  std::map<std::tuple<int64_t, uint32_t, uint64_t>, std::vector<std::byte>> memory_;  // by iteration, array, row
  std::set<int64_t> left_;
  std::map<int64_t, Status> ends_;
  std::map<int64_t, Status> failures_;
  std::set<uint64_t> deaths_;        // steps
  std::optional<uint64_t> dies_at_;  // step of the first run
  bool dies_for_good_ = false;
  bool is_lost_ = false;
  std::set<int64_t> confirmed_;
  uint64_t steps_ = 0;
  uint64_t sleeps_ = 0;
  uint32_t servers_ = 0;
  bool dead_ = false;
  bool told_ = false;
  bool closed_ = false;
  std::unique_ptr<Server> server_;
  std::vector<std::unique_ptr<Server>> past_;  // the disk may still end transfers of those that died
};

class JointRun {
 public:
  JointRun(uint64_t seed, const RunOptions& options, Story& story)
      : plan_(draw_plan(SplitDice(seed, "joint plan"), options)),
        story_(story),
        world_(seed, {}, story),
        disk_(seed),
        faults_{faults_of(SplitDice(seed, "joint faults"), plan_, options.without), {}, {}} {
    faults_.seen.resize(faults_.plan.hard.size());
    for (uint32_t node = 0; node < plan_.nodes; ++node) {
      nodes_.push_back(std::make_unique<JointNode>(world_, disk_, faults_, plan_, opening_, node, seed, options));
      world_.spawn(fmt::format("node {}", node), 1, [this, node] { nodes_[node]->run(); });
    }
  }

  void run() {
    world_.run();
    bool all_closed = true;
    for (const auto& node : nodes_) all_closed = all_closed && node->closed();
    std::set<std::string> expected;
    for (int64_t iteration = 0; iteration < plan_.iterations; ++iteration) {
      const bool there = check(iteration, all_closed);
      if (there) expected.insert(plan_.path_of(iteration));
    }
    if (!all_closed || !faults_.causes.empty()) return;
    const std::vector<std::string> names = disk_.names();
    const bool is_unfinished =
        std::any_of(names.begin(), names.end(), [this](const std::string& name) { return may_be_left(name); });
    for (const std::string& name : names) {
      if (is_unfinished && name.ends_with(".lock")) continue;  // it has the names of unfinished files
      if (name.ends_with(".xmf") && plan_.xdmf != XdmfIterations::none) continue;
      if (expected.contains(name) || may_be_left(name)) continue;
      story_.fail("left over", fmt::format("'{}' is there", name));
    }
  }

 private:
  // The file of an iteration without any block is removed, as if it had never been. So is one that a run has left
  // incomplete when the next one opens. A server that died meanwhile, and does not know, may leave one once more, if
  // its node has no block in it: the next run, or recovery, removes it. So may one of the next run, which does not
  // know either whether the file of this number is that of its own run.
  bool may_be_left(const std::string& name) const {
    const bool has_bytes = !disk_.find(name)->bytes.empty();
    for (int64_t iteration = 0; iteration < plan_.iterations; ++iteration) {
      if (plan_.is_written_again(iteration)) continue;
      const std::string unfinished = plan_.path_of(iteration) + ".part";
      bool confirmed = true;
      bool some = false;        // a node has blocks
      bool has_blocks = false;  // … whose file this is
      for (uint32_t node = 0; node < plan_.nodes; ++node) {
        const bool any = !plan_.blocks[node][static_cast<size_t>(iteration)].empty();
        some = some || any;
        const bool is_its_part = name.starts_with(fmt::format("{}.n{}", unfinished, node));
        has_blocks = has_blocks || (any && is_its_part);
        confirmed = confirmed && nodes_[node]->has_confirmed(iteration);
      }
      if (!name.starts_with(unfinished)) continue;
      return !some || (!confirmed && !(has_bytes && (has_blocks || name == unfinished)));
    }
    return false;
  }

  // Returns true if the iteration's file is there, and checks it.
  bool check(int64_t iteration, bool all_closed) const {
    const Fate fate = fate_of(iteration);
    const std::string path = plan_.path_of(iteration);
    const InodePointer file = disk_.find(path);
    story_.mix(file != nullptr ? 1 : 0);
    if (file == nullptr) {
      if (fate.confirmed && !fate.failed && !fate.empty()) check_parts(iteration);
      if (fate.must_be_there(all_closed))
        story_.fail("lost", fmt::format("'{}' is not there, and nobody was told", path));
      return false;
    }
    const std::unique_ptr<Hdf5File> opened = Hdf5File::open(file->bytes);
    if (opened == nullptr) story_.fail("published", fmt::format("'{}' is no HDF5 file", path));
    // The file of a number that is written again is that of either run, and of the next one if that has completed it.
    const std::string why = difference(iteration, fate, *opened);
    if (why.empty()) return true;
    const int64_t again = iteration + plan_.again;
    const int64_t before = iteration - plan_.again;
    if (plan_.is_written_again(iteration) && difference(again, fate_of(again), *opened).empty()) return true;
    const bool may_be_earlier = iteration >= plan_.iterations_first && plan_.is_written_again(before) &&
                                !fate.must_be_there(all_closed) &&
                                difference(before, fate_of(before), *opened).empty();
    if (!may_be_earlier) story_.fail("content", fmt::format("'{}': {}", path, why));
    return true;
  }

  // The fate of an iteration on all nodes.
  struct Fate {
    std::map<uint32_t, std::vector<RowBlock>> arrays;
    bool failed = false;    // a client heard of it
    bool confirmed = true;  // by all nodes
    bool empty() const { return arrays.empty(); }
    bool must_be_there(bool all_closed) const { return !empty() && !failed && confirmed && all_closed; }
  };
  Fate fate_of(int64_t iteration) const {
    Fate fate;
    for (uint32_t node = 0; node < plan_.nodes; ++node) {
      for (const RowBlock& block : plan_.blocks[node][static_cast<size_t>(iteration)])
        fate.arrays[block.array].push_back(block);
      fate.failed = fate.failed || nodes_[node]->heard_of_failure(iteration);
      fate.confirmed = fate.confirmed && nodes_[node]->has_confirmed(iteration);
    }
    return fate;
  }

  // Returns why the file is not that of the iteration; empty if it is.
  std::string difference(int64_t iteration, const Fate& fate, const Hdf5File& file) const {
    if (!fate.confirmed) return "it has no end of all";
    for (const auto& [array, blocks] : fate.arrays) {
      std::string why = difference(iteration, array, blocks, file);
      if (!why.empty()) return why;
    }
    return "";
  }

  // Checks that nothing is lost of a file that waits for nodes which are lost: those of the others have their parts.
  void check_parts(int64_t iteration) const {
    const bool lost = std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) { return node->is_lost(); });
    if (!lost) return;
    for (uint32_t node = 0; node < plan_.nodes; ++node) {
      if (nodes_[node]->is_lost()) continue;
      const InodePointer part = disk_.find(fmt::format("{}.part.n{}", plan_.path_of(iteration), node));
      if (part != nullptr && !part->bytes.empty()) continue;
      story_.fail("lost", fmt::format("the part of node {} in '{}' is not there", node, plan_.path_of(iteration)));
    }
  }

  std::string difference(int64_t iteration, uint32_t array, std::vector<RowBlock> blocks,
                         const Hdf5File& file) const {
    const uint64_t rows = plan_.rows_of(array, iteration);
    const uint64_t columns = plan_.arrays[array].columns;
    const std::string name = name_of_array(array);
    const auto found = file.read(0, name);
    const bool has_shape = file.shape(0, name) == std::vector<uint64_t>{rows, columns};
    if (!found || !has_shape) return fmt::format("'{}' of iteration {} is wrong", name, iteration);
    std::sort(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<uint64_t> listed;
    for (const RowBlock& block : blocks) {
      listed.insert(listed.end(), {block.first, 0, block.rows, columns});
      for (uint64_t at = block.first * columns; at < (block.first + block.rows) * columns; ++at) {
        if ((*found)[at] == value_at(iteration, array, at / columns, at % columns)) continue;
        return fmt::format("element {} of '{}' in iteration {} is wrong", at, name, iteration);
      }
    }
    return file.numbers("/" + name, "tailraceBlocks") == listed ? "" : "other blocks are listed";
  }

  const JointPlan plan_;
  Story& story_;
  World world_;
  SimDisk disk_;
  Faults faults_;
  Opening opening_;
  std::vector<std::unique_ptr<JointNode>> nodes_;
};

}  // namespace

void run_joint(uint64_t seed, const RunOptions& options, Story& story) { JointRun(seed, options, story).run(); }

}  // namespace tailrace::impl::simulation
