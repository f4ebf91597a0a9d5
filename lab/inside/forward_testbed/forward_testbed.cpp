// forward_testbed: the programs of the forwarding test-bed: a forwarder whose data servers are modelled, and the
// processes that use them. `tailrace bench forward --testbed` starts them.
//
//   forward_testbed forward --config io.yaml --state FILE       ends at SIGTERM
//   forward_testbed clients --dir DIR --state FILE --clients N  prints one JSON document
//
// Exit codes: 0 success, 1 failure, 2 wrong command line.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <map>
#include <string>

#include "lab/inside/forward_testbed/modelled_storage.hpp"
#include "lab/inside/forward_testbed/testbed_client.hpp"
#include "runtime/forward/forward_server.hpp"

namespace tailrace::impl::study {
namespace {

ForwardRequests requests;

extern "C" void ask_testbed_to_stop(int) {
  requests.stop = true;
  const int bell = requests.bell;
  const uint64_t one = 1;
  if (bell >= 0 && ::write(bell, &one, sizeof one) < 0) return;
}

int fail(const Status& status) {
  std::fprintf(stderr, "forward_testbed: %s\n", status.fault().message.c_str());
  return 1;
}

int run_forwarder_of(const std::string& config, const ModelledServers::Options& servers) {
  static const SteadyClock clock;
  auto opened = ModelledServers::open(servers);
  if (!opened.ok()) return fail(opened.status());
  ForwardServerOptions options;
  options.config = config;
  options.listening = [](const std::string& address) {
    std::printf("listening on %s\n", address.c_str());
    std::fflush(stdout);
  };
  options.wrap = [&](std::unique_ptr<Storage> inner) {
    return std::make_unique<ModelledStorage>(std::move(inner), std::move(opened).value(), clock);
  };
  std::signal(SIGTERM, &ask_testbed_to_stop);
  const Status ended = run_forwarder(options, requests);
  return ended.ok() ? 0 : fail(ended);
}

int run_clients(const TestbedOptions& options) {
  const Result<TestbedResult> result = run_testbed(options);
  if (!result.ok()) return fail(result.status());
  std::printf("{\"testbed_run\": 1, \"seconds\": %.6f, \"requests\": %llu, \"seeks\": %llu}\n",
              result.value().seconds, static_cast<unsigned long long>(result.value().counts.requests),
              static_cast<unsigned long long>(result.value().counts.seeks));
  return 0;
}

void add_servers(CLI::App& app, ModelledServers::Options& servers) {
  app.add_option("--state", servers.state, "the file in which all processes share the servers' state")->required();
  app.add_option("--disk", servers.disk, "sata7200, sas10k or flash")
      ->check(CLI::IsMember({"sata7200", "sas10k", "flash"}));
  app.add_option("--servers", servers.count, "data servers")->check(CLI::Range(1u, ModelledServers::kMost));
  app.add_option("--stripe", servers.stripe, "bytes of a stripe")->check(CLI::Range(4096ul, 1ul << 30));
}

int run(int argc, char** argv) {
  CLI::App app{"Programs of the forwarding test-bed.", "forward_testbed"};
  app.require_subcommand(1);
  std::string config;
  TestbedOptions options;
  CLI::App& forward = *app.add_subcommand("forward", "a forwarder whose data servers are modelled");
  forward.add_option("--config", config, "its configuration")->required();
  add_servers(forward, options.servers);
  CLI::App& clients = *app.add_subcommand("clients", "processes that read or write");
  add_servers(clients, options.servers);
  clients.add_option("--dir", options.directory, "the directory of the files, in memory")->required();
  clients.add_option("--forward", options.forwarders, "the forwarders' addresses; none: no forwarding");
  clients.add_option("--device", options.devices, "the network device that leads to each forwarder");
  clients.add_option("--key", options.key, "the forwarders' key file");
  clients.add_option("--clients", options.program.clients, "processes")->check(CLI::Range(1, 1024));
  clients.add_option("--requests", options.program.requests, "of each process")->check(CLI::Range(1, 1 << 20));
  clients.add_option("--bytes", options.program.bytes, "of each request")->check(CLI::Range(1ul, 64ul << 20));
  clients.add_flag("--write", options.program.writes, "writes instead of reading");
  const std::map<std::string, Pattern> patterns = {
      {"strided", Pattern::strided}, {"contiguous", Pattern::contiguous}, {"files", Pattern::files}};
  clients.add_option("--pattern", options.program.pattern, "strided, contiguous or files")
      ->transform(CLI::CheckedTransformer(patterns));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return forward.parsed() ? run_forwarder_of(config, options.servers) : run_clients(options);
}

}  // namespace
}  // namespace tailrace::impl::study

int main(int argc, char** argv) { return tailrace::impl::study::run(argc, argv); }
