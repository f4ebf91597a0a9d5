// perf_event_open. See the header.
#include "lab/pattern/cache_misses.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace bench {
namespace {

// With the times that show whether the counter shared the hardware with others.
struct Reading {
  uint64_t value, enabled, running;
};

std::string explain(int error) {
  const std::string text = "perf_event_open: " + std::generic_category().message(error);
  if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV) {
    return text + " (this machine offers no hardware counters; virtual machines often have none)";
  }
  if (error == EACCES || error == EPERM) return text + " (see /proc/sys/kernel/perf_event_paranoid)";
  if (error == ENOSYS) return text + " (not in this kernel)";
  return text;
}

}  // namespace

CacheMisses::CacheMisses() {
  perf_event_attr what{};
  what.size = sizeof what;
  what.type = PERF_TYPE_HARDWARE;
  what.config = PERF_COUNT_HW_CACHE_MISSES;
  what.disabled = 1;
  what.inherit = 1;
  what.exclude_kernel = 1;  // the usual settings allow that to users
  what.exclude_hv = 1;
  what.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  descriptor_ = static_cast<int>(syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (descriptor_ < 0) reason_ = explain(errno);
}

CacheMisses::~CacheMisses() {
  if (descriptor_ >= 0) close(descriptor_);
}

void CacheMisses::start() {
  if (descriptor_ < 0) return;
  ioctl(descriptor_, PERF_EVENT_IOC_RESET, 0);
  if (ioctl(descriptor_, PERF_EVENT_IOC_ENABLE, 0) != 0) reason_ = explain(errno);
}

void CacheMisses::stop() {
  if (descriptor_ < 0 || !reason_.empty()) return;
  ioctl(descriptor_, PERF_EVENT_IOC_DISABLE, 0);
  Reading reading{};
  if (read(descriptor_, &reading, sizeof reading) != sizeof reading) {
    reason_ = "reading the counter: " + std::generic_category().message(errno);
  } else if (reading.running == 0) {
    reason_ = "the counter never ran: other programs have the hardware";
  } else {
    const double share = static_cast<double>(reading.running) / static_cast<double>(reading.enabled);
    count_ = static_cast<uint64_t>(static_cast<double>(reading.value) / share);
  }
}

}  // namespace bench
