#include "testing/simulation/sim_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/schedule/fifo.hpp"
#include "format/hdf5/hdf5_format.hpp"
#include "server/filtering/filter_crew.hpp"
#include "server/server_core.hpp"
#include "testing/simulation/sim_process.hpp"

namespace tailrace::impl::simulation {
namespace {

constexpr Nanoseconds kFirstClientIn = std::chrono::seconds(30);  // as servers that clients start have it

std::string same_date() { return "2026-01-02 03:04:05 +0000"; }

}  // namespace

// The ledger's lines, which a server's death does not affect.
struct SimNode::Store final : LedgerStore {
  explicit Store(SimNode& node_in) : node(node_in), world(node.world_), lines(node.ledger_) {}

  Result<std::vector<LedgerRecord>> read() override { return lines; }
  Status append(const LedgerRecord& record) override {
    world.choose();
    if (node.plan_.ledger_room && lines.size() >= *node.plan_.ledger_room) return full();
    node.may_die_at(record, true);
    lines.push_back(record);
    node.may_die_at(record, false);
    world.choose();
    return {};
  }
  Status replace(std::span<const LedgerRecord> records) override {
    world.choose();
    if (node.plan_.ledger_room && records.size() > *node.plan_.ledger_room) return full();
    lines.assign(records.begin(), records.end());
    world.choose();
    return {};
  }
  void append_last(const LedgerRecord& record) override {
    world.choose();
    lines.push_back(record);
    world.choose();
  }
  void remove() override {
    world.choose();
    lines.clear();
    world.choose();
  }
  std::string name() const override { return "ledger"; }
  static Status full() { return Status::of_errno("write", "ledger", ENOSPC); }

  SimNode& node;
  World& world;
  std::vector<LedgerRecord>& lines;
};

namespace {

// Returns the options for a server's storage. If a dead server had published an iteration with only events, but not
// yet recorded that it had left, the next server publishes it again, while the client knows of its end and may have
// begun another one. Each client may have one such iteration. (Real servers have at least that many descriptors left
// for raw files.)
SimStorageOptions storage_of(SimStorageOptions options, uint64_t life, size_t clients) {
  const bool limited = options.descriptors != SimStorageOptions{}.descriptors;
  if (life > 0 && limited) options.descriptors += clients * kDescriptorsPerIteration;
  return options;
}

}  // namespace

// A server process.
struct SimNode::Life final : Acceptor {
  Life(SimNode& node_in, uint64_t number_in)
      : node(node_in),
        number(number_in),
        log(node.world_.story()),
        storage(node.world_, node.disk_, node.faults_, doorbell, SplitDice(node.seed_, "node storage", number_in),
                storage_of(node.plan_.storage, number_in, node.clients_.size()),
                fmt::format("server life {}", number_in)),
        any_order(SplitDice(node.seed_, "node order", number_in)),
        slots(node.plan_.any_order ? static_cast<Scheduler&>(any_order) : fifo, node.plan_.turn),
        engine(storage, slots, node.world_.clock(), node.plan_.engine),
        crew(node.world_.clock(), doorbell, {.threads = 0, .cpus = {}}) {
    storage.ignore([this](const void* memory) { return engine.throws_away(memory); });
  }

  void begin_round() override {
    if (!std::exchange(number_is_free, false)) return;
    for (Message* hello : std::exchange(waiting, {})) node.greet(*this, *hello);
  }
  bool has_news() const override { return number_is_free; }
  bool has_company() const override {
    return !waiting.empty() || std::any_of(inbox.begin(), inbox.end(), [](const Message* message) {
      return message->kind == Message::Kind::hello;
    });
  }
  bool next_run_waits() const override { return next_run_is_here; }
  void wait(std::optional<Nanoseconds> limit) override {
    node.world_.choose();
    if (limit && *limit > Nanoseconds::zero()) {
      node.world_.after(*limit, [this, of = number] {
        if (node.is_alive(of)) doorbell.wake();
      });
    }
    if (!limit || *limit > Nanoseconds::zero()) doorbell.sleep();
    node.listen(*this);
  }
  void distrusted(int, const Status& why) override {
    node.world_.story().fail("answer", "an honest client is not believed: " + why.fault().message);
  }
  void dismissed(int client, bool) override { node.let_go(*this, client); }

