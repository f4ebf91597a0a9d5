// Measures costs of a server that could grow with what is there but has nothing to do: with the number of clients,
// of open raw files, and of variables.
//
// The server runs on this thread, on storage in memory, so that the processor's time is the server's.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "lab/figures.hpp"
#include "testing/node_rig.hpp"
#include "testing/sample_config.hpp"

namespace tailrace::impl {
namespace {

// Returns the processor's time, so that other programs matter less.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void require(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "growth_cost: %s\n", status.fault().message.c_str());
  std::exit(1);
}

NodeRig node_of(const Config& config, int clients) {
  static const SteadyClock clock;
  return NodeRig(std::vector(static_cast<size_t>(clients), config),
                 {.on_ring = false, .channel = {}, .clock = &clock});
}

Config config_of(uint64_t budget = 1 << 16) {
  Config config = sample_config({"out"}, {{"a", ElementType::float64, {64}}});
  config.memory.budget = budget;
  return config;
}

// Returns the seconds of a client's iteration when `writing` of the clients write one, and the others nothing.
double iteration_of_each(int clients, int writing, int iterations) {
  NodeRig node = node_of(config_of(), clients);
  const std::vector<double> values(64, 1.5);
  constexpr int64_t kWarm = 5;  // the first one is described by HDF5, and memory is touched for the first time
  double start = 0;
  for (int64_t iteration = -kWarm; iteration < iterations; ++iteration) {
    if (iteration == 0) start = now();
    for (int number = 0; number < writing; ++number) {
      require(node.client(static_cast<size_t>(number)).write("a", iteration + kWarm, values.data()));
      require(node.client(static_cast<size_t>(number)).end_iteration(iteration + kWarm));
    }
    require(node.serve());
  }
  return (now() - start) / writing / iterations;
}

// Returns the seconds of a write that is waited for, with other files open.
double file_write(int files, int writes) {
  NodeRig node = node_of(config_of(1 << 22), 1);
  ClientFiles& raw = node.client(0).files();
  std::vector<uint32_t> open;
  for (int i = 0; i < files; ++i) {
    const Result<uint32_t> file = raw.open("file_" + std::to_string(i), TAILRACE_FILE_WRITE);
    require(file.status());
    open.push_back(file.value());
  }
  const tailrace_extent extent{0, 512};
  const std::vector<std::byte> bytes(512);
  const double start = now();
  for (int i = 0; i < writes; ++i) {
    require(raw.write(open[0], {&extent, 1}, bytes.data()));
    require(raw.sync(open[0]));
  }
  const double each = (now() - start) / writes;
  for (const uint32_t file : open) require(raw.iclose(file).status());
  return each;
}

// Returns the bytes of a channel for each variable.
double channel_bytes(uint32_t variables) {
  const auto bytes = [](uint32_t of) { return static_cast<double>(ChannelMemory({.variables = of}).bytes()); };
  return (bytes(variables) - bytes(1)) / variables;
}

// Prints the costs, and returns them by what they are of and how many are there.
nlohmann::json measure_all(bool tiny) {
  nlohmann::json rows;
  // Tiny ones go beyond limits: lab/limits.md.
  const std::vector<int> counts = tiny ? std::vector<int>{1, 10, 257} : std::vector<int>{1, 10, 100, 1000};
  const std::vector<int> open = tiny ? std::vector<int>{1, 65, 4097} : std::vector<int>{1, 100, 1000, 10'000};
  const auto add = [&](const char* what, int count, double seconds) {
    rows.push_back({{"what", what}, {"count", count}, {"us", 1e6 * seconds}});
    return 1e6 * seconds;
  };
  std::printf("what a server does, in us of the processor\n");
  for (const int clients : counts) {
    std::printf(
        "  an iteration of a client, %6d clients: %9.2f\n", clients,
        add("each writes", clients, iteration_of_each(clients, clients, tiny ? 2 : std::max(20, 2000 / clients))));
  }
  for (const int clients : counts) {
    std::printf("  an iteration of one of %6d clients:       %9.2f\n", clients,
                add("one writes", clients, iteration_of_each(clients, 1, tiny ? 2 : 100)));
  }
  for (const int files : open) {
    std::printf("  a write and a sync, %6d files open:  %9.2f\n", files,
                add("files open", files, file_write(files, tiny ? 2 : 200)));
  }
  std::printf("bytes of shared memory for a variable:   %9.0f\n", channel_bytes(100'000));
  return rows;
}

}  // namespace
}  // namespace tailrace::impl

int main(int argc, char** argv) {
  const lab::Arguments arguments = lab::arguments_of(argc, argv, "growth_cost");
  const nlohmann::json rows = tailrace::impl::measure_all(arguments.tiny);
  return lab::write_figures(arguments.json, "growth_cost", arguments.tiny, rows);
}
