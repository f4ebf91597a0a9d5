// The flag and its signals. See the header.
#include "lab/pattern/interruption.hpp"

#include <csignal>

#include "lab/pattern/clock.hpp"
#include "lab/pattern/errors.hpp"

namespace bench {
namespace {

volatile std::sig_atomic_t interrupted = 0;
volatile double first = 0;  // of now(); only the handler uses it

void note(int signal) {
  if (interrupted == 0) {
    first = now();
    interrupted = 1;
  } else if (now() - first > 1) {
    // Programs such as timeout send a signal twice in a row; that does not count as an impatient second one.
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

void catch_interruptions() {
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    sigaddset(&action.sa_mask, signal);  // one at a time
    sigaction(signal, &action, nullptr);
  }
}

void stop_if_interrupted() {
  if (interrupted != 0) throw RunError("interrupted");
}

}  // namespace bench
