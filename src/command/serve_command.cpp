// `tailrace serve`: runs the server of place core, or a forwarder, in the foreground; lists the jobs of this node.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "command/commands.hpp"
#include "command/inspect/jobs.hpp"
#include "command/other_program.hpp"
#include "command/output/output.hpp"
#include "runtime/core/core_server.hpp"

namespace tailrace::impl {
namespace {

struct ServeArguments {
  std::string place;
  bool list = false;
  bool json = false;
  std::string config;
  std::string job;
  bool drain = false;
  std::string log;
  std::vector<std::string> parameters;
  std::vector<std::string> passed;  // to the server's program, as they are
};

// Returns "3 alive", "1 alive, 2 closed, 1 dead": data of a closed one are still being written, even if it still
// runs.
std::string states_of(const nlohmann::json& those) {
  size_t closed = 0;
  size_t alive = 0;
  for (const nlohmann::json& one : those) {
    const bool is_closed = one.value("closed", false);
    closed += is_closed;
    alive += !is_closed && one.at("alive").get<bool>();
  }
  const size_t dead = those.size() - alive - closed;
  return fmt::format("{} alive{}{}", alive, closed > 0 ? fmt::format(", {} closed", closed) : "",
                     dead > 0 ? fmt::format(", {} dead", dead) : "");
}

int list_jobs(bool as_json) {
  const Result<nlohmann::json> jobs = all_jobs();
  if (!jobs.ok()) {
    complain(jobs.status().fault().message);
    return kFailure;
  }
  if (as_json) {
    print_json(jobs.value());
  } else if (jobs.value().empty()) {
    say("no jobs of place core on this node");
  } else {
    std::vector<Row> rows;
    for (const nlohmann::json& job : jobs.value()) {
      const auto output = job.at("output").get<std::vector<std::string>>();
      rows.push_back({job.at("job").get<std::string>(), states_of(job.at("servers")), states_of(job.at("clients")),
                      size_text(job.at("shared_bytes").get<double>()),
                      output.empty() ? "unknown" : fmt::format("{}", fmt::join(output, ", "))});
    }
    print_table({"job", "servers", "clients", "shared memory", "output"}, std::move(rows));
  }
  return kSuccess;
}

int serve_forward(const ServeArguments& arguments) {
  if (arguments.config.empty()) {
    complain("serve: found `serve forward` without --config FILE");
    return kWrongUsage;
  }
  std::vector<std::string> words = {"--config", arguments.config};
  if (!arguments.log.empty()) words.insert(words.end(), {"--log", arguments.log});
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  return become((own.parent_path() / "tailrace-forward").string(), words);
}

int serve(const ServeArguments& arguments) {
  if (arguments.list) return list_jobs(arguments.json);
  if (arguments.place.empty() || (arguments.config.empty() && arguments.job.empty())) {
    complain(
        "serve: what? `serve core --config FILE`, `serve core --job JOB`, `serve forward --config FILE`, or "
        "`serve --list`");
    return kWrongUsage;
  }
  if (arguments.place == "forward") return serve_forward(arguments);
  const Result<std::string> program = core_server_program();
  if (!program.ok()) {
    complain(program.status().fault().message);
    return kFailure;
  }
  std::vector<std::string> words;
  if (!arguments.config.empty()) words.insert(words.end(), {"--config", arguments.config});
  if (!arguments.job.empty()) words.insert(words.end(), {"--job", arguments.job});
  words.insert(words.end(), arguments.passed.begin(), arguments.passed.end());
  if (!arguments.log.empty()) words.insert(words.end(), {"--log", arguments.log});
  for (const std::string& one : arguments.parameters) words.insert(words.end(), {"--parameter", one});
  if (arguments.drain) words.emplace_back("--drain");
  return become(program.value(), words);
}

}  // namespace

void add_serve(CLI::App& app, int& code) {
  auto arguments = std::make_shared<ServeArguments>();
  CLI::App* command =
      app.add_subcommand("serve", "run the server of place core or a forwarder, or list the jobs of this node");
  command->add_option("place", arguments->place, "the place to serve, or a forwarder: core or forward")
      ->check(CLI::IsMember({"core", "forward"}));
  command->add_flag("--list", arguments->list, "list the jobs of this user on this node");
  command->add_flag("--json", arguments->json, "with --list: print JSON");
  CLI::Option* config =
      command->add_option("--config", arguments->config, "the configuration file of the programs to serve");
  command->add_option("--job", arguments->job, "the job's directory, as --list shows it")->excludes(config);
  const auto pass = [&](const std::string& name, const std::string& description) {
    return command->add_option_function<std::string>(
        name,
        [arguments, name](const std::string& value) {
          arguments->passed.insert(arguments->passed.end(), {name, value});
        },
        description);
  };
  pass("--path", "the output directory, if the programs replace storage.path")->type_name("DIR");
  pass("--server", "which of the node's servers, from 0 (place.cores)")
      ->type_name("K")
      ->check(CLI::TypeValidator<int>());
  pass("--wait", "end if no client comes within S seconds (default: wait without limit)")
      ->type_name("S")
      ->check(CLI::Number);
  command->add_option("--parameter", arguments->parameters, "a parameter that the programs set; may be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  command->add_flag("--drain", arguments->drain, "write the data of dead servers, and end");
  command->add_option("--log", arguments->log, "lowest level to log, on stderr: info, warning, error or off")
      ->check(CLI::IsMember({"info", "warning", "error", "off"}));
  command->callback([arguments, &code] { code = serve(*arguments); });
}

}  // namespace tailrace::impl
