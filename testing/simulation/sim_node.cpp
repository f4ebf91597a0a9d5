#include "testing/simulation/sim_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/schedule/fifo.hpp"
#include "format/hdf5/hdf5_format.hpp"
#include "place/node_rings.hpp"
#include "session/node_clients.hpp"
#include "testing/simulation/sim_process.hpp"

namespace tailrace::impl::simulation {
namespace {

std::string same_date() { return "2026-01-02 03:04:05 +0000"; }

}  // namespace

// The ledger's lines, which lose nothing when a server dies.
struct SimNode::Store final : LedgerStore {
  explicit Store(SimNode& node_in) : node(node_in), world(node.world_), lines(node.ledger_) {}

  Result<std::vector<LedgerRecord>> read() override { return lines; }
  Status append(const LedgerRecord& record) override {
    world.choose();
    node.may_die_at(record, true);
    lines.push_back(record);
    node.may_die_at(record, false);
    world.choose();
    return {};
  }
  Status replace(std::span<const LedgerRecord> records) override {
    world.choose();
    lines.assign(records.begin(), records.end());
    world.choose();
    return {};
  }
  void remove() override {
    world.choose();
    lines.clear();
    world.choose();
  }
  std::string name() const override { return "ledger"; }

  SimNode& node;
  World& world;
  std::vector<LedgerRecord>& lines;
};

// A server process.
struct SimNode::Life final : NodeRings::Host {
  Life(SimNode& node, uint64_t number_in)
      : number(number_in),
        log(node.world_.story()),
        storage(node.world_, node.disk_, node.faults_, doorbell, SplitDice(node.seed_, "node storage", number_in),
                node.plan_.storage, fmt::format("server life {}", number_in)),
        any_order(SplitDice(node.seed_, "node order", number_in)),
        slots(node.plan_.any_order ? static_cast<Scheduler&>(any_order) : fifo, node.plan_.turn),
        engine(storage, slots, node.world_.clock(), node.plan_.engine),
        world(node.world_),
        rings(*this) {
    storage.ignore([this](const void* memory) { return engine.throws_away(memory); });
  }

  Status check(int client, const Descriptor& verb) override { return clients->check(client, verb); }
  void accepted(int client, const Descriptor& verb) override { clients->accepted(client, verb); }
  void lost(int client) override { clients->lost(client); }
  bool settled(int client) override { return clients->settled(client); }
  void leave(int client) override { clients->leave(client); }
  bool released(int client) override { return clients->released(client); }
  void dismiss(int client) override { clients->dismiss(client); }
  void progress() override {
    slots.look(world.time());
    if (clients->pressed()) slots.open();
    clients->progress();
  }
  bool ready() override { return clients->ready(); }

