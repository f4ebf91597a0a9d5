#include "lab/inside/forward_study/scale_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "lab/inside/forward_study/make_scheduler.hpp"
#include "lab/inside/forward_study/study_client.hpp"
#include "lab/inside/forward_study/study_forwarder.hpp"
#include "lab/inside/forward_study/study_table.hpp"

namespace tailrace::impl::study {
namespace {

constexpr uint32_t kBursts = 2;
constexpr uint32_t kMessages = 16;                          // of a node in a burst
constexpr uint32_t kMuch = 8;                               // times as many have …
constexpr uint32_t kMuchOf = 100;                           // … one node in this many
constexpr Nanoseconds kCompute = std::chrono::seconds(10);  // between the end of a burst and the next one
constexpr Nanoseconds kSample = std::chrono::seconds(1);
constexpr size_t kRows = 16;  // of the table, about

// The state of the whole machine since the last sample: the worst forwarder, server and node.
struct Sample {
  double seconds = 0;
  uint64_t messages = 0;  // carried out
  size_t waiting = 0;     // messages without memory, at one forwarder
  uint64_t held = 0;      // bytes of memory, at one forwarder
  size_t queue = 0;       // requests, at one data server
  double pause = 0;       // seconds that a node has waited for its next answer

  void join(const Sample& later) {
    seconds = later.seconds;
    messages = later.messages;
    waiting = std::max(waiting, later.waiting);
    held = std::max(held, later.held);
    queue = std::max(queue, later.queue);
    pause = std::max(pause, later.pause);
  }
};

// Those with much are spread over forwarders and data servers, as the others are.
uint32_t messages_of(uint32_t node) {
  const bool has_much = node % kMuchOf == node / kMuchOf % kMuchOf;
  return kMessages * (has_much ? kMuch : 1);
}

// Nodes come to forwarders by a hash of their files' paths, so some forwarders have more than others.
uint32_t forwarder_of(uint32_t node, uint32_t forwarders) {
  return static_cast<uint32_t>(std::hash<std::string>{}("/scratch/out/field_n" + std::to_string(node)) % forwarders);
}

class ScaleRun {
 public:
  explicit ScaleRun(const StudyOptions& options)
      : parameters_(options.parameters),
        schedule_(options.schedules.front()),
        dice_(options.seed),
        files_(events_, parameters_, files_of(parameters_.program), size_of_file(parameters_.program)),
        direct_(files_),
        nodes_of_(parameters_.forwarders.count) {
    if (schedule_.kind != Kind::none) make_forwarders();
    make_nodes();
  }

  void run() {
    for (uint32_t burst = 0; burst < kBursts; ++burst) {
      begin_burst(burst);
      while (busy_ > 0) TAILRACE_ASSERT(events_.run_one());
      take_sample();
      bursts_.push_back({{}, std::exchange(samples_, {})});
      for (const Sample& sample : bursts_.back().samples) bursts_.back().worst.join(sample);
    }
  }

  void print() const {
    print_bounds();
    std::printf("%8s %10s %12s %10s %14s %8s\n", "seconds", "messages", "waiting", "memory", "server's queue",
                "pause");
    for (const Burst& burst : bursts_) {
      for (const Sample& sample : thinned(burst.samples)) print_row(sample);
      std::printf("worst of the burst:\n");
      print_row(burst.worst);
    }
  }

 private:
  struct Burst {
    Sample worst;
    std::vector<Sample> samples;
  };

  void make_forwarders() {
    const ForwarderParameters& forwarders = parameters_.forwarders;
    memory_.reset(new std::byte[forwarders.memory]);  // never touched, so all of them can have the same
    for (uint32_t i = 0; i < forwarders.count; ++i) {
      schedulers_.push_back(make_study_scheduler(schedule_, parameters_, i, Nanoseconds::zero()));
      forwarders_.push_back(std::make_unique<StudyForwarder>(events_, files_, *schedulers_.back(), parameters_,
                                                             std::span(memory_.get(), forwarders.memory)));
    }
  }

  void make_nodes() {
    for (uint32_t node = 0; node < parameters_.program.clients; ++node) {
      const uint32_t of = forwarder_of(node, parameters_.forwarders.count);
      nodes_of_[of].push_back(node);
      RequestTaker& taker = forwarders_.empty() ? static_cast<RequestTaker&>(direct_) : *forwarders_[of];
      nodes_.push_back(
          std::make_unique<StudyClient>(events_, taker, parameters_.program, node, dice_, [this] { --busy_; }));
    }
  }

  void begin_burst(uint32_t burst) {
    busy_ = static_cast<uint32_t>(nodes_.size());
    const Nanoseconds pause = burst == 0 ? Nanoseconds::zero() : kCompute;
    const auto spread = static_cast<uint64_t>(parameters_.program.start.count());
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
      const Nanoseconds start(static_cast<Nanoseconds::rep>(dice_.below(spread + 1)));
      nodes_[node]->begin(pause + start, messages_of(node));
    }
    sample_at(events_.now() + pause + kSample);
  }

