// Measures what the always-on measurements cost on the caller's path, at the rate at which blocks are handed over.
//
// After Farah et al. 2016: the cost of a trace event depends on how often it is recorded, since the computation in
// between takes the caches. So the routine alone runs at each rate, with computing in between; the cost of the timing
// itself, measured in the same way, is subtracted. The routine is what ClientMeter adds to a block for measuring: two
// looks at the clock, a histogram, four counters.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "base/histogram.hpp"
#include "client/client_meter.hpp"
#include "lab/figures.hpp"

namespace tailrace::impl {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Smooths, for some time, an array that does not fit the first- and second-level caches.
class Computation {
 public:
  Computation() : values_(size_t{1} << 18, 1.0) {}
  void compute(double seconds) {
    const double end = now() + seconds;
    do {
      for (size_t i = 0; i < 512; ++i, at_ = (at_ + 1) % (values_.size() - 2)) {
        values_[at_ + 1] = 0.5 * values_[at_ + 1] + 0.25 * (values_[at_] + values_[at_ + 2]);
      }
    } while (now() < end);
  }

 private:
  std::vector<double> values_;
  size_t at_ = 0;
};

// The steps that measuring adds to a block's hand-over.
class Measuring {
 public:
  explicit Measuring(const Clock& clock) : clock_(clock), of_(std::make_unique<ClientVariableCounters>()) {}
  void measure() {
    const Nanoseconds start = clock_.now();
    ++total_.blocks_accepted;
    total_.bytes_accepted += 64;
    ++of_->blocks_accepted;
    of_->bytes_accepted += 64;
    const Nanoseconds end = clock_.now();
    of_->handover.add(static_cast<uint64_t>((end - start).count()));
  }
  uint64_t count() const { return of_->handover.count(); }

 private:
  const Clock& clock_;
  ClientCounters total_;
  std::unique_ptr<ClientVariableCounters> of_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Returns the seconds for one call of `event`, with 1/rate seconds of computing before each.
template <class Event>
double cost_at(double rate, int events, Computation& computation, Event event) {
  std::vector<double> times;
  for (int i = 0; i < events; ++i) {
    computation.compute(1.0 / rate);
    const double start = now();
    event();
    times.push_back(now() - start);
  }
  return median(std::move(times));
}

// Prints the costs, and returns them by the rate.
nlohmann::json measure_all(bool tiny) {
  nlohmann::json rows;
  const std::unique_ptr<Clock> clock = std::make_unique<SteadyClock>();
  Measuring measuring(*clock);
  Computation computation;
  std::printf("measurements on the caller's path: cost of one block at the rate at which blocks are handed over\n");
  std::printf("  %12s %12s %22s\n", "blocks/s", "ns a block", "of the caller's path");
  for (const double rate : {10.0, 100.0, 1e3, 1e4, 1e5}) {
    const int events = tiny ? 3 : static_cast<int>(std::clamp(rate * 2.0, 50.0, 20000.0));
    const double with = cost_at(rate, events, computation, [&] { measuring.measure(); });
    const double without = cost_at(rate, events, computation, [] {});
    const double cost = std::max(0.0, with - without);
    std::printf("  %12.0f %12.0f %21.5f%%\n", rate, 1e9 * cost, 100.0 * cost * rate);
    rows.push_back({{"rate", rate}, {"ns", 1e9 * cost}, {"share", cost * rate}});
  }
  std::printf("  (%llu blocks measured)\n", static_cast<unsigned long long>(measuring.count()));
  return rows;
}

}  // namespace
}  // namespace tailrace::impl

int main(int argc, char** argv) {
  const lab::Arguments arguments = lab::arguments_of(argc, argv, "measurement_cost");
  const nlohmann::json rows = tailrace::impl::measure_all(arguments.tiny);
  return lab::write_figures(arguments.json, "measurement_cost", arguments.tiny, rows);
}
