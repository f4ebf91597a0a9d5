// Measures costs of a server that could grow with what is there but has nothing to do: with the number of clients,
// of open raw files, and of variables.
//
// The server runs on this thread, on storage in memory, so that the processor's time is the server's.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/sync/doorbell.hpp"
#include "channel/channel_memory.hpp"
#include "client/client.hpp"
#include "engine/schedule/fifo.hpp"
#include "format/hdf5/hdf5_format.hpp"
#include "server/served_clients.hpp"
#include "storage/memory/memory_storage.hpp"
#include "testing/no_processes.hpp"
#include "testing/sample_config.hpp"

namespace tailrace::impl {
namespace {

// Returns the processor's time, so that other programs matter less.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void require(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "growth_cost: %s\n", status.fault().message.c_str());
  std::exit(1);
}

// Keeps a ledger's lines in memory.
class KeptLines final : public LedgerStore {
 public:
  Result<std::vector<LedgerRecord>> read() override { return lines_; }
  Status append(const LedgerRecord& record) override {
    lines_.push_back(record);
    return {};
  }
  Status replace(std::span<const LedgerRecord> records) override {
    lines_.assign(records.begin(), records.end());
    return {};
  }
  void append_last(const LedgerRecord& record) override { lines_.push_back(record); }
  void remove() override { lines_.clear(); }
  std::string name() const override { return "a benchmark's"; }

 private:
  std::vector<LedgerRecord> lines_;
};

class NoLog final : public Log {
 public:
  void put(LogLevel, std::string_view) override {}
};

class Node;

// A client whose waits make the server work.
class NodeClient final : public Place {
 public:
  NodeClient(Node& node, int number);

  Client& client() { return *client_; }

  // Implements Place.
  Channel& channel() override { return channel_; }
  void ring() override {}
  bool reaches_client() const override { return false; }
  uint32_t losses() const override { return 0; }
  void stop() override {}
  const std::string& description() const override { return description_; }
  Status wait(FunctionRef<bool()> ready, std::optional<Nanoseconds>) override;

 private:
  Channel view() const { return layout_.view(memory_.get() + budget_, {memory_.get(), budget_}); }
  Channel make_channel() const {
    layout_.construct(memory_.get() + budget_);
    return view();
  }

  Node& node_;
  const std::string description_ = "a benchmark's";
  const ChannelMemory layout_;
  const uint64_t budget_;
  const std::unique_ptr<std::byte, void (*)(void*)> memory_;  // the pool, followed by the channel's parts
  Channel channel_;
  Channel of_server_;
  TraceLog trace_{0};
  std::optional<Client> client_;
};

// A node's server, and its clients.
class Node final {
 public:
  explicit Node(Config config, int clients)
      : config_(std::move(config)),
        ledger_(std::move(Ledger::open(std::make_unique<KeptLines>(), log_)).value()),
        clients_(ledger_, log_, runs_,
                 {engine_, [this](int client, const Config& of) { return make_format(client, of); }}) {
    for (int number = 0; number < clients; ++number) all_.emplace_back(*this, number);
  }
  ~Node() {
    for (size_t number = 0; number < all_.size(); ++number) clients_.rings().lose(static_cast<int>(number), true);
    serve();
  }

  Client& client(int number) { return all_[static_cast<size_t>(number)].client(); }
  void serve() {
    for (int quiet = 0; quiet < 3;) quiet = clients_.rings().work().more ? 0 : quiet + 1;
  }

 private:
  friend class NodeClient;

  std::unique_ptr<Format> make_format(int client, const Config& config) {
    const auto date = [] { return std::string("2026-01-02 03:04:05 +0000"); };
    return std::make_unique<Hdf5Format>(config, storage_.files(), Hdf5Format::Options{client, "machine", date});
  }

