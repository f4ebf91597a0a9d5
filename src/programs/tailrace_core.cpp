// tailrace-core: the program of the node's server (place `core`), which the first client or the user starts.
//
// This has only its arguments and its exit code; `tailrace serve` and `tailrace recover` call it. With --status it
// shows what the servers of a node are doing; none of them needs to answer for that. Under the name `tailrace` it is
// the command of that name (command/command.hpp): one file on the disk, which no package has to carry twice.
#include <tailrace/tailrace.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory/heap.hpp"
#include "base/os/process.hpp"
#include "command/command.hpp"
#include "command/commands.hpp"
#include "programs/exit_code.hpp"
#include "programs/programs.h"
#include "runtime/core/core_server.hpp"
#include "runtime/core/job_status.hpp"
#include "runtime/core/server_job.hpp"

namespace {

using tailrace::impl::ConfigInput;
using tailrace::impl::CoreServer;
using tailrace::impl::CoreServerOptions;
using tailrace::impl::Result;
using tailrace::impl::Status;
using tailrace::programs::fail;
using tailrace::programs::kWrongUsage;

// Memory for about ten thousand pending requests.
constexpr size_t kHeap = size_t{16} << 20;

struct Arguments {
  CoreServerOptions server;
  ConfigInput config;
  std::string path;       // replaces storage.path
  std::string output;     // --status: the directory whose jobs matter most
  std::string log_level;  // empty: the configuration's
  double wait = 0;        // seconds
  bool started = false;
  bool status = false;
  bool which_server = false;
};

void declare(CLI::App& app, Arguments& to) {
  to.server.root = tailrace::impl::default_runtime_root();
  CLI::Option* job = app.add_option("--job", to.server.job, "the job's directory under the root");
  CLI::Option* config = app.add_option("--config", to.config.file, "serve the job of this configuration file");
  app.add_option("--path", to.path, "the output directory, if the program replaces storage.path")->needs(config);
  tailrace::impl::add_parameters(app, to.config.parameters)->needs(config);
  job->excludes(config);
  app.add_option("--root", to.server.root, "where the runtime directories are")->capture_default_str();
  app.add_option("--server", to.server.server, "which of the node's servers, from 0")->check(CLI::Range(0, 63));
  app.add_option("--log", to.log_level, "info, warning, error or off; else as the configuration says, or warning")
      ->check(CLI::IsMember({"info", "warning", "error", "off"}));
  app.add_option("--wait", to.wait, "seconds to wait for the first client; 0: without limit")
      ->check(CLI::Range(0.0, 1e9));
  app.add_flag("--drain", to.server.drain,
               "write the data of dead servers (with --server, only of that one), and end");
  app.add_flag("--status", to.status, "print the state of the job, or of all jobs, as JSON, and end");
  app.add_option(
      "--output", to.output,
      "with --status: also list leftovers in this output directory of servers that died before a client came");
  app.add_option("--announce", to.server.announce, "a SOCK_SEQPACKET descriptor on which to report that it is ready");
  app.add_flag("--started", to.started,
               "a client has started this and waits: report when it is ready, and detach from it");
}

int show_status(const CoreServerOptions& options, const std::string& output) {
  const Result<std::string> json = tailrace::impl::job_status(options.root, options.job, output);
  if (!json.ok()) return fail("tailrace-core", json.status());
  std::puts(json.value().c_str());
  return 0;
}

// Drains what all servers of the job left. REQUIRES: none of the servers lives.
int drain_all(CoreServerOptions options) {
  const Result<std::vector<int>> servers = tailrace::impl::servers_of(options.root, options.job);
  if (!servers.ok()) return fail("tailrace-core", servers.status());
  for (const int server : servers.value()) {
    options.server = server;
    if (const Status status = CoreServer::run(options); !status.ok()) return fail("tailrace-core", status);
  }
  return 0;
}

int run(Arguments& arguments) {
  CoreServerOptions& options = arguments.server;
  if (!arguments.config.file.empty()) {
    if (!arguments.path.empty()) arguments.config.path_override = arguments.path;
    if (const Status status = tailrace::impl::set_job(options, arguments.config); !status.ok())
      return fail("tailrace-core", status);
  }
  if (arguments.status) return show_status(options, arguments.output);
  if (!arguments.log_level.empty()) options.log_level = arguments.log_level;
  if (options.drain && !arguments.which_server) return drain_all(options);
  if (arguments.wait > 0) {
    options.first_client_in =
        std::chrono::duration_cast<tailrace::impl::Nanoseconds>(std::chrono::duration<double>(arguments.wait));
  }
  if (arguments.started) {
    options.announce = tailrace::impl::kInheritedDescriptor;
    if (const Status status = tailrace::impl::detach(); !status.ok()) return fail("tailrace-core", status);
    if (!options.first_client_in) options.first_client_in = std::chrono::seconds(30);
  }
  const auto heap = tailrace::impl::take_heap(kHeap);
  const Status status = CoreServer::run(options);
  return status.ok() ? 0 : fail("tailrace-core", status);
}

}  // namespace

int tailrace_core_main(int argc, char** argv) {
  const std::string_view name = argc > 0 ? argv[0] : "";
  if (name.substr(name.rfind('/') + 1) == "tailrace") return tailrace::impl::run_command(argc, argv);
  CLI::App app{
      "The server of a node: takes the blocks of all the node's clients over shared memory and writes them "
      "(place core). Usually started by the first client.",
      "tailrace-core"};
  Arguments arguments;
  declare(app, arguments);
  app.set_version_flag("--version", "tailrace-core " TAILRACE_VERSION_STRING, "print the version, and end");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongUsage;  // 0: --help, --version
  }
  if (arguments.server.job.empty() && arguments.config.file.empty() && !arguments.status) {
    std::fputs("tailrace-core: --job or --config is needed\n", stderr);
    return kWrongUsage;
  }
  if (arguments.server.job.find('/') != std::string::npos) {
    std::fputs("tailrace-core: --job: found a '/', expected the name of a directory under the root\n", stderr);
    return kWrongUsage;
  }
  arguments.which_server = app.count("--server") > 0;
  return run(arguments);
}
