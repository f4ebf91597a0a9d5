// Signals that end the process wait until what is to be written is written (`on_signal: drain`, and
// tailrace_drain_at_signals), unless the program has an action for them. Each test has children, which signals end.
#include <gtest/gtest.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "run_rig.hpp"

namespace {

using test::Config;
using test::Directory;

constexpr double kSeconds = 60;  // enough for a drain
constexpr unsigned kLimit = 60;  // seconds after which a child that hangs is killed: no test takes that long

// How a child has ended, and what it has printed.
struct End {
  std::string how;
  std::string said;
  bool operator==(const End&) const = default;
};

std::ostream& operator<<(std::ostream& out, const End& end) { return out << end.how << ", and said " << end.said; }

int to_parent = -1;  // in a child

void say(const char* word) { (void)!write(to_parent, word, std::strlen(word)); }

void drain(void* word) { say(static_cast<const char*>(word)); }

void drain_at_signals(const char* word, double seconds = kSeconds) {
  if (tailrace_drain_at_signals(drain, const_cast<char*>(word), seconds) != TAILRACE_OK) _exit(9);
}

void hang(void*) {
  say("hangs");
  for (;;) pause();
}

tailrace_client* open_client(const std::string& configuration) {
  tailrace_open_options options{};
  options.struct_size = sizeof options;
  options.config_text = configuration.c_str();
  tailrace_client* client = nullptr;
  if (tailrace_open_with("text", 0, &options, &client) != TAILRACE_OK) _exit(9);
  return client;
}

End in_child(const std::function<void()>& body) {
  int ends[2];
  if (pipe(ends) != 0) abort();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    to_parent = ends[1];
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    body();
    _exit(0);
  }
  close(ends[1]);
  End end;
  char piece[512];
  for (ssize_t count = 0; (count = read(ends[0], piece, sizeof piece)) > 0;) {
    end.said.append(piece, static_cast<size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  end.how = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit " + std::to_string(WEXITSTATUS(status));
  return end;
}

// Gets the signal, and goes on until it has ended the process.
[[noreturn]] void get(int signal) {
  raise(signal);
  alarm(kLimit);
  ::signal(SIGALRM, SIG_DFL);
  for (;;) pause();
}

class EachSignal : public testing::TestWithParam<int> {};

TEST_P(EachSignal, WaitsForTheDrainAndThenEndsTheProcess) {
  const End end = in_child([] {
    drain_at_signals("a");
    drain_at_signals("b");
    get(GetParam());
  });
  EXPECT_EQ(end, (End{strsignal(GetParam()), "ab"}));
}

INSTANTIATE_TEST_SUITE_P(Signals, EachSignal,
                         testing::Values(SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ, SIGUSR1, SIGUSR2, SIGALRM,
                                         SIGPIPE));

TEST(Signals, OfAFaultActAtOnce) {
  const End end = in_child([] {
    drain_at_signals("a");
    get(SIGFPE);
  });
  EXPECT_EQ(end, (End{strsignal(SIGFPE), ""}));
}

TEST(Signals, ThatTheProgramHandlesAreItsOwn) {
  for (const bool before : {true, false}) {
    const End end = in_child([before] {
      const auto handle = [] { signal(SIGTERM, [](int) { say("handled"), _exit(3); }); };
      if (before) handle();
      drain_at_signals("a");
      if (!before) handle();
      get(SIGTERM);
    });
    EXPECT_EQ(end, (End{"exit 3", "handled"})) << before;
  }
}

TEST(Signals, ThatTheProgramIgnoresStayIgnored) {
  const End end = in_child([] {
    signal(SIGHUP, SIG_IGN);
    drain_at_signals("a");
    raise(SIGHUP);
    say("alive");
  });
  EXPECT_EQ(end, (End{"exit 0", "alive"}));
}

// Programs often pass a signal on to the handler that they have found.
TEST(Signals, ThatAHandlerPassesOnAreDrained) {
  const End end = in_child([] {
    drain_at_signals("a");
    static void (*found)(int) = nullptr;
    found = signal(SIGTERM, [](int number) { say("handled "), found(number); });
    get(SIGTERM);
  });
  EXPECT_EQ(end, (End{strsignal(SIGTERM), "handled a"}));
}

TEST(Signals, DoNotWaitForEver) {
  const End end = in_child([] {
    tailrace_drain_at_signals(hang, nullptr, 0.01);
    get(SIGTERM);
  });
  EXPECT_EQ(end, (End{strsignal(SIGTERM), "hangs"}));
}

TEST(Signals, WaitAsLongAsAClientDoesWherePatienceIsZero) {
  Directory directory;
  const std::string text =
      "tailrace: 1\nname: sim\nplace: {patience: 0.01}\nstorage: {path: " + directory.path().string() + "}\n";
  const End end = in_child([&] {
    tailrace_drain_at_signals(hang, nullptr, 0);
    open_client(text);
    get(SIGTERM);
  });
  EXPECT_EQ(end, (End{strsignal(SIGTERM), "hangs"}));
}

TEST(Signals, EndAProgramThatExitsMeanwhile) {
  static sem_t exits;
  const End end = in_child([] {
    sem_init(&exits, 0, 0);
    const auto wait = [](void*) {
      while (sem_wait(&exits) != 0) {
      }
    };
    tailrace_drain_at_signals(wait, nullptr, kSeconds);
    std::atexit([] { sem_post(&exits); });
    raise(SIGTERM);
    std::exit(0);
  });
  EXPECT_EQ(end, (End{strsignal(SIGTERM), ""}));
}

TEST(Signals, ActAtOnceInAForkedChild) {
  const End end = in_child([] {
    drain_at_signals("parent");
    const pid_t child = fork();
    if (child == 0) get(SIGTERM);
    int status = 0;
    waitpid(child, &status, 0);
    say(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM ? "ended" : "lives");
  });
  EXPECT_EQ(end, (End{"exit 0", "ended"}));
}

TEST(Signals, AreDrainedInAForkedChildThatAsksForIt) {
  const End end = in_child([] {
    drain_at_signals("parent");
    const pid_t child = fork();
    if (child == 0) {
      drain_at_signals("child");
      get(SIGTERM);
    }
    int status = 0;
    waitpid(child, &status, 0);
  });
  EXPECT_EQ(end, (End{"exit 0", "child"}));
}

TEST(Signals, CanBeDrainedBefore) {
  const End end = in_child([] {
    drain_at_signals("a");
    if (tailrace_drain_now() == TAILRACE_OK) say("b");
  });
  EXPECT_EQ(end, (End{"exit 0", "ab"}));
}

TEST(Signals, WrongArgumentsAreRefused) {
  EXPECT_EQ(tailrace_drain_at_signals(nullptr, nullptr, 1), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_drain_at_signals(drain, nullptr, -1), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(in_child([] { get(SIGTERM); }), (End{strsignal(SIGTERM), ""})) << "nothing was added";
}

// The throttle would take minutes. While somebody waits, there is none.
TEST(Signals, WaitForAClientWhoseConfigurationSaysSo) {
  Directory directory;
  const std::string text = "tailrace: 1\nname: sim\non_signal: drain\nstorage: {path: " + directory.path().string() +
                           ", throttle: 1 MiB/s}\nmemory: {budget: 64 MiB}\nlayouts: {l: {type: float64, shape: "
                           "[1048576]}}\nvariables: {a: {layout: l}}\n";
  const End end = in_child([&] {
    tailrace_client* const client = open_client(text);
    const std::vector<double> values(1 << 20, 1.5);
    for (int step = 0; step < 4; ++step) {
      if (tailrace_write(client, "a", step, values.data()) != TAILRACE_OK) _exit(8);
      if (tailrace_end_iteration(client, step) != TAILRACE_OK) _exit(7);
    }
    get(SIGTERM);
  });
  EXPECT_EQ(end, (End{strsignal(SIGTERM), ""}));
  for (int step = 0; step < 4; ++step) {
    const std::string file = directory.path().string() + "/sim_c0_00000" + std::to_string(step) + ".h5";
    EXPECT_EQ(access(file.c_str(), F_OK), 0) << file;
  }
}

}  // namespace
