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
#include <cerrno>
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
constexpr size_t kAddressBytes = 128;
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

Forwarding::Forwarding(const Model& model, const Ranks& ranks, const std::string& run) {
  share_key(ranks, run);
  std::array<char, kAddressBytes> own{};
  if (ranks.leads_dedicated_node()) start(model).copy(own.data(), own.size() - 1);
  int size = 0;
  MPI_Comm_size(ranks.all(), &size);
  std::vector<char> all(static_cast<size_t>(size) * own.size());
  MPI_Allgather(own.data(), static_cast<int>(own.size()), MPI_CHAR, all.data(), static_cast<int>(own.size()),
                MPI_CHAR, ranks.all());
  for (const int rank : ranks.forwarder_ranks()) {
    servers_.emplace_back(&all[static_cast<size_t>(rank) * own.size()]);
    if (!servers_.back().empty()) continue;
    process_.reset();
    if (keeps_key_) ::unlink(key_.c_str());
    throw Failure(DAMARIS_INIT_ERROR,
                  ranks.leads_dedicated_node() ? "a forwarder cannot start: '" + program() + "'" : "");
  }
}

Forwarding::~Forwarding() {
  process_.reset();
  if (keeps_key_) ::unlink(key_.c_str());
}

// Makes a key, and a file of it for each node.
void Forwarding::share_key(const Ranks& ranks, const std::string& run) {
  std::array<unsigned char, kKeyBytes> key{};
  int made = getrandom(key.data(), key.size(), 0) == static_cast<ssize_t>(key.size()) ? 1 : 0;
  MPI_Bcast(key.data(), static_cast<int>(key.size()), MPI_BYTE, 0, ranks.all());
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "tailrace-key-1 ";
  for (const unsigned char byte : key) text += {kDigits[byte / 16], kDigits[byte % 16]};
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
  if (made == 1) return;
  if (keeps_key_) ::unlink(key_.c_str());
  throw Failure(DAMARIS_INIT_ERROR,
                ranks.is_first_of_node() ? "a key for the forwarders cannot be written to '" + key_ + "'" : "");
}

// Returns the address, or "".
std::string Forwarding::start(const Model& model) {
  const uint64_t budget = std::max(model.architecture.buffer, kLeastBudget);
  process_ = std::make_unique<Process>("tailrace: 1\nname: damaris\nmemory: {budget: " + std::to_string(budget) +
                                       "}\nforward: {listen: \"0.0.0.0:0\", roots: " + roots_of(model) +
                                       ", key: " + yaml_text(key_) + "}\n");
  return process_->port().empty() ? "" : own_address() + ":" + process_->port();
}

}  // namespace tailrace::damaris
