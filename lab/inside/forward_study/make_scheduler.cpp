#include "lab/inside/forward_study/make_scheduler.hpp"

#include "base/assert.hpp"
#include "engine/schedule/adaptive.hpp"
#include "engine/schedule/fifo.hpp"
#include "engine/schedule/hbrr.hpp"
#include "engine/schedule/twins.hpp"

namespace tailrace::impl::study {

std::unique_ptr<Scheduler> make_study_scheduler(const Schedule& schedule, const Parameters& parameters,
                                                uint32_t forwarder, Nanoseconds skew) {
  Twins::Options twins;
  twins.forwarder = forwarder;
  twins.servers = parameters.servers.count;
  twins.window = schedule.window;
  twins.batch = parameters.forwarders.batch;
  twins.origin = skew;
  switch (schedule.kind) {
    case Kind::none: break;
    case Kind::fifo: return std::make_unique<Fifo>();
    case Kind::hbrr:
      return std::make_unique<Hbrr>(Hbrr::Options{parameters.forwarders.quantum, parameters.forwarders.batch});
    case Kind::twins: return std::make_unique<Twins>(twins);
    case Kind::adaptive: return std::make_unique<Adaptive>(Adaptive::Options{twins, Adaptive::usual_windows(), 1});
  }
  TAILRACE_ASSERT(false);
}

}  // namespace tailrace::impl::study