  SimNode& node;
  const uint64_t number;
  World::FiberId fiber = 0;
  bool over = false;
  bool is_equipped = false;
  StoryLog log;
  Doorbell doorbell;
  SimStorage storage;
  Fifo fifo;
  AnyOrder any_order;
  Slots slots;
  Engine engine;
  FilterCrew crew;
  std::optional<Ledger> ledger;
  std::optional<ServerCore> core;
  std::map<int, std::unique_ptr<Channel>> views;  // of the clients that it serves
  std::set<int> connected;                        // those that it has admitted
  std::deque<Message*> inbox;
  std::deque<Message> own_messages;  // messages that nobody waits for
  std::vector<Message*> waiting;     // for a number to become free, or for the next server
  bool number_is_free = false;
  bool next_run_is_here = false;
};

SimNode::SimNode(World& world, SimDisk& disk, Faults& faults, uint64_t seed, const NodePlan& plan,
                 const std::vector<ClientPlan>& clients)
    : world_(world),
      disk_(disk),
      faults_(faults),
      seed_(seed),
      plan_(plan),
      clients_(clients),
      dice_(seed, "node"),
      processes_(world),
      last_process_(first_process(static_cast<int>(clients.size()))),
      line_death_(plan.line_death) {
  for (size_t client = 0; client < clients.size(); ++client) {
    processes_.living[first_process(static_cast<int>(client))] = 1;
  }
}

// A killed server stays as it was: nothing destroys the objects of a dead process.
SimNode::~SimNode() {
  static auto* const killed = new std::vector<std::unique_ptr<Life>>;
  for (std::unique_ptr<Life>& life : lives_) {
    if (!life->over) killed->push_back(std::move(life));
  }
}

// ---- clients ------------------------------------------------------------------------------------------------

SimNode::Met SimNode::meet(int client, bool again, pid_t process) {
  for (;;) {
    world_.choose();
    if (current_ == nullptr) start_server();
    if (std::optional<Met> met = meet_running(client, again, process)) return *std::move(met);
  }
}

std::optional<SimNode::Met> SimNode::meet_running(int client, bool again, pid_t process) {
  if (current_ == nullptr) return std::nullopt;
  Life& life = *current_;
  Message hello{Message::Kind::hello, client, process, again, false, nullptr};
  life.inbox.push_back(&hello);
  life.doorbell.wake();
  while (!hello.answered && current_ == &life) world_.sleep(&life.inbox, std::nullopt);
  if (hello.answered) return Met{hello.segment, life.number, hello.refusal};
  world_.story().tell("client {}: the server has ended just as it was met", client);
  return std::nullopt;
}

bool SimNode::is_alive(uint64_t life) const { return current_ != nullptr && current_->number == life; }

void SimNode::ring(uint64_t life) {
  world_.choose();
  if (is_alive(life)) current_->doorbell.wake();
}

void SimNode::say_goodbye(int client, pid_t process) {
  world_.choose();
  tell(Message::Kind::goodbye, client, process);
}

pid_t SimNode::begin_process() {
  processes_.living[++last_process_] = processes_.now();
  return last_process_;
}

void SimNode::process_ended(pid_t process) {
  processes_.living.erase(process);
  for (const auto& [client, guest] : guests_) {
    if (guest.process == process) return tell(Message::Kind::died, client, process);
  }
}

void SimNode::tell(Message::Kind kind, int client, pid_t process) {
  if (current_ == nullptr) return;
  current_->own_messages.push_back({kind, client, process, false, false, nullptr});
  current_->inbox.push_back(&current_->own_messages.back());
  current_->doorbell.wake();
}

// ---- servers ------------------------------------------------------------------------------------------------

void SimNode::start_server() {
  const uint64_t number = started_++;
  world_.story().tell("server life {} begins", number);
  lives_.push_back(std::make_unique<Life>(*this, number));
  Life& life = *lives_.back();
  current_ = &life;
  life.fiber =
      world_.spawn(fmt::format("server life {}", number), plan_.server_weight, [this, &life] { live(life); });
  if (number >= plan_.deaths.size()) return;
  world_.after(Nanoseconds(plan_.deaths[number]), [this, number] {
    if (is_alive(number)) kill_server();
  });
}

void SimNode::kill_server() {
  Life& life = *current_;
  world_.story().tell("server life {} is KILLED", life.number);
  killed_before_ = life.number + 1;
  life.storage.cut();
  world_.abandon(life.fiber);
  if (dice_.chance(40)) take_back_last_push();
  current_ = nullptr;
  world_.wake(&life.inbox);
  for (const int client : life.connected) {
    const uint64_t delays[] = {100, 10'000, 1'000'000, 200'000'000};
    const uint64_t delay = dice_.below(dice_.one_of(delays));
    world_.after(Nanoseconds(delay), [this, client] { on_loss_(client); });
  }
}

// A server may die after it has marked the end of a block and before it returns the block. It makes no call there, so
// this undoes the return of the last block.
void SimNode::take_back_last_push() {
  for (auto& [client, guest] : guests_) {
    Channel channel = guest.segment->view();
    std::vector<uint32_t> blocks;
    channel.returned.take_all([&](uint32_t block) { blocks.push_back(block); });
    if (blocks.empty()) continue;
    world_.story().tell("… before it gave block {} back to client {}", blocks.front(), client);
    for (size_t i = blocks.size(); i-- > 1;) channel.returned.push(blocks[i]);
    return;
  }
}

// Runs on the server's fiber.
void SimNode::may_die_at(const LedgerRecord& line, bool before) {
  if (!line_death_ || line_death_->before != before) return;
  if (line_death_->kind && *line_death_->kind != line.kind) return;
  if (line_death_->nth-- > 0) return;
  line_death_.reset();
  const uint64_t number = current_->number;
  world_.after(Nanoseconds::zero(), [this, number] {
    if (is_alive(number)) kill_server();
  });
  while (is_alive(number)) world_.choose();
}

void SimNode::lose_power() {
  if (current_ != nullptr) {
    current_->storage.cut();
    world_.abandon(current_->fiber);
    current_ = nullptr;
  }
  for (auto& [client, guest] : guests_) unlinked_.push_back(std::move(guest.segment));
  guests_.clear();
  ledger_.clear();
}

bool SimNode::drain() {
  if (guests_.empty()) return false;
  drains_ = true;
  start_server();
  return true;
}

// Does the work of CoreServer::serve().
void SimNode::live(Life& life) {
  Result<Ledger> ledger = Ledger::open(std::make_unique<Store>(*this), life.log);
  TAILRACE_REQUIRE(ledger.ok());
  life.ledger = std::move(ledger).value();
  if (!life.ledger->is_whole().ok()) abandon_all(life);
  ServerCore::Options options;
  options.drain = drains_;
  options.first_client_in = drains_ ? Nanoseconds::zero() : kFirstClientIn;
  life.core.emplace(world_.clock(), processes_, life.doorbell, *life.ledger, life.log, options);
  adopt_all(life);
  life.core->take_up_ledger();
  life.core->run(life);
  end(life);
}

// When the first client is there.
void SimNode::equip(Life& life) {
  if (std::exchange(life.is_equipped, true)) return;
  const auto make_format = [&life](int client, const Config& config) {
    return std::make_unique<Hdf5Format>(config, life.storage, Hdf5Format::Options{client, "machine", same_date});
  };
  life.core->equip(clients_[0].config, {life.engine, make_format, &life.crew});
}

// Does the work of CoreServer::abandon_all().
void SimNode::abandon_all(Life& life) {
  world_.story().tell("server life {} cannot go on for the clients of an earlier one", life.number);
  has_abandoned_ = true;
  faults_.causes.push_back({DiskCall::write, "ledger", ENOSPC});
  while (!guests_.empty()) {
    world_.choose();
    if (!guests_.empty()) unlink(guests_.begin()->first);
  }
  life.ledger->clear();
}

void SimNode::adopt_all(Life& life) {
  std::vector<int> found;
  for (const auto& [client, guest] : guests_) found.push_back(client);
  for (const int client : found) {
    world_.choose();
    Guest& guest = guests_[client];
    if (!guest.written_down) {  // it was never admitted, so it cannot have committed anything
      unlink(client);
      continue;
    }
    equip(life);
    Channel& channel = *(life.views[client] = std::make_unique<Channel>(guest.segment->view()));
    ChannelControl& control = guest.segment->control();
    world_.choose();
    const bool alive = processes_.began(guest.process) != 0;
    const bool has_left = control.client_state.load() == ChannelControl::kClientLeft;
    life.core->adopt(client, plan_of(client).config, {channel, control.server_asleep, guest.process}, guest.began,
                     alive, has_left);
  }
}

void SimNode::listen(Life& life) {
  while (!life.inbox.empty()) {
    Message& message = *life.inbox.front();
    life.inbox.pop_front();
    hear(life, message);
  }
}

void SimNode::hear(Life& life, Message& message) {
  switch (message.kind) {
    case Message::Kind::died: return lose(life, message, true);
    case Message::Kind::goodbye: return lose(life, message, false);
    case Message::Kind::hello: return greet(life, message);
  }
}

// Does the work of CoreAcceptor with a greeting.
void SimNode::greet(Life& life, Message& hello) {
  const int client = hello.client;
  if (processes_.began(hello.process) == 0) return;
  const Result<bool> next_run = hello.again ? Result<bool>(false) : life.core->is_of_next_run(client, hello.process);
  const bool number_is_taken = life.views.contains(client) && life.core->gone(client);
  if (next_run.ok() && (next_run.value() || (number_is_taken && !hello.again))) {
    life.next_run_is_here = life.next_run_is_here || next_run.value();
    life.waiting.push_back(&hello);
    return;
  }
  if (!next_run.ok()) {
    hello.refusal = next_run.status();
  } else if (life.views.contains(client)) {
    hello.refusal = check_return(life, hello);
  } else if (hello.again) {
    hello.refusal = Status(TAILRACE_SERVER_LOST, fmt::format("the server has never heard of client {}", client));
  } else {
    admit(life, hello);
  }
  if (hello.refusal.ok()) {
    life.connected.insert(client);
    ever_welcome_.insert(client);
    hello.segment = guests_[client].segment.get();
  } else {
    life.core->refused();
  }
  hello.answered = true;
  world_.wake(&life.inbox);
  world_.choose();
}

Status SimNode::check_return(const Life& life, const Message& hello) const {
  const Guest& guest = guests_.at(hello.client);
  const bool unaware = guest.segment->control().client_state.load() == ChannelControl::kClientUnaware;
  const bool waits = !life.connected.contains(hello.client) && !life.core->gone(hello.client);
  if (waits && (hello.again || unaware) && guest.process == hello.process) return {};
  return Status(TAILRACE_CLIENT_IN_USE, fmt::format("client {} is open already", hello.client));
}

void SimNode::admit(Life& life, const Message& hello) {
  equip(life);
  const ClientPlan& plan = plan_of(hello.client);
  Guest& guest = guests_[hello.client];
  guest.segment = std::make_unique<SimSegment>(plan.config.memory.budget, plan.config.variables.size(), plan.channel);
  guest.process = hello.process;
  guest.began = processes_.began(hello.process);
  world_.choose();
  guest.written_down = true;
  world_.choose();
  Channel& channel = *(life.views[hello.client] = std::make_unique<Channel>(guest.segment->view()));
  life.core->begin(hello.client, plan.config, {channel, guest.segment->control().server_asleep, hello.process});
  world_.choose();
}

// Returns the client's plan. One client too many gets the first one's.
const ClientPlan& SimNode::plan_of(int client) const {
  const auto number = static_cast<size_t>(client);
  return clients_[number < clients_.size() ? number : 0];
}

void SimNode::lose(Life& life, const Message& message, bool died) {
  const int client = message.client;
  const auto guest = guests_.find(client);
  if (guest == guests_.end() || guest->second.process != message.process) return;
  if (!life.views.contains(client) || life.core->gone(client)) return;
  world_.story().tell("server life {}: client {} {}", life.number, client, died ? "has died" : "says goodbye");
  life.core->lose(client, died);
}

void SimNode::let_go(Life& life, int client) {
  life.views.erase(client);
  life.connected.erase(client);
  life.number_is_free = true;
  world_.choose();
  guests_[client].written_down = false;
  world_.choose();
  unlink(client);
}

void SimNode::unlink(int client) {
  unlinked_.push_back(std::move(guests_[client].segment));
  guests_.erase(client);
}

void SimNode::end(Life& life) {
  const bool keeps_ledger = life.core->finish();
  life.core.reset();
  if (!keeps_ledger) life.ledger->remove();
  world_.story().check(life.storage.idle(), "end", "the storage has something under way after the end");
  world_.story().tell("server life {} ends", life.number);
  life.over = true;
  current_ = nullptr;
  world_.wake(&life.inbox);
}

}  // namespace tailrace::impl::simulation
