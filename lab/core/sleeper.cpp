#include "lab/core/sleeper.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "lab/core/cpus.hpp"
#include "lab/pattern/clock.hpp"
#include "lab/pattern/errors.hpp"

namespace bench::core {
namespace {

constexpr uint64_t kWake = 1;
constexpr uint64_t kEnd = uint64_t{1} << 32;  // more than all wake-ups together

}  // namespace

Sleeper::Sleeper(int cpu) : event_(eventfd(0, EFD_CLOEXEC)) {
  require(event_ >= 0, "make an event counter");
  thread_ = std::thread([this, cpu] {
    keep_to(cpu);
    sleep();
  });
}

Sleeper::~Sleeper() {
  [[maybe_unused]] const ssize_t told = ::write(event_, &kEnd, sizeof kEnd);
  thread_.join();
  ::close(event_);
}

double Sleeper::wake() const {
  const double start = now();
  const ssize_t put = ::write(event_, &kWake, sizeof kWake);
  const double end = now();
  require(put == sizeof kWake, "wake a thread");
  return end - start;
}

void Sleeper::sleep() const {
  uint64_t count = 0;
  while (count < kEnd) {
    if (::read(event_, &count, sizeof count) != sizeof count && errno != EINTR) return;
  }
}

}  // namespace bench::core
