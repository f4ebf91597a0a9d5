#include "damaris/ranks/forwarder_rank.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>
#include <tailrace/tailrace_mpi.hpp>

#include "damaris/include/Damaris.h"
#include "damaris/output/configuration.hpp"
#include "damaris/ranks/failure.hpp"
#include "damaris/ranks/text_file.hpp"

namespace tailrace::damaris {
namespace {

constexpr int kStartMs = 30'000;  // until a forwarder listens
constexpr double kEnd = 60;       // seconds that it has for its end
constexpr double kPoll = 0.01;    // seconds
constexpr size_t kKeyBytes = 32;
constexpr uint64_t kLeastBudget = uint64_t{64} << 20;

// The program is beside that of the servers.
std::string program() {
  const std::string server = mpi::detail::program_of({});
  const size_t name = server.rfind("tailrace-core");
  return name == std::string::npos ? "tailrace-forward" : server.substr(0, name) + "tailrace-forward";
}

// Returns an address of this node by which others reach it.
std::string own_address() {
  std::string address = "127.0.0.1";
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return address;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    const bool usable = one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET &&
                        (one->ifa_flags & (IFF_UP | IFF_LOOPBACK)) == IFF_UP;
    if (!usable) continue;
    char text[INET_ADDRSTRLEN] = {};
    sockaddr_in place{};
    std::memcpy(&place, one->ifa_addr, sizeof place);
    if (inet_ntop(AF_INET, &place.sin_addr, text, sizeof text) != nullptr) address = text;
    break;
  }
  freeifaddrs(all);
  return address;
}

// Clients write in the directories of the stores.
std::string roots_of(const Model& model) {
  std::set<std::string> roots;
  for (const size_t store : stores_in_use(model)) {
    const std::string directory = place_of(model.stores[store])[0];
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    roots.insert(std::filesystem::absolute(directory, error).lexically_normal().string());
  }
  std::string text;
  for (const std::string& root : roots) text += (text.empty() ? "" : ", ") + yaml_text(root);
  return "[" + text + "]";
}

}  // namespace

// A forwarder: a child of this rank.
class Forwarding::Process {
 public:
  explicit Process(const std::string& configuration) {
    const TextFile file(configuration);
    const std::string path = program();
    const std::string config = file.name();
    std::array<char*, 4> words = {const_cast<char*>(path.c_str()), const_cast<char*>("--config"),
                                  const_cast<char*>(config.c_str()), nullptr};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (posix_spawnp(&process_, path.c_str(), &actions, nullptr, words.data(), environ) != 0) process_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    output_ = ends[0];
    read_port();
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  // Its clients have closed: it has nothing left to write.
  ~Process() {
    if (process_ > 0) kill(process_, SIGTERM);
    for (double waited = 0; process_ > 0 && waited < kEnd; waited += kPoll) {
      if (waitpid(process_, nullptr, WNOHANG) != 0) process_ = -1;
      if (process_ > 0) usleep(static_cast<useconds_t>(kPoll * 1e6));
    }
    if (process_ > 0)
      say("a forwarder has not ended " + std::to_string(static_cast<int>(kEnd)) + " s after its clients");
    if (output_ >= 0) ::close(output_);
  }

  const std::string& port() const { return port_; }  // empty: it does not listen

 private:
  // It prints "listening on HOST:PORT".
  void read_port() {
    std::string line;
    pollfd readable{output_, POLLIN, 0};
    while (process_ > 0 && line.find('\n') == std::string::npos && poll(&readable, 1, kStartMs) > 0) {
      char text[256];
      const ssize_t some = read(output_, text, sizeof text);
      if (some <= 0) return;
      line.append(text, static_cast<size_t>(some));
    }
    const size_t end = line.find('\n');
    const size_t colon = line.rfind(':', end);
    if (end != std::string::npos && colon != std::string::npos) port_ = line.substr(colon + 1, end - colon - 1);
  }

  pid_t process_ = -1;
  int output_ = -1;
  std::string port_;
};

// Where a dedicated node can be reached. Empty: it has no forwarder, or could not start one.
struct Forwarding::Place {
  char host[INET_ADDRSTRLEN] = {};
  char port[8] = {};  // of the forwarder
  int32_t lifelines = 0;
};

Forwarding::Forwarding(const Model& model, const Ranks& ranks, const std::string& run) {
  const LifeToken token = share_key(ranks, run);
  std::string why;
  Place own;
  int size = 0;
  MPI_Comm_size(ranks.all(), &size);
  std::vector<Place> places(static_cast<size_t>(size));
  try {
    if (ranks.leads_dedicated_node()) lead(model, ranks, token, own);
  } catch (const Failure& failure) {
    why = failure.what();
  }
  MPI_Allgather(&own, sizeof own, MPI_BYTE, places.data(), sizeof own, MPI_BYTE, ranks.all());
  bool led = true;
  for (const int rank : ranks.forwarder_ranks()) {
    const Place& place = places[static_cast<size_t>(rank)];
    servers_.push_back(std::string(place.host) + ":" + place.port);
    led = led && place.lifelines != 0;
  }
  try {
    if (led) meet(ranks, places, token);
  } catch (const Failure& failure) {
    why = failure.what();
  }
  int ok = led && why.empty() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, ranks.all());
  if (ok == 1) return;
  process_.reset();
  if (keeps_key_) ::unlink(key_.c_str());
  throw Failure(DAMARIS_INIT_ERROR, why);
}

