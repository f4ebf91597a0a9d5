#include "damaris/run/server_rank.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <deque>
#include <string>
#include <tailrace/tailrace_mpi.hpp>
#include <utility>

#include "damaris/run/failure.hpp"

namespace tailrace::damaris {
namespace {

constexpr double kPoll = 0.01;  // seconds

// A text that a child can read as a file while this lives.
class TextFile {
 public:
  explicit TextFile(const std::string& text) : fd_(memfd_create("tailrace-damaris", 0)) {
    size_t done = 0;
    while (fd_ >= 0 && done < text.size()) {
      const ssize_t some = ::write(fd_, text.data() + done, text.size() - done);
      if (some <= 0) break;
      done += static_cast<size_t>(some);
    }
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile() {
    if (fd_ >= 0) ::close(fd_);
  }

  std::string name() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  const int fd_;
};

}  // namespace

struct ServerRank::Programs {
  std::deque<mpi::detail::ServerProcess> all;
};

ServerRank::ServerRank(const Model& model, const std::vector<Outlet>& outlets)
    : programs_(std::make_unique<Programs>()) {
  for (const Outlet& outlet : outlets) {
    const TextFile configuration(configuration_of(model, outlet));
    mpi::SplitOptions options;
    options.wait = outlet.patience;
    programs_->all.emplace_back(configuration.name(), 0, mpi::detail::Where{}, options);
    programs_->all.back().wait_ready();
  }
}

ServerRank::~ServerRank() = default;

void ServerRank::wait(bool served, double seconds) {
  for (mpi::detail::ServerProcess& program : programs_->all) {
    if (!served) program.terminate();
  }
  for (double waited = 0; waited < seconds; waited += kPoll) {
    bool ended = true;
    for (mpi::detail::ServerProcess& program : programs_->all) ended = program.has_ended() && ended;
    if (ended) return;
    usleep(static_cast<useconds_t>(kPoll * 1e6));
  }
  say("a server has not ended " + std::to_string(static_cast<int>(seconds)) + " s after its last client");
}

}  // namespace tailrace::damaris