  const uint64_t number;
  World::FiberId fiber = 0;
  bool over = false;
  StoryLog log;
  Doorbell doorbell;
  SimStorage storage;
  Fifo fifo;
  AnyOrder any_order;
  Slots slots;
  Engine engine;
  World& world;
  std::optional<Ledger> ledger;
  std::optional<NodeClients> clients;
  NodeRings rings;
  std::map<int, std::unique_ptr<Channel>> views;  // of the clients that it serves
  std::set<int> connected;                        // of these, the ones that it has welcomed
  std::deque<Message*> inbox;
  std::deque<Message> own_messages;  // those that nobody waits for
};

SimNode::SimNode(World& world, SimDisk& disk, Faults& faults, uint64_t seed, const NodePlan& plan,
                 const std::vector<ClientPlan>& clients, std::function<void()> show_disk)
    : world_(world),
      disk_(disk),
      faults_(faults),
      seed_(seed),
      plan_(plan),
      clients_(clients),
      show_disk_(std::move(show_disk)),
      dice_(seed, "node"),
      line_death_(plan.line_death) {
  for (size_t client = 0; client < clients.size(); ++client) processes_.insert(static_cast<int>(client));
}

// What was killed stays as it was: nobody destroys the objects of a process that is no more.
SimNode::~SimNode() {
  static auto* const killed = new std::vector<std::unique_ptr<Life>>;
  for (std::unique_ptr<Life>& life : lives_) {
    if (!life->over) killed->push_back(std::move(life));
  }
}

// ---- clients ------------------------------------------------------------------------------------------------

SimNode::Met SimNode::meet(int client, bool again) {
  for (;;) {
    world_.choose();
    if (current_ == nullptr) start_server();
    Life& life = *current_;
    Message hello{Message::Kind::hello, client, again, false, nullptr};
    life.inbox.push_back(&hello);
    life.doorbell.wake();
    while (!hello.answered && current_ == &life) world_.sleep(&life.inbox, std::nullopt);
    if (hello.answered) return {hello.segment, life.number};
    world_.story().tell("client {}: the server has ended just as it was met", client);
  }
}

bool SimNode::is_alive(uint64_t life) const { return current_ != nullptr && current_->number == life; }

void SimNode::ring(uint64_t life) {
  world_.choose();
  if (is_alive(life)) current_->doorbell.wake();
}

void SimNode::say_goodbye(int client) {
  world_.choose();
  if (current_ == nullptr) return;
  current_->own_messages.push_back({Message::Kind::goodbye, client, false, false, nullptr});
  current_->inbox.push_back(&current_->own_messages.back());
  current_->doorbell.wake();
}

void SimNode::process_ended(int client) {
  processes_.erase(client);
  if (current_ == nullptr) return;
  current_->own_messages.push_back({Message::Kind::died, client, false, false, nullptr});
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

// A server may die between its mark that a block has ended and the block's return, where it makes no call: that is as
// if the block that it returned last had not been.
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

// On the server's fiber.
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
  start_server();
  return true;
}

// What NodeServer::serve() and NodeLoop::run() do.
void SimNode::live(Life& life) {
  show_disk_();
  Result<Ledger> ledger = Ledger::open(std::make_unique<Store>(*this), life.log);
  TAILRACE_REQUIRE(ledger.ok());
  life.ledger = std::move(ledger).value();
  life.clients.emplace(life.engine, *life.ledger, life.log, [](int client, const Config& config) {
    return std::make_unique<Hdf5Format>(config, Hdf5Format::Options{client, "machine", same_date});
  });
  adopt_all(life);
  life.clients->take_up_ledger();
  for (;;) {
    if (work(life)) continue;
    const bool nobody_waits = std::none_of(life.inbox.begin(), life.inbox.end(), [](const Message* message) {
      return message->kind == Message::Kind::hello;
    });
    if (life.views.empty() && nobody_waits && !life.clients->expects_more()) break;
    life.doorbell.prepare();
    life.rings.announce();
    const bool worked = work(life);
    world_.choose();
    if (worked) {
      life.doorbell.cancel();
    } else {
      wake_for_slot(life);
      life.doorbell.sleep();
    }
    while (!life.inbox.empty()) {
      Message& message = *life.inbox.front();
      life.inbox.pop_front();
      hear(life, message);
    }
    life.rings.retract();
  }
  end(life);
}

// What NodeServer::next_in() is for.
void SimNode::wake_for_slot(Life& life) {
  const std::optional<Nanoseconds> due = life.slots.due();
  if (!due) return;
  world_.after(std::max(*due - world_.time(), Nanoseconds::zero()), [this, number = life.number] {
    if (is_alive(number)) current_->doorbell.wake();
  });
}

void SimNode::adopt_all(Life& life) {
  std::vector<int> found;
  for (const auto& [client, guest] : guests_) found.push_back(client);
  for (const int client : found) {
    world_.choose();
    Guest& guest = guests_[client];
    if (!guest.written_down) {  // it was never welcomed: nothing can have been committed
      unlink(client);
      continue;
    }
    Channel& channel = *(life.views[client] = std::make_unique<Channel>(guest.segment->view()));
    const ClientPlan& plan = clients_[static_cast<size_t>(client)];
    RequestSink& sink = life.clients->adopt(client, plan.config, channel);
    world_.choose();
    life.rings.add(client, channel, guest.segment->control().server_asleep, sink, life.ledger->last_sequence(client));
    const bool alive = processes_.contains(client);
    const bool has_left = guest.segment->control().client_state.load() == ChannelControl::kClientLeft;
    if (!alive || has_left) life.rings.lose(client, !alive);
  }
}

bool SimNode::work(Life& life) {
  const NodeRings::Round round = life.rings.work();
  if (!round.distrusted.empty()) {
    world_.story().fail("answer", "an honest client is not believed: " + round.distrusted[0].second.fault().message);
  }
  for (const auto& [client, died] : round.dismissed) {
    life.views.erase(client);
    life.connected.erase(client);
    world_.choose();
    guests_[client].written_down = false;
    world_.choose();
    unlink(client);
  }
  return round.more;
}

void SimNode::hear(Life& life, Message& message) {
  const int client = message.client;
  switch (message.kind) {
    case Message::Kind::died: return lose(life, client, true);
    case Message::Kind::goodbye: return lose(life, client, false);
    case Message::Kind::hello: break;
  }
  if (!processes_.contains(client)) return;
  if (life.views.contains(client)) {
    if (!is_welcome_back(life, message)) {
      world_.story().fail("answer", fmt::format("client {}, which comes back, is not welcome", client));
    }
  } else {
    if (message.again) world_.story().fail("answer", fmt::format("the server has never heard of client {}", client));
    admit(life, client);
  }
  life.connected.insert(client);
  message.segment = guests_[client].segment.get();
  message.answered = true;
  world_.wake(&life.inbox);
  world_.choose();
}

bool SimNode::is_welcome_back(const Life& life, const Message& hello) {
  if (life.connected.contains(hello.client) || life.rings.gone(hello.client)) return false;
  const auto state = guests_[hello.client].segment->control().client_state.load();
  return hello.again || state == ChannelControl::kClientUnaware;
}

void SimNode::admit(Life& life, int client) {
  const ClientPlan& plan = clients_[static_cast<size_t>(client)];
  Guest& guest = guests_[client];
  guest.segment = std::make_unique<SimSegment>(plan.config.memory.budget, plan.config.variables.size(), plan.channel);
  world_.choose();
  guest.written_down = true;
  world_.choose();
  Channel& channel = *(life.views[client] = std::make_unique<Channel>(guest.segment->view()));
  RequestSink& sink = life.clients->begin(client, plan.config, channel);
  life.rings.add(client, channel, guest.segment->control().server_asleep, sink, 0);
  world_.choose();
}

void SimNode::lose(Life& life, int client, bool died) {
  if (!life.views.contains(client) || life.rings.gone(client)) return;
  world_.story().tell("server life {}: client {} {}", life.number, client, died ? "has died" : "says goodbye");
  life.rings.lose(client, died);
}

void SimNode::unlink(int client) {
  unlinked_.push_back(std::move(guests_[client].segment));
  guests_.erase(client);
}

// What NodeServer::finish() does, and the end of its process.
void SimNode::end(Life& life) {
  while (!life.engine.idle()) {
    life.doorbell.prepare();
    life.slots.open();
    life.engine.progress();
    if (life.engine.idle()) break;
    life.doorbell.sleep();
  }
  life.clients.reset();
  life.ledger->remove();
  world_.story().check(life.storage.idle(), "end", "the storage has something under way after the end");
  world_.story().tell("server life {} ends", life.number);
  life.over = true;
  current_ = nullptr;
  world_.wake(&life.inbox);
}

}  // namespace tailrace::impl::simulation
