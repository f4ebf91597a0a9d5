#include "testing/node_rig.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "format/hdf5/hdf5_format.hpp"

namespace tailrace::impl {
namespace {

using Memory = std::unique_ptr<std::byte, void (*)(void*)>;

Memory zeros(uint64_t bytes) {
  const uint64_t pages = (bytes + 4095) / 4096 * 4096;
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(4096, pages)), std::free);
  std::memset(memory.get(), 0, pages);
  return memory;
}

ChannelSizes sizes_for(ChannelSizes sizes, const Config& config) {
  sizes.variables = static_cast<uint32_t>(config.variables.size());
  return sizes;
}

}  // namespace

// A client's process: its memory, and its way to the server.
struct NodeRig::Guest final : Place {
  Guest(NodeRig& rig_in, const Config& config_in)
      : rig(rig_in),
        config(config_in),
        layout(sizes_for(rig.options_.channel, config)),
        pool(zeros(config.memory.budget)),
        parts(zeros(layout.bytes())),
        end(made()) {}

  Channel view() const { return layout.view(parts.get(), {pool.get(), config.memory.budget}); }

  // Implements Place.
  Channel& channel() override { return end; }
  void ring() override {
    if (rig.options_.on_ring) (void)rig.serve();
  }
  bool reaches_client() const override { return false; }
  uint32_t losses() const override { return rig.losses_; }
  void stop() override {}
  const std::string& description() const override { return name; }
  Status wait(FunctionRef<bool()> ready, std::optional<Nanoseconds>) override {
    for (int round = 0; round < 1000; ++round) {
      if (ready()) return {};
      (void)rig.serve();
    }
    return Status(TAILRACE_TIMEOUT, "it waits for time to pass");
  }

  NodeRig& rig;
  const Config config;
  const std::string name = "a test's";
  const ChannelMemory layout;
  const Memory pool;
  const Memory parts;
  Channel end;
  std::optional<Client> client;

 private:
  Channel made() const {
    layout.construct(parts.get());
    return view();
  }
};

NodeRig::Life::Life(NodeRig& rig, std::optional<LedgerRecord::Kind> last)
    : slots(fifo, {1, 2}),
      engine(rig.storage_, rig.options_.turns ? static_cast<Scheduler&>(slots) : fifo, rig.clock_,
             rig.options_.engine),
      ledger(std::move(Ledger::open(std::make_unique<KeptLedger>(rig.lines_, last), rig.log)).value()),
      runs(rig.processes_) {
  const auto make_format = [&rig](int client, const Config& config) {
    const auto date = [] { return std::string("2026-01-02 03:04:05 +0000"); };
    return std::make_unique<Hdf5Format>(config, rig.storage_.files(), Hdf5Format::Options{client, "machine", date});
  };
  clients.emplace(ledger, rig.log, runs, Members::Equipment{engine, make_format});
}

NodeRig::NodeRig(const std::vector<Config>& clients, const Options& options)
    : options_(options), clock_(options.clock ? *options.clock : sim_clock_) {
  for (const Config& config : clients) guests_.push_back(std::make_unique<Guest>(*this, config));
  begin_server(options.last_line);
}

NodeRig::~NodeRig() { end_server(); }

Client& NodeRig::client(size_t number) {
  Guest& guest = *guests_[number];
  if (!guest.client) guest.client.emplace(guest.config, guest, clock_, log, trace_);
  return *guest.client;
}

Channel& NodeRig::channel(size_t number) { return guests_[number]->end; }

Status NodeRig::serve() {
  Status distrusted;
  for (int quiet = 0; quiet < 3;) {
    const ClientRings::Round round = server().rings().work();
    for (const auto& [client, why] : round.distrusted) distrusted = why;
    quiet = round.more ? 0 : quiet + 1;
  }
  return distrusted;
}

void NodeRig::pass(Nanoseconds time) {
  sim_clock_.advance(time);
  (void)serve();
}

void NodeRig::lose(size_t number) {
  server().rings().lose(static_cast<int>(number), true);
  (void)serve();
}

void NodeRig::change_servers() {
  end_server();
  ++losses_;
  begin_server(std::nullopt);
  (void)serve();
}

void NodeRig::begin_server(std::optional<LedgerRecord::Kind> last) {
  life_ = std::make_unique<Life>(*this, last);
  for (size_t number = 0; number < guests_.size(); ++number) {
    Guest& guest = *guests_[number];
    Channel& channel = life_->channels.emplace_back(guest.view());
    server().begin(static_cast<int>(number), guest.config,
                   {channel, ChannelMemory::control(guest.parts.get()).server_asleep}, /*adopted=*/losses_ > 0);
  }
  if (losses_ > 0) server().take_up_ledger();
}

// Nothing is under way when a server dies: all that it did, it did before.
void NodeRig::end_server() {
  for (size_t number = 0; number < guests_.size(); ++number) {
    const auto client = static_cast<int>(number);
    if (!server().members().is_gone(client)) server().rings().lose(client, true);
  }
  (void)serve();
  life_.reset();
}

bool NodeRig::published(int64_t iteration) const {
  return storage_.contents(fmt::format("out/sim_c0_{:06}.h5", iteration)) != nullptr;
}

std::optional<Nanoseconds> NodeRig::next_in() const {
  const auto due = life_->slots.due();
  return due ? std::optional(*due - clock_.now()) : std::nullopt;
}

}  // namespace tailrace::impl
