#include "testing/simulation/forward_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <set>
#include <utility>

#include "base/log.hpp"
#include "engine/engine.hpp"
#include "engine/schedule/fifo.hpp"
#include "forward/forwarder.hpp"
#include "storage/remote/remote_storage.hpp"
#include "testing/simulation/sim_storage.hpp"
#include "transport/simulated/sim_network.hpp"

namespace tailrace::impl::simulation {
namespace {

constexpr uint64_t kMostFile = 40'000;
constexpr int kMostDisturbances = 2000;
constexpr uint64_t kMemory = 2 * kMostForwarded;

// How long a forwarder may act for a client that it does not hear, and how long its storage takes for a transfer.
struct Fence {
  Nanoseconds lease{0};
  uint64_t most_delay = 0;  // nanoseconds; 0: that of each storage

  // Beats and limits in the proportions that programs have.
  Links::Options links() const {
    Links::Options options;
    options.greeting = lease / 4;
    options.beat = lease / 20;
    options.silence = lease / 4;
    return options;
  }
  // Returns the least size of transfers but the last ones of a request: where each takes long, there are few.
  uint64_t fewest_bytes() const { return most_delay > 0 ? 2000 : 1; }
  Nanoseconds grace() const { return std::max(lease / 2, Nanoseconds(static_cast<int64_t>(most_delay))); }
};

Fence fence_of(SplitDice dice, const Without& without) {
  const Nanoseconds usual = std::chrono::seconds(8);
  if (without.server_deaths || dice.chance(40)) return {.lease = usual};
  Fence fence{.lease = std::chrono::milliseconds(dice.between(60, 600))};
  const auto lease = static_cast<uint64_t>(fence.lease.count());
  if (!without.delays && dice.chance(70)) fence.most_delay = dice.between(lease / 10, lease / 2);
  return fence;
}

// The file system's stripes, which all forwarders see.
StripeMap stripes_of(SplitDice dice, const Fence& fence) {
  StripeMap stripes;
  if (dice.chance(30)) return stripes;
  stripes.unit = std::max<uint64_t>(dice.between(1, 12'000), fence.fewest_bytes());
  stripes.servers.clear();
  for (uint64_t i = dice.between(1, 5); i > 0; --i) stripes.servers.push_back(dice.between32(0, 6));
  return stripes;
}

SimStorageOptions storage_of(SplitDice dice, const Without& without, const StripeMap& stripes) {
  SimStorageOptions options;
  options.stripes = stripes;
  options.depth = dice.between32(1, 12);
  options.max_segments = dice.between32(1, 6);
  if (dice.chance(50)) options.operations = dice.between32(1, 3);
  options.most_delay = without.delays ? 0 : dice.between(0, 300'000);
  options.least_delay = dice.below(options.most_delay + 1);
  return options;
}

// Faults that pass: whatever fails for good is told, which other programs of the simulator check.
FaultPlan faults_of(SplitDice dice, const Without& without) {
  Without all = without;
  all.hard = true;
  FaultPlan plan = draw_faults(dice, 1, 3, all);
  plan.capacity = std::numeric_limits<uint64_t>::max();
  plan.patience = 1000;
  return plan;
}

EngineOptions engine_of(SplitDice dice) {
  EngineOptions options;
  options.max_pending = 20'000;
  options.merge.largest = dice.between(1, 30'000);
  options.morph = dice.chance(75);
  options.gather.on = dice.chance(80);
  return options;
}

class ForwardRun;

// A forwarder's process.
struct Node {
  Node(ForwardRun& run, const std::string& host, uint64_t number);

  void serve();
  // Ends the process at once; `seen`: its peers see that.
  void kill(bool seen);

  ForwardRun& run;
  const std::string host;
  bool dead = false;
  bool leaves = false;
  bool over = false;
  Doorbell doorbell;
  const std::unique_ptr<std::byte[]> bytes;  // hardly any of it is ever touched
  SimStorage storage;
  Fifo fifo;
  Engine engine;
  std::unique_ptr<SimEndpoint> endpoint;
  Links links;
  Forwarder forwarder;
};

// A client's process: an engine that makes requests at random.
class Guest final : public CompletionSink {
 public:
  Guest(ForwardRun& run, int number, uint64_t operations);

  void program();
  void ended(const Request& request, const Status& status) override;
  void check_files() const;
  size_t pending() const { return pending_.size(); }

 private:
  struct File {
    FileId id = 0;
    std::string path;
    std::vector<std::byte> model;
  };
  struct Read {
    std::vector<std::byte> got;
    std::vector<std::byte> expected;
  };

  void begin();
  void submit_something();
  void use_lock();
  Request request_of(Operation operation, FileId file);
  void sleep();
  void finish_all();

  ForwardRun& run_;
  SplitDice dice_;
  SplitDice lock_dice_;  // separate, so that a program without locks stays the same
  const bool uses_locks_;
  const int number_;
  const uint64_t operations_;
  Doorbell doorbell_;
  Fifo fifo_;
  std::unique_ptr<RemoteStorage> storage_;
  std::unique_ptr<NameLock> lock_;  // one that it has
  std::optional<Engine> engine_;
  std::vector<File> files_;
  std::deque<std::vector<std::byte>> writes_;
  std::map<uint64_t, Read> reads_;
  std::set<uint64_t> pending_;
  uint64_t next_token_ = 1;
};

class ForwardRun {
 public:
  ForwardRun(uint64_t seed, const RunOptions& options, Story& story)
      : seed_(seed),
        options_(options),
        story_(story),
        dice_(seed, "forward run"),
        world_(seed, {.switch_percent = dice_.between32(0, 30)}, story),
        disk_(seed),
        faults_{faults_of(SplitDice(seed, "forward faults"), options.without), {}, {}},
        log_(story),
        network_(world_.clock(), mixed(seed), network_options()),
        loss_(options.without.server_deaths || dice_.chance(70) ? RemoteFiles::OnLoss::next
                                                                : RemoteFiles::OnLoss::direct),
        confirm_(dice_.chance(70) ? TransferRecord::Confirm::written : TransferRecord::Confirm::durable),
        spread_(dice_.chance(50)),
        fence_(fence_of(SplitDice(seed, "forward fence"), options.without)),
        stripes_(stripes_of(SplitDice(seed, "forward stripes"), fence_)),
        weather_(seed, "forward weather") {
    for (uint64_t i = dice_.between(2, 3); i > 0; --i) hosts_.push_back(fmt::format("io{}", i));
  }

  void run() {
    for (const std::string& host : hosts_) start(host);
    const uint64_t clients = options_.without.company ? 1 : dice_.between(1, 3);
    const uint64_t operations = std::min<uint64_t>(options_.operations, dice_.between(5, 80));
    for (uint64_t i = 0; i < clients; ++i) {
      Guest& guest = *guests_.emplace_back(std::make_unique<Guest>(*this, static_cast<int>(i), operations));
      ++working_;
      world_.spawn(fmt::format("client {}", i), 2, [this, &guest] {
        guest.program();
        --working_;
        if (working_ == 0) end_forwarders();
      });
    }
    if (!options_.without.server_deaths) {
      world_.spawn("fate", 1, [this] { disturb(); });
      world_.spawn("weather", 1, [this] { cut_off(); });
    }
    world_.run();
    for (const auto& guest : guests_) guest->check_files();
    for (const auto& node : nodes_) {
      story_.check(node->forwarder.memory_peak() <= kMemory, "budget", "a forwarder held too much");
      story_.check(node->dead || node->forwarder.open_files() == 0, "end", "a forwarder has files open at its end");
    }
  }

  Node& start(const std::string& host) {
    Node& node = *nodes_.emplace_back(std::make_unique<Node>(*this, host, nodes_.size()));
    current_[host] = &node;
    world_.spawn("forwarder " + host, 2, [&node] { node.serve(); });
    return node;
  }

  SimStorageOptions storage_options(uint64_t number) const {
    SimStorageOptions options = storage_of(SplitDice(seed_, "forward sizes", number), options_.without, stripes_);
    options.slow = 50;  // an operation ends within the grace of a fence, like a transfer
    if (fence_.most_delay > 0) {
      options.slow = 1;
      options.most_delay = fence_.most_delay;
      options.least_delay = options.most_delay / 4;
      options.depth = 1 + options.depth / 8;  // so much of what it has got waits
    }
    return options;
  }

  EngineOptions engine_options(SplitDice dice) const {
    EngineOptions options = engine_of(dice);
    options.merge.largest = std::max(options.merge.largest, fence_.fewest_bytes());
    return options;
  }

  Forwarder::Options forwarder_options() const { return {.window = 8, .most_parts = 100, .lease = fence_.lease}; }

  Links::Options forwarder_links() const {
    Links::Options options = fence_.links();
    options.silence = options.lease = fence_.lease;
    return options;
  }

  SimNetwork::Options network_options() {
    SimNetwork::Options options;
    options.most = std::chrono::microseconds(10 + dice_.below(2000));
    options.reorder = dice_.chance(70);
    options.arrived = [this] { world_.wake(&network_); };
    options.scheduled = [this](Nanoseconds delay) { world_.after(delay, [this] { network_.deliver(); }); };
    return options;
  }

  // Kills, cuts off, dismisses and starts forwarders, while clients work. One that all hear is always left. After
  // kMostDisturbances all forwarders stay: no client gets through if its connections never last.
  void disturb() {
    for (int disturbances = 0; working_ > 0 && disturbances < kMostDisturbances; ++disturbances) {
      pause(Nanoseconds(static_cast<int64_t>(dice_.between(10'000, 20'000'000 + 10 * fence_.most_delay))));
      if (working_ == 0) return;
      const std::string& host = hosts_[dice_.below(hosts_.size())];
      Node* const node = current_[host];
      if (host == cut_off_ && spared_) continue;
      if (node->dead || node->over) {
        revive(host);
      } else if (dice_.chance(30)) {
        const std::string client = fmt::format("node{}", dice_.below(3));
        story_.tell("cuts {} from {}", client, host);
        network_.cut(client, host);
      } else if (alive() > (host == cut_off_ ? 0 : 1)) {
        if (dice_.chance(25)) {
          story_.tell("{} is asked to leave", host);
          node->leaves = true;
          node->doorbell.wake();
        } else {
          const bool seen = dice_.chance(60);
          story_.tell("{} is killed, {}", host, seen ? "and that is seen" : "and falls silent");
          node->kill(seen);
        }
      }
    }
    for (const std::string& host : hosts_) {
      if (working_ > 0 && (current_[host]->dead || current_[host]->over)) revive(host);
    }
  }

  // Cuts a client off from a forwarder that goes on living, for a while: packets are lost or late, in one direction
  // or in both, and nobody sees that.
  void cut_off() {
    const auto time = [this](uint64_t tenths) { return fence_.lease * static_cast<int64_t>(tenths) / 10; };
    for (uint64_t left = weather_.between(0, 8); left > 0; --left) {
      world_.sleep(&weather_, time(weather_.between(0, 20)) / weather_.one_of<int64_t>({1, 10, 100}));
      if (working_ == 0) return;
      const uint64_t number = weather_.below(guests_.size());
      for (int i = 0; i < 50 && working_ > 0 && guests_[number]->pending() < 15; ++i) {
        world_.sleep(&weather_, fence_.lease / 200);  // it has little to lose yet
      }
      const std::string& host = hosts_[weather_.below(hosts_.size())];
      const Node& node = *current_[host];
      if (node.dead || node.leaves || node.over) continue;
      cut_off_ = host;
      spared_ = weather_.chance(80);
      const std::string client = fmt::format("node{}", number);
      const uint64_t ways = weather_.one_of<uint64_t>({1, 2, 3, 3, 3, 3});
      const Nanoseconds late = weather_.chance(30) ? time(weather_.between(1, 20)) : Nanoseconds::zero();
      if (alive() == 0) {
        cut_off_.clear();
        continue;
      }
      const Nanoseconds lasting = time(weather_.between(1, 30));
      const uint64_t rate = weather_.chance(25) ? weather_.between(100, 1'000'000) : 0;
      if (rate > 0) {
        story_.tell("bulk data between {} and {} ({}) drip, {} B/s, for {} us", client, host, ways, rate,
                    lasting.count() / 1000);
      } else {
        story_.tell("{} and {} do not hear one another ({}, late by {} us) for {} us", client, host, ways,
                    late.count() / 1000, lasting.count() / 1000);
      }
      for (const auto& [from, to] : {std::pair(client, host), std::pair(host, client)}) {
        if (from == client ? (ways & 1) == 0 : (ways & 2) == 0) continue;
        if (rate > 0) {
          network_.slow(from, to, rate);
          continue;
        }
        late > Nanoseconds::zero() ? network_.delay(from, to, late) : network_.mute(from, to);
      }
      world_.sleep(&weather_, lasting);
      network_.restore(client, host);
      story_.tell("{} and {} hear one another", client, host);
      cut_off_.clear();
    }
  }

  void revive(const std::string& host) {
    network_.restore("*", host);
    for (int i = 0; i < 3; ++i) network_.restore(fmt::format("node{}", i), host);
    story_.tell("starts {}", host);
    start(host);
  }

  size_t alive() const {
    return static_cast<size_t>(std::count_if(current_.begin(), current_.end(), [this](const auto& one) {
      return !one.second->dead && !one.second->leaves && !one.second->over && one.first != cut_off_;
    }));
  }

  void pause(Nanoseconds time) { world_.sleep(&dice_, time); }

  void end_forwarders() {
    for (const auto& node : nodes_) {
      node->leaves = true;
      node->doorbell.wake();
    }
  }

  const uint64_t seed_;
  const RunOptions options_;
  Story& story_;
  SplitDice dice_;
  World world_;
  SimDisk disk_;
  Faults faults_;
  StoryLog log_;
  SimNetwork network_;
  const RemoteFiles::OnLoss loss_;
  const TransferRecord::Confirm confirm_;
  const bool spread_;
  const Fence fence_;
  const StripeMap stripes_;
  SplitDice weather_;
  std::string cut_off_;  // the forwarder that a client may not hear
  bool spared_ = false;  // nothing else is done to it
  std::vector<std::string> hosts_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::map<std::string, Node*> current_;
  std::vector<std::unique_ptr<Guest>> guests_;
  uint64_t working_ = 0;
};

Node::Node(ForwardRun& of, const std::string& name, uint64_t number)
    : run(of),
      host(name),
      bytes(std::make_unique_for_overwrite<std::byte[]>(kMemory)),
      storage(of.world_, of.disk_, of.faults_, doorbell, SplitDice(of.seed_, "forward storage", number),
              of.storage_options(number), name),
      engine(storage, fifo, of.world_.clock(), of.engine_options(SplitDice(of.seed_, "forward engine", number))),
      endpoint(of.network_.endpoint(doorbell, name)),
      links(*endpoint, of.world_.clock(), of.log_, encode_terms(Forwarder::terms(of.forwarder_options()), ""),
            of.forwarder_links()),
      forwarder(links, engine, {bytes.get(), kMemory}, of.world_.clock(), of.log_, of.forwarder_options(),
                [](const auto&) { return ""; }) {
  TAILRACE_REQUIRE(links.listen(name).ok());
}

void Node::serve() {
  while (!dead && !forwarder.has_left()) {
    if (leaves) forwarder.leave();
    if (forwarder.step()) continue;
    doorbell.prepare();
    if (forwarder.step() || dead || (leaves && forwarder.has_left())) {
      doorbell.cancel();
      continue;
    }
    std::optional<Nanoseconds> limit = forwarder.due();
    if (limit) limit = std::max(*limit - run.world_.time(), Nanoseconds::zero());
    doorbell.sleep(limit);
  }
  if (!dead) endpoint->die();  // the process ends
  over = true;
  for (int i = 0; i < 100'000 && !engine.idle(); ++i) engine.progress();
}

void Node::kill(bool seen) {
  if (!seen) {
    for (int i = 0; i < 3; ++i) run.network_.silence(fmt::format("node{}", i), host);
  }
  dead = true;
  endpoint->die();
  storage.cut();
  doorbell.wake();
}

Guest::Guest(ForwardRun& run, int number, uint64_t operations)
    : run_(run),
      dice_(run.seed_, "forward client", static_cast<uint64_t>(number)),
      lock_dice_(run.seed_, "forward locks", static_cast<uint64_t>(number)),
      uses_locks_(lock_dice_.chance(25)),
      number_(number),
      operations_(operations) {}

void Guest::program() {
  begin();
  for (uint64_t i = 0; i < operations_; ++i) {
    if (dice_.chance(70)) submit_something();
    if (dice_.chance(50)) engine_->progress();
    if (uses_locks_ && lock_dice_.chance(8)) use_lock();
    if (dice_.chance(10)) sleep();
    if (dice_.chance(5)) run_.pause(Nanoseconds(static_cast<int64_t>(dice_.below(3'000'000))));
  }
  finish_all();
  for (const File& file : files_) engine_->submit(request_of(Operation::publish, file.id));
  finish_all();
  lock_.reset();
  engine_.reset();
  storage_.reset();
}

// Takes a lock, or releases the one that it has, beside what is under way.
void Guest::use_lock() {
  if (lock_) return lock_.reset();
  const std::string path = fmt::format("/c{}.lock", number_);
  auto taken = storage_->files().lock(path, fmt::format("node{}", number_));
  run_.story_.tell("client {}: lock {}", number_, taken.ok() ? "ok" : taken.status().fault().message);
  if (taken.ok()) lock_ = std::move(taken).value();
}

void Guest::begin() {
  RemoteStorage::Options options;
  options.servers = run_.hosts_;
  options.on_loss = run_.loss_;
  options.confirm = run_.confirm_;
  options.depth = dice_.between32(1, 40);
  options.spread = run_.spread_;
  options.output = "/";
  options.process = static_cast<uint64_t>(number_) + 1;
  options.links = run_.fence_.links();
  options.grace = run_.fence_.grace();
  std::unique_ptr<Storage> local;
  if (run_.loss_ == RemoteFiles::OnLoss::direct) {
    local = std::make_unique<SimStorage>(run_.world_, run_.disk_, run_.faults_, doorbell_,
                                         SplitDice(run_.seed_, "forward local", static_cast<uint64_t>(number_)),
                                         SimStorageOptions{}, fmt::format("node{}", number_));
  }
  auto endpoint = run_.network_.endpoint(doorbell_, fmt::format("node{}", number_),
                                         [this](Nanoseconds limit) { run_.world_.sleep(&run_.network_, limit); });
  auto made = RemoteStorage::create(std::move(endpoint), std::move(local), run_.world_.clock(), doorbell_, run_.log_,
                                    options);
  if (!made.ok()) run_.story_.fail("telling", made.status().fault().message);
  storage_ = std::move(made).value();
  engine_.emplace(*storage_, fifo_, run_.world_.clock(),
                  run_.engine_options(SplitDice(run_.seed_, "forward guest engine")));
  for (int i = 0; i < 2; ++i) {
    File file;
    file.path = fmt::format("/c{}_{}.raw", number_, i);
    file.id = engine_->open(file.path + ".part", OpenMode::fresh, 0, file.path);
    while (!engine_->idle()) sleep();
    if (!engine_->is_open(file.id)) run_.story_.fail("telling", engine_->failure(file.id).fault().message);
    file.model.resize(kMostFile);
    engine_->carry_out(file.id, {.kind = FileOperation::Kind::allocate, .size = kMostFile}, 0,
                       [this](const FileOperationEnd& end) {
                         if (!end.status.ok()) run_.story_.fail("telling", end.status.fault().message);
                       });
    while (!engine_->idle()) sleep();
    files_.push_back(std::move(file));
  }
}

Request Guest::request_of(Operation operation, FileId file) {
  Request request;
  request.operation = operation;
  request.file = file;
  request.client = static_cast<uint32_t>(number_);
  request.sink = this;
  request.token = next_token_++;
  pending_.insert(request.token);
  return request;
}

void Guest::submit_something() {
  File& file = files_[dice_.below(files_.size())];
  if (dice_.chance(8)) return engine_->submit(request_of(Operation::sync, file.id));
  const size_t length = 1 + dice_.below(dice_.chance(80) ? 300 : 20'000);
  const size_t offset = dice_.below(kMostFile - length + 1);
  const auto place = file.model.begin() + static_cast<ptrdiff_t>(offset);
  if (dice_.chance(60)) {
    Request request = request_of(Operation::write, file.id);
    auto& bytes = writes_.emplace_back(length);
    for (size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(mixed(request.token + i / 8) >> i % 8);
    std::copy(bytes.begin(), bytes.end(), place);
    request.pieces = {{{offset, length}, bytes.data()}};
    return engine_->submit(std::move(request));
  }
  Request request = request_of(Operation::read, file.id);
  Read& read = reads_[request.token];
  read.got.resize(length);
  read.expected.assign(place, place + static_cast<ptrdiff_t>(length));
  request.pieces = {{{offset, length}, read.got.data()}};
  engine_->submit(std::move(request));
}

void Guest::ended(const Request& request, const Status& status) {
  run_.story_.tell("client {}: {} {} {}", number_, name_of(request.operation), request.token,
                   status.ok() ? "ok" : status.fault().message);
  run_.story_.mix(request.token * 2 + (status.ok() ? 1 : 0));
  run_.story_.check(pending_.erase(request.token) == 1, "end", "a request has ended twice");
  if (!status.ok()) run_.story_.fail("telling", "without a cause: " + status.fault().message);
  if (request.operation != Operation::read) return;
  const Read& read = reads_.at(request.token);
  run_.story_.check(read.got == read.expected, "read", "a read has other bytes than the last write");
  reads_.erase(request.token);
}

void Guest::sleep() {
  engine_->progress();
  if (engine_->idle()) return;
  doorbell_.prepare();
  engine_->progress();
  std::optional<Nanoseconds> limit = engine_->due();
  if (limit) limit = std::max(*limit - run_.world_.time(), Nanoseconds::zero());
  if (engine_->idle()) return doorbell_.cancel();
  doorbell_.sleep(limit);
}

void Guest::finish_all() {
  while (!engine_->idle()) sleep();
  run_.story_.check(pending_.empty(), "end", "a request has never ended");
}

void Guest::check_files() const {
  for (const File& file : files_) {
    const InodePointer found = run_.disk_.find(file.path);
    run_.story_.check(found != nullptr, "published", "a published file is not there");
    std::vector<std::byte> bytes = found->bytes;
    bytes.resize(kMostFile);
    for (size_t i = 0; i < kMostFile; ++i) {
      if (bytes[i] == file.model[i]) continue;
      run_.story_.fail("content", fmt::format("byte {} of '{}' is not that of the last write", i, file.path));
    }
  }
}

}  // namespace

void run_forward(uint64_t seed, const RunOptions& options, Story& story) { ForwardRun(seed, options, story).run(); }

}  // namespace tailrace::impl::simulation
