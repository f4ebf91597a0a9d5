#include "damaris/ranks/server_rank.hpp"

#include <unistd.h>

#include <deque>
#include <string>
#include <tailrace/tailrace_mpi.hpp>

#include "damaris/ranks/failure.hpp"
#include "damaris/ranks/text_file.hpp"

namespace tailrace::damaris {
namespace {

constexpr double kPoll = 0.01;  // seconds

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