  void sample_at(Nanoseconds time) {
    events_.at(time, [this, time, burst = bursts_.size()] {
      if (burst != bursts_.size()) return;
      take_sample();
      sample_at(time + kSample);
    });
  }

  void take_sample() {
    Sample sample;
    sample.seconds = std::chrono::duration<double>(events_.now()).count();
    for (const auto& node : nodes_) sample.messages += node->done();
    for (const auto& forwarder : forwarders_) {
      const StudyForwarder::Peaks peaks = forwarder->take_peaks();
      sample.waiting = std::max(sample.waiting, peaks.waiting);
      sample.held = std::max(sample.held, peaks.held);
    }
    for (const auto& server : files_.servers()) sample.queue = std::max(sample.queue, server->take_peak());
    sample.pause = longest_pause();
    samples_.push_back(sample);
  }

  // Returns how long the node that has waited longest for its next answer has waited.
  double longest_pause() const {
    Nanoseconds longest{0};
    for (const auto& node : nodes_) {
      if (node->is_busy()) longest = std::max(longest, events_.now() - node->quiet_since());
    }
    return std::chrono::duration<double>(longest).count();
  }

  void print_bounds() const {
    size_t most = 0;
    for (const std::vector<uint32_t>& nodes : nodes_of_) most = std::max(most, nodes.size());
    const ForwarderParameters& forwarders = parameters_.forwarders;
    const uint32_t window = parameters_.program.under_way;
    const bool forwards = !forwarders_.empty();
    std::printf("%s; one forwarder has up to %zu nodes\n", name_of(schedule_).c_str(), forwards ? most : 0);
    std::printf("bounds: waiting: nodes × window = %zu; memory: %llu MiB; a server's queue: %s = %llu\n\n",
                forwards ? most * window : 0, static_cast<unsigned long long>(forwarders.memory / kMiB),
                forwards ? "forwarders × transfers" : "nodes × window",
                static_cast<unsigned long long>(forwards ? uint64_t{forwarders.count} * forwarders.depth
                                                         : uint64_t{parameters_.program.clients} * window));
  }

  static std::vector<Sample> thinned(const std::vector<Sample>& samples) {
    const size_t each = samples.size() / kRows + 1;
    std::vector<Sample> rows;
    for (size_t i = 0; i < samples.size(); ++i) {
      if (i % each == 0) rows.emplace_back();
      rows.back().join(samples[i]);
    }
    return rows;
  }

  void print_row(const Sample& sample) const {
    std::printf("%8.0f %10llu %12zu %8.1f MiB %14zu %6.1f s\n", sample.seconds,
                static_cast<unsigned long long>(sample.messages), sample.waiting,
                static_cast<double>(sample.held) / double{kMiB}, sample.queue, sample.pause);
  }

  const Parameters parameters_;
  const Schedule schedule_;
  Dice dice_;
  EventQueue events_;
  ParallelFileSystem files_;
  DirectAccess direct_;
  std::vector<std::vector<uint32_t>> nodes_of_;  // by forwarder
  std::unique_ptr<std::byte[]> memory_;
  std::vector<std::unique_ptr<Scheduler>> schedulers_;
  std::vector<std::unique_ptr<StudyForwarder>> forwarders_;
  std::vector<std::unique_ptr<StudyClient>> nodes_;
  uint32_t busy_ = 0;  // nodes that have not ended their burst
  std::vector<Sample> samples_;
  std::vector<Burst> bursts_;
};

}  // namespace

void prepare_scale(Parameters& parameters, uint32_t nodes, uint32_t forwarders) {
  ProgramParameters& program = parameters.program;
  program.pattern = Pattern::files;
  program.writes = true;
  program.clients = nodes;
  program.bytes = kMiB;
  program.requests = kBursts * kMessages * kMuch;
  program.under_way = 32;  // Forwarder::Options::window
  program.start = std::chrono::seconds(1);
  parameters.forwarders.count = forwarders;
  // Servers as of a large file system: each with an array of disks, and files over four of them.
  parameters.servers.count = 100;
  parameters.servers.stripe = kMiB;
  parameters.servers.width = 4;
  parameters.servers.reorder = 32;
  parameters.disk.rate = 1e9;
  parameters.disk.capacity = 100'000'000'000'000;
}

void run_scale(const StudyOptions& options) {
  TAILRACE_REQUIRE(options.scale.has_value());
  std::printf("%s\n", describe(options.parameters).c_str());
  std::fflush(stdout);
  ScaleRun run(options);
  run.run();
  run.print();
}

}  // namespace tailrace::impl::study