// Those who hand over hold a lifeline to each dedicated node, and the other ranks of these nodes one to their first.
void Forwarding::meet(const Ranks& ranks, const std::vector<Place>& places, const LifeToken& token) {
  if (lifelines_) {
    lifelines_->meet();
    return;
  }
  if (!ranks.is_of_dedicated_node() && ranks.has_servers() && ranks.is_client()) return;
  const bool waits = ranks.is_of_dedicated_node();
  for (const int rank : waits ? std::vector<int>{ranks.node_mates().front()} : ranks.forwarder_ranks()) {
    const Place& to = places[static_cast<size_t>(rank)];
    lifeline_.emplace_back(to.host, to.lifelines, token, waits ? Lifeline::Kind::waits : Lifeline::Kind::needs);
  }
}

void Forwarding::wait() {
  if (lifelines_)
    lifelines_->wait();
  else
    lifeline_.front().wait();
}

Forwarding::~Forwarding() {
  process_.reset();
  if (keeps_key_) ::unlink(key_.c_str());
}

// Makes a key, and a file of it for each node. Returns the token of this run.
LifeToken Forwarding::share_key(const Ranks& ranks, const std::string& run) {
  struct {
    std::array<unsigned char, kKeyBytes> key;
    LifeToken token;
  } secret{};
  int made = getrandom(&secret, sizeof secret, 0) == static_cast<ssize_t>(sizeof secret) ? 1 : 0;
  MPI_Bcast(&secret, sizeof secret, MPI_BYTE, 0, ranks.all());
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "tailrace-key-1 ";
  for (const unsigned char byte : secret.key) text += {kDigits[byte / 16], kDigits[byte % 16]};
  text += '\n';
  std::error_code error;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  key_ = (error ? "/tmp" : temporary.string()) + "/tailrace-damaris-" + run + "-" + std::to_string(ranks.node()) +
         ".key";
  if (ranks.is_first_of_node()) {
    const int file = ::open(key_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    keeps_key_ = file >= 0;
    const bool written = file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (file >= 0) ::close(file);
    if (!written) made = 0;
  }
  MPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_INT, MPI_MIN, ranks.all());
  if (made == 1) return secret.token;
  if (keeps_key_) ::unlink(key_.c_str());
  throw Failure(DAMARIS_INIT_ERROR,
                ranks.is_first_of_node() ? "a key for the forwarders cannot be written to '" + key_ + "'" : "");
}

// Starts what the first rank of a dedicated node has. Throws Failure.
void Forwarding::lead(const Model& model, const Ranks& ranks, const LifeToken& token, Place& own) {
  const int handing_over = ranks.has_servers() ? ranks.servers() : ranks.clients();
  lifelines_ = std::make_unique<Lifelines>(token, static_cast<size_t>(handing_over) + ranks.node_mates().size());
  const uint64_t budget = std::max(model.architecture.buffer, kLeastBudget);
  if (budget > model.architecture.buffer) {
    say("the buffer of " + std::to_string(model.architecture.buffer) +
        " bytes is too small for the forwarder of a "
        "dedicated node, which takes " +
        std::to_string(budget) + " bytes");
  }
  process_ = std::make_unique<Process>("tailrace: 1\nname: damaris\nmemory: {budget: " + std::to_string(budget) +
                                       "}\nforward: {listen: \"0.0.0.0:0\", roots: " + roots_of(model) +
                                       ", key: " + yaml_text(key_) + "}\n");
  if (process_->port().empty()) {
    throw Failure(DAMARIS_INIT_ERROR, "a forwarder cannot start: '" + program() + "'");
  }
  own_address().copy(own.host, sizeof own.host - 1);
  process_->port().copy(own.port, sizeof own.port - 1);
  own.lifelines = lifelines_->port();
}

}  // namespace tailrace::damaris
