// core_kills [--kills N] [--seed S] [--servers N] [--sync]: kill -9 of clients and servers of place `core` at random
// moments (promises 1, 3 and 5).
//
// In each round a few clients run, each in a separate process, and each killed process is replaced: a server by its
// clients, a client by another one. With --servers they have several servers, of which one at a time is killed. With
// --sync the clients do not replace a server but go on by themselves; the next client that comes starts one. At the
// end, the files are compared with what the clients were told: every iteration whose end was confirmed is in its file
// to the bit, whichever process died; no file is incomplete; no call has failed; no segment, ledger or lock is left.
// The moment of a kill depends on the clients' progress and a few spins, never on a clock. The seed is printed, and
// repeats the random parts, but not the machine's timing.
#include <poll.h>
#include <sys/prctl.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

#include "core_node.hpp"
#include "scenario_files.hpp"

namespace {

using test::CoreNode;
using test::Directory;
using test::OtherProcess;
using test::Scenario;

constexpr int kIterations = 12;
constexpr size_t kClients = 3;      // at once
constexpr uint64_t kPerRound = 10;  // kills
constexpr int kDeathsAtOpen = 4;    // of servers while one client opens: it starts five before it gives up

struct Totals {
  uint64_t rounds = 0;
  uint64_t servers = 0;  // killed
  uint64_t clients = 0;
  uint64_t published = 0;
  uint64_t unfinished = 0;
  uint64_t wrong = 0;
};

// Options of the place.
struct Options {
  int servers = 1;
  bool sync = false;

  std::string text() const {
    return "cores: " + std::to_string(servers) + ", on_server_loss: " + (sync ? "sync" : "restart");
  }
};

// One client, alive or not.
struct Client {
  Client(int number_in, uint64_t seed, uint64_t job, const Options& options, const Directory& directory)
      : number(number_in),
        scenario(seed),
        process(SIMULATION, {directory.path(), std::to_string(seed), std::to_string(kIterations),
                             std::to_string(number), std::to_string(job), options.text()}) {
    scenario.share(job);
  }

  // Reads one byte of its progress; returns false at its end.
  bool hear() {
    char byte = 0;
    if (!process.read_byte(byte)) return false;
    opened = true;
    if (byte == 'e') ++ended;
    if (byte == 'c') closed = true;
    if (byte == '!') failed = true;
    return true;
  }

  const int number;
  Scenario scenario;
  OtherProcess process;
  bool running = true;
  bool opened = false;
  int deaths_at_open = 0;  // of servers
  bool killed = false;
  bool closed = false;
  bool failed = false;
  int64_t ended = 0;  // iterations whose end_iteration has returned
};

class Round {
 public:
  Round(uint64_t seed, uint64_t kills, const Options& options, Totals& totals)
      : seed_(seed), random_(seed), kills_(kills), options_(options), totals_(totals), directory_(somewhere()) {}

  void run() {
    while (clients_.size() < kClients) start_client();
    while (hear_somebody()) {
      if (kills_ > 0 && random_() % 16 == 0) strike();
    }
    node_.wait_end_of_servers();
    // If the last client was killed, and its server with it, none was left to continue.
    for (const int status : node_.drain(options_.servers))
      complain("tailrace-core --drain ended with " + std::to_string(status));
    for (const auto& client : clients_) check(*client);
    check_leavings();
    ++totals_.rounds;
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }

  uint64_t kills_left() const { return kills_; }

 private:
  // Half of the rounds are in memory, where everything is fast, the rest in TMPDIR.
  test::fs::path somewhere() {
    return random_() % 2 == 0 ? test::fs::path("/dev/shm") : test::fs::temp_directory_path();
  }

  void start_client() {
    const int number = static_cast<int>(clients_.size());
    const uint64_t seed = seed_ * 1000 + static_cast<uint64_t>(number);
    clients_.push_back(std::make_unique<Client>(number, seed, seed_, options_, directory_));
  }

  // Reads a byte from every client that has printed something. Returns false when none is running.
  bool hear_somebody() {
    std::vector<pollfd> polled;
    std::vector<Client*> of;
    for (const auto& client : clients_) {
      if (!client->running) continue;
      polled.push_back({client->process.output(), POLLIN, 0});
      of.push_back(client.get());
    }
    if (polled.empty()) return false;
    while (poll(polled.data(), polled.size(), -1) < 0 && errno == EINTR) {
    }
    for (size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents == 0 || of[i]->hear()) continue;
      of[i]->running = false;
      if (!of[i]->killed) of[i]->process.wait_end();
    }
    return true;
  }

  void strike() {
    const uint64_t spins = uint64_t{1} << (random_() % 20);
    for (std::atomic<uint64_t> i{0}; i < spins;) ++i;
    const uint64_t what = random_() % 10;
    if (what < 7) kill_server();
    if (what >= 6) kill_client();
  }

