// tailrace-forward: the program of a forwarder, which carries out the transfers of clients on other nodes.
//
// This has only its arguments, its signals and its exit code; `tailrace serve forward` and `tailrace inspect
// --forward` call it.
#include <tailrace/tailrace.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>

#include "programs/exit_code.hpp"
#include "programs/programs.h"
#include "runtime/forward/forward_server.hpp"
#include "runtime/forward/forward_status.hpp"

namespace {

using tailrace::impl::ForwardRequests;
using tailrace::impl::ForwardServerOptions;
using tailrace::impl::Result;
using tailrace::impl::Status;
using tailrace::programs::fail;
using tailrace::programs::kWrongUsage;

// Signal handlers have no other way to the forwarder.
ForwardRequests requests;

extern "C" void ask(int signal) {
  (signal == SIGHUP ? requests.read_keys : requests.stop) = true;
  const int bell = requests.bell;
  const uint64_t one = 1;
  if (bell >= 0 && ::write(bell, &one, sizeof one) < 0) return;
}

void heed_signals() {
  struct sigaction action {};
  action.sa_handler = ask;
  (void)::sigaction(SIGHUP, &action, nullptr);
  (void)::sigaction(SIGTERM, &action, nullptr);
  (void)::sigaction(SIGINT, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

int tailrace_forward_main(int argc, char** argv) {
  CLI::App app{
      "A forwarder: carries out the transfers of clients on other nodes. At SIGTERM it answers all requests that it "
      "has, and ends. At SIGHUP it rereads its key files.",
      "tailrace-forward"};
  ForwardServerOptions options;
  std::string status;
  std::string key;
  CLI::Option* config =
      app.add_option("--config", options.config, "the configuration file: forward.listen, roots, key");
  app.add_option("--log", options.log_level, "info, warning, error or off; else as the configuration says")
      ->check(CLI::IsMember({"info", "warning", "error", "off"}));
  CLI::Option* key_option = app.add_option("--key", key, "the key file, for --status");
  app.add_option("--status", status, "print what the forwarder at HOST:PORT does, as JSON, and end")
      ->needs(key_option)
      ->excludes(config);
  app.set_version_flag("--version", "tailrace-forward " TAILRACE_VERSION_STRING, "print the version, and end");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongUsage;  // 0: --help, --version
  }
  if (!status.empty()) {
    const Result<std::string> json = tailrace::impl::forward_status(status, key);
    if (!json.ok()) return fail("tailrace-forward", json.status());
    std::puts(json.value().c_str());
    return 0;
  }
  if (options.config.empty()) {
    std::fputs("tailrace-forward: --config is needed\n", stderr);
    return kWrongUsage;
  }
  heed_signals();
  options.listening = [](const std::string& address) {
    std::printf("listening on %s\n", address.c_str());
    std::fflush(stdout);
  };
  const Status ended = tailrace::impl::run_forwarder(options, requests);
  return ended.ok() ? 0 : fail("tailrace-forward", ended);
}