  const Config config_;
  SteadyClock clock_;
  NoLog log_;
  Doorbell doorbell_;
  MemoryStorage storage_{doorbell_};
  Fifo fifo_;
  Engine engine_{storage_, fifo_, clock_, {}};
  Ledger ledger_;
  NoProcesses processes_;
  RunWatch runs_{processes_};
  std::deque<NodeClient> all_;  // their channels outlive the server's view of them
  ServedClients clients_;
};

NodeClient::NodeClient(Node& node, int number)
    : node_(node),
      layout_({.variables = static_cast<uint32_t>(node.config_.variables.size())}),
      budget_(node.config_.memory.budget),
      memory_(static_cast<std::byte*>(std::aligned_alloc(4096, budget_ + layout_.bytes())), std::free),
      channel_(make_channel()),
      of_server_(view()) {
  node.clients_.begin(number, node.config_,
                      {of_server_, ChannelMemory::control(memory_.get() + budget_).server_asleep});
  client_.emplace(node.config_, *this, node.clock_, node.log_, trace_);
}

Status NodeClient::wait(FunctionRef<bool()> ready, std::optional<Nanoseconds>) {
  for (int round = 0; round < 1000; ++round) {
    if (ready()) return {};
    node_.serve();
  }
  return Status(TAILRACE_TIMEOUT, "it waits for time to pass");
}

Config config_of(uint64_t budget = 1 << 16) {
  Config config = sample_config({"out"}, {{"a", ElementType::float64, {64}}});
  config.memory.budget = budget;
  return config;
}

// Returns the seconds of a client's iteration when `writing` of the clients write one, and the others nothing.
double iteration_of_each(int clients, int writing, int iterations) {
  Node node(config_of(), clients);
  const std::vector<double> values(64, 1.5);
  constexpr int64_t kWarm = 5;  // the first one is described by HDF5, and memory is touched for the first time
  double start = 0;
  for (int64_t iteration = -kWarm; iteration < iterations; ++iteration) {
    if (iteration == 0) start = now();
    for (int number = 0; number < writing; ++number) {
      require(node.client(number).write("a", iteration + kWarm, values.data()));
      require(node.client(number).end_iteration(iteration + kWarm));
    }
    node.serve();
  }
  return (now() - start) / writing / iterations;
}

// Returns the seconds of a write that is waited for, with other files open.
double file_write(int files, int writes) {
  Node node(config_of(1 << 22), 1);
  ClientFiles& raw = node.client(0).files();
  std::vector<uint32_t> open;
  for (int i = 0; i < files; ++i) {
    const Result<uint32_t> file = raw.open("file_" + std::to_string(i), TAILRACE_FILE_WRITE);
    require(file.status());
    open.push_back(file.value());
  }
  const tailrace_extent extent{0, 512};
  const std::vector<std::byte> bytes(512);
  const double start = now();
  for (int i = 0; i < writes; ++i) {
    require(raw.write(open[0], {&extent, 1}, bytes.data()));
    require(raw.sync(open[0]));
  }
  return (now() - start) / writes;
}

// Returns the bytes of a channel for each variable.
double channel_bytes(uint32_t variables) {
  const auto bytes = [](uint32_t of) { return static_cast<double>(ChannelMemory({.variables = of}).bytes()); };
  return (bytes(variables) - bytes(1)) / variables;
}

void measure_all(bool tiny) {
  std::printf("what a server does, in us of the processor\n");
  for (const int clients : tiny ? std::vector<int>{1, 10} : std::vector<int>{1, 10, 100, 1000}) {
    std::printf("  an iteration of a client, %6d clients: %9.2f\n", clients,
                1e6 * iteration_of_each(clients, clients, tiny ? 2 : std::max(20, 2000 / clients)));
  }
  for (const int clients : tiny ? std::vector<int>{1, 10} : std::vector<int>{1, 10, 100, 1000}) {
    std::printf("  an iteration of one of %6d clients:       %9.2f\n", clients,
                1e6 * iteration_of_each(clients, 1, tiny ? 2 : 100));
  }
  for (const int files : tiny ? std::vector<int>{1, 10} : std::vector<int>{1, 100, 1000, 10'000}) {
    std::printf("  a write and a sync, %6d files open:  %9.2f\n", files, 1e6 * file_write(files, tiny ? 2 : 200));
  }
  std::printf("bytes of shared memory for a variable:   %9.0f\n", channel_bytes(100'000));
}

}  // namespace
}  // namespace tailrace::impl

int main(int argc, char** argv) {
  const bool tiny = argc == 2 && std::strcmp(argv[1], "--tiny") == 0;
  if (argc > 1 && !tiny) {
    std::fprintf(stderr, "usage: growth_cost [--tiny]\n");
    return 2;
  }
  tailrace::impl::measure_all(tiny);
  return 0;
}
