#include "lab/inside/forward_study/study_run.hpp"

#include <memory>
#include <vector>

#include "lab/inside/forward_study/make_scheduler.hpp"
#include "lab/inside/forward_study/study_client.hpp"
#include "lab/inside/forward_study/study_forwarder.hpp"

namespace tailrace::impl::study {
namespace {

double seconds_of(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

Nanoseconds at_most(Dice& dice, Nanoseconds time) {
  return Nanoseconds(static_cast<Nanoseconds::rep>(dice.below(static_cast<uint64_t>(time.count()) + 1)));
}

// The machine and the program of one run.
class Run {
 public:
  Run(const Parameters& parameters, const Schedule& schedule, uint64_t seed)
      : parameters_(parameters),
        dice_(seed),
        files_(events_, parameters, files_of(parameters.program), size_of_file(parameters.program)),
        direct_(files_) {
    if (schedule.kind != Kind::none) make_forwarders(schedule);
    make_clients();
  }

  Outcome run() {
    while (clients_left_ > 0) TAILRACE_ASSERT(events_.run_one());
    const DiskModel::Counts disks = files_.counts();
    TAILRACE_ASSERT(disks.bytes == parameters_.bytes());
    const double time = seconds_of(events_.now());
    const double all = time * static_cast<double>(files_.servers().size());
    Outcome outcome;
    outcome.seconds = time;
    outcome.seeks = static_cast<double>(disks.seeks) / (static_cast<double>(disks.bytes) / double{kMiB});
    outcome.transfer = static_cast<double>(disks.bytes) / static_cast<double>(disks.requests);
    outcome.busy = seconds_of(disks.busy) / all;
    outcome.positioning = seconds_of(disks.positioning) / all;
    outcome.events = events_.count();
    return outcome;
  }

 private:
  void make_forwarders(const Schedule& schedule) {
    const ForwarderParameters& forwarders = parameters_.forwarders;
    memory_.reset(new std::byte[forwarders.memory]);  // never touched, so the system need not have it
    for (uint32_t i = 0; i < forwarders.count; ++i) {
      const Nanoseconds skew = i == 0 ? Nanoseconds::zero() : at_most(dice_, forwarders.skew);
      schedulers_.push_back(make_study_scheduler(schedule, parameters_, i, skew));
      forwarders_.push_back(std::make_unique<StudyForwarder>(events_, files_, *schedulers_.back(), parameters_,
                                                             std::span(memory_.get(), forwarders.memory)));
    }
  }

  // Deals the clients out over the forwarders, in blocks.
  void make_clients() {
    const ProgramParameters& program = parameters_.program;
    clients_left_ = program.clients;
    for (uint32_t i = 0; i < program.clients; ++i) {
      const size_t of = forwarders_.size() * i / program.clients;
      RequestTaker& taker = forwarders_.empty() ? static_cast<RequestTaker&>(direct_) : *forwarders_[of];
      clients_.push_back(
          std::make_unique<StudyClient>(events_, taker, program, i, dice_, [this] { --clients_left_; }));
      clients_.back()->begin(at_most(dice_, program.start), program.requests);
    }
  }

  const Parameters& parameters_;
  Dice dice_;
  EventQueue events_;
  ParallelFileSystem files_;
  DirectAccess direct_;
  std::unique_ptr<std::byte[]> memory_;
  std::vector<std::unique_ptr<Scheduler>> schedulers_;
  std::vector<std::unique_ptr<StudyForwarder>> forwarders_;
  std::vector<std::unique_ptr<StudyClient>> clients_;
  uint32_t clients_left_ = 0;
};

}  // namespace

Outcome run_study(const Parameters& parameters, const Schedule& schedule, uint64_t seed) {
  return Run(parameters, schedule, seed).run();
}

}  // namespace tailrace::impl::study