  void kill_server() {
    for (const auto& client : clients_) {
      if (client->running && !client->opened && ++client->deaths_at_open > kDeathsAtOpen) return;
    }
    const int which =
        options_.servers == 1 ? -1 : static_cast<int>(random_() % static_cast<uint64_t>(options_.servers));
    const int hit = node_.kill_servers(SIGKILL, which);
    totals_.servers += static_cast<uint64_t>(hit);
    kills_ -= std::min(kills_, static_cast<uint64_t>(hit));
  }

  void kill_client() {
    std::vector<Client*> running;
    for (const auto& client : clients_) {
      if (client->running && !client->killed) running.push_back(client.get());
    }
    if (running.empty()) return;
    Client& victim = *running[random_() % running.size()];
    victim.killed = true;
    victim.process.end(SIGKILL);
    ++totals_.clients;
    kills_ -= std::min<uint64_t>(kills_, 1);
    if (kills_ > 0) start_client();  // under another number: the data of this one are still being written
  }

  void check(const Client& client) {
    if (client.failed) complain(name_of(client, -1) + ": a call has failed");
    if (!client.killed && !client.closed) complain(name_of(client, -1) + " has not come to its end");
    for (int64_t iteration = 0; iteration < kIterations; ++iteration) {
      const std::string name = name_of(client, iteration);
      const test::fs::path path = directory_.path() / name;
      const bool published = test::fs::exists(path);
      const bool unfinished = test::fs::exists(path.string() + ".part");
      totals_.published += published ? 1 : 0;
      totals_.unfinished += unfinished ? 1 : 0;
      if (iteration < client.ended && !published) complain(name + " is missing");
      // The call in which it was killed may or may not have ended; nothing comes after that.
      if (iteration > client.ended && published) complain(name + " was never ended");
      if (unfinished && (published || iteration != client.ended)) complain(name + ".part is left");
      if (!published) continue;
      if (const std::string wrong = test::wrong_in(path, client.scenario, iteration); !wrong.empty()) complain(wrong);
    }
  }

  void check_leavings() {
    for (const std::string& left : node_.leavings()) complain("'" + left + "' is left in the runtime directory");
    for (const std::string& name : directory_.names()) {
      if (name.ends_with(".lock")) complain("'" + name + "' is left in the output directory");
      if (!name.ends_with(".log") || totals_.wrong == 0) continue;
      std::fprintf(stderr, "%s:\n%s\n", name.c_str(), test::text_of(directory_.path() / name).c_str());
    }
  }

  static std::string name_of(const Client& client, int64_t iteration) {
    if (iteration < 0) return "client " + std::to_string(client.number);
    char name[40];
    std::snprintf(name, sizeof name, "killed_c%d_%06lld.h5", client.number, static_cast<long long>(iteration));
    return name;
  }

  void complain(const std::string& what) {
    std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed_), what.c_str());
    ++totals_.wrong;
  }

  const uint64_t seed_;
  std::mt19937_64 random_;
  uint64_t kills_;
  const Options options_;
  Totals& totals_;
  const Directory directory_;
  const CoreNode node_;
  std::vector<std::unique_ptr<Client>> clients_;
};

uint64_t option(int argc, char** argv, const char* name, uint64_t otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], name) == 0) return std::strtoull(argv[i + 1], nullptr, 10);
  }
  return otherwise;
}

bool flag(int argc, char** argv, const char* name) {
  return std::any_of(argv, argv + argc, [name](const char* text) { return std::strcmp(text, name) == 0; });
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t kills = option(argc, argv, "--kills", 40);
  const uint64_t seed = option(argc, argv, "--seed", std::random_device{}());
  Options options;
  options.servers = static_cast<int>(option(argc, argv, "--servers", 1));
  options.sync = flag(argc, argv, "--sync");
  std::printf("core_kills --kills %llu --seed %llu --servers %d%s\n", static_cast<unsigned long long>(kills),
              static_cast<unsigned long long>(seed), options.servers, options.sync ? " --sync" : "");
  std::fflush(stdout);
  // Servers have no parent: here they become our children, and are reaped at the round's end.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  Totals totals;
  for (uint64_t round = 0, left = kills; left > 0 && totals.wrong == 0; ++round) {
    const uint64_t of_round = std::min(left, kPerRound);
    Round one(seed + round, of_round, options, totals);
    one.run();
    left -= of_round - one.kills_left();
  }
  std::printf("%llu rounds: %llu servers and %llu clients killed; %llu files whole, %llu unfinished; %llu wrong\n",
              static_cast<unsigned long long>(totals.rounds), static_cast<unsigned long long>(totals.servers),
              static_cast<unsigned long long>(totals.clients), static_cast<unsigned long long>(totals.published),
              static_cast<unsigned long long>(totals.unfinished), static_cast<unsigned long long>(totals.wrong));
  return totals.wrong == 0 ? 0 : 1;
}
