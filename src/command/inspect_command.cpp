// `tailrace inspect`: shows what is in output files and directories, or what a forwarder does.
#include <fmt/format.h>

#include "command/commands.hpp"
#include "command/inspect/directory.hpp"
#include "command/inspect/file_contents.hpp"
#include "command/inspect/inspect_forwarder.hpp"

namespace tailrace::impl {
namespace {

struct InspectArguments {
  std::vector<std::string> paths;
  std::string forwarder;
  std::string key;
  bool json = false;
};

bool has_error(const OrderedJson& content) {
  if (content.contains("error")) return true;
  if (content.contains("damaged") && !content["damaged"].empty()) return true;
  if (!content.contains("measurements")) return false;
  const OrderedJson& statistics = content["measurements"]["statistics"];
  return std::any_of(statistics.begin(), statistics.end(),
                     [](const OrderedJson& one) { return one.contains("error"); });
}

int inspect(const InspectArguments& arguments) {
  if (!arguments.forwarder.empty()) return inspect_forwarder(arguments.forwarder, arguments.key, arguments.json);
  if (arguments.paths.empty()) {
    throw CLI::ValidationError("found nothing to inspect, expected FILE ... or --forward HOST:PORT");
  }
  OrderedJson found = OrderedJson::array();
  bool failed = false;
  for (const std::string& path : arguments.paths) {
    OrderedJson content;
    try {
      content = content_of(path);
      if (!arguments.json) show_content(content);
    } catch (const Unreadable& why) {
      content = {{"path", path}, {"error", why.what()}};
      if (!arguments.json) complain(fmt::format("{}: {}", path, why.what()));
    }
    failed = failed || has_error(content);
    if (arguments.json) found.push_back(std::move(content));
  }
  if (arguments.json) print_json(found);
  return failed ? kFailure : kSuccess;
}

}  // namespace

void add_inspect(CLI::App& app, int& code) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command = app.add_subcommand("inspect", "show the contents of output files");
  command->add_option("FILE", arguments->paths, "a file, or a directory");
  command->add_option("--forward", arguments->forwarder, "show the state of a running forwarder, instead of files")
      ->type_name("HOST:PORT");
  command->add_option("--key", arguments->key, "the key file of the forwarder")->type_name("FILE");
  command->add_flag("--json", arguments->json, "print JSON");
  command->callback([arguments, &code] { code = inspect(*arguments); });
}

}  // namespace tailrace::impl
