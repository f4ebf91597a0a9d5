// A peer in another process dies while bulk data move both ways.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <map>

#include "base/os/file_descriptor.hpp"
#include "transport_rig.hpp"

extern char** environ;

namespace tailrace::impl {
namespace {

// The program kPeer.
class OtherProcess {
 public:
  explicit OtherProcess(const std::string& transport) {
    std::array<int, 2> input{};
    std::array<int, 2> output{};
    EXPECT_EQ(::pipe2(input.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(output.data(), O_CLOEXEC), 0);
    const FileDescriptor its_input(input[0]);
    const FileDescriptor its_output(output[1]);
    input_ = FileDescriptor(input[1]);
    const FileDescriptor said(output[0]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, its_input.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, its_output.get(), STDOUT_FILENO);
    std::string program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / kPeer;
    std::string argument = transport;
    std::array<char*, 3> arguments{program.data(), argument.data(), nullptr};
    EXPECT_EQ(::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    char letter = 0;
    while (::read(said.get(), &letter, 1) == 1 && letter != '\n') address_ += letter;
  }
  ~OtherProcess() { kill(); }

  const std::string& address() const { return address_; }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  FileDescriptor input_;
  std::string address_;
};

class KilledPeer : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Transports, KilledPeer, ::testing::ValuesIn(kKilled),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(KilledPeer, IsLostAfterTheEndOfAllTransfers) {
  Doorbell doorbell;
  Result<std::unique_ptr<Transport>> made = make_transport(GetParam(), doorbell);
  ASSERT_TRUE(made.ok()) << message_of(made.status());
  Transport& transport = *made.value();
  for (int round = 0; round < 5; ++round) {
    OtherProcess other(GetParam());
    const PeerId peer = transport.connect(other.address());
    std::map<uint64_t, Bytes> into;
    Bytes bulk(size_t{4} << 20);
    uint64_t last = 0;
    int sends = 0;
    int received = 0;
    bool is_lost = false;
    // Over shared memory, UCX may need 20 s to notice a death. The owner, which has noticed it, then closes.
    int killed_at = TransportRig::kMostSteps;
    bool is_closed = false;
    const auto is_over = [&] { return is_lost || (is_closed && sends == 0 && into.empty()); };
    for (int step = 0; !is_over() && step < TransportRig::kMostSteps; ++step) {
      if (!is_closed && step > killed_at + 1000) {
        transport.close(peer);
        is_closed = true;
      }
      std::vector<TransportEvent> events;
      transport.poll(events);
      if (events.empty()) transport.wait(std::chrono::milliseconds(1));
      for (const TransportEvent& event : events) {
        EXPECT_EQ(event.peer, peer);
        EXPECT_FALSE(is_lost) << "an event after the loss";
        const iovec all{bulk.data(), bulk.size()};
        if (event.kind == Kind::connected) {
          for (; sends < 8; ++sends) transport.send(peer, {}, {&all, 1}, 0);
        }
        if (event.kind == Kind::sent) sends--;
        if (event.kind == Kind::message) {
          into[++last].resize(event.bulk);
          transport.receive(peer, event.arrival, into[last], last);
        }
        if (event.kind == Kind::received) {
          into.erase(event.tag);
          if (++received == 20 + round) {
            other.kill();
            killed_at = step;
          }
        }
        if (event.kind == Kind::lost) is_lost = true;
      }
    }
    EXPECT_TRUE(is_over());
    EXPECT_EQ(sends, 0);
    EXPECT_TRUE(into.empty());
  }
}

}  // namespace
}  // namespace tailrace::impl
