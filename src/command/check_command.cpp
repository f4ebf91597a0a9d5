// `tailrace check`: checks a configuration, and says where and why it is wrong: all mistakes at once.
#include <fmt/format.h>

#include <optional>

#include "base/names/counted.hpp"
#include "command/commands.hpp"
#include "command/output/output.hpp"
#include "command/output/source_excerpt.hpp"
#include "command/schema.hpp"
#include "config/config_yaml.hpp"

namespace tailrace::impl {
namespace {

struct CheckArguments {
  ConfigInput input;
  bool json = false;
  bool schema = false;
};

// Returns the mistake without its place: "found X, expected Y; hint".
std::string message_of(const Mistake& mistake) {
  const std::string hint = mistake.hint.empty() ? "" : "; " + mistake.hint;
  return fmt::format("found {}, expected {}{}", mistake.found, mistake.expected, hint);
}

OrderedJson json_of(const Mistake& mistake) {
  return {{"file", mistake.file}, {"line", mistake.line},           {"column", mistake.column},
          {"key", mistake.key},   {"message", message_of(mistake)}, {"hint", mistake.hint}};
}

void show_mistakes(const std::string& file, const std::vector<Mistake>& mistakes) {
  const Result<std::string> text = read_config_text(file);
  for (const Mistake& mistake : mistakes) {
    complain_of(fmt::format("{}:{}:{}: {}: found {}, expected {}", mistake.file, mistake.line, mistake.column,
                            mistake.key.empty() ? "(top level)" : mistake.key, mistake.found, mistake.expected));
    const std::string_view lines = text.ok() ? std::string_view(text.value()) : std::string_view();
    for (const auto& line : source_excerpt(lines, mistake.line, mistake.column, mistake.hint)) complain_of(line);
  }
  complain(fmt::format("{}: {}{}", file, mistakes.size() >= YamlReport::most_mistakes ? "at least " : "",
                       counted(mistakes.size(), "mistake")));
}

int check(const CheckArguments& arguments) {
  if (arguments.schema) {
    std::fwrite(kConfigSchema.data(), 1, kConfigSchema.size(), stdout);
    return kSuccess;
  }
  const std::string& file = arguments.input.file;
  if (file.empty()) throw CLI::ValidationError("expected CONFIG, a configuration file, or --schema");
  std::vector<Mistake> mistakes;
  const Status status = read_config(arguments.input, &mistakes).status();
  const bool is_whole = !status.ok() && mistakes.empty();  // of the file as a whole: it cannot be read
  if (is_whole && !arguments.json) {
    complain(status.fault().message);
  } else if (arguments.json) {
    OrderedJson json = OrderedJson::array();
    for (const Mistake& mistake : mistakes) json.push_back(json_of(mistake));
    if (is_whole) {
      json.push_back({{"file", file},
                      {"line", nullptr},
                      {"column", nullptr},
                      {"key", ""},
                      {"message", status.fault().message},
                      {"hint", ""}});
    }
    print_json(json);
  } else if (!mistakes.empty()) {
    show_mistakes(file, mistakes);
  } else {
    say(file + ": ok");
  }
  return status.ok() ? kSuccess : kFailure;
}

}  // namespace

void add_check(CLI::App& app, int& code) {
  auto arguments = std::make_shared<CheckArguments>();
  CLI::App* command = app.add_subcommand("check", "check a configuration file");
  command->add_option("CONFIG", arguments->input.file, "the YAML file");
  command->add_option("--client", arguments->input.client, "check it for this client (default: 0)")->type_name("N");
  add_parameters(*command, arguments->input.parameters);
  command->add_flag("--json", arguments->json,
                    "print the mistakes as JSON: a list of objects with file, line, column, key, message and hint");
  command->add_flag("--schema", arguments->schema,
                    "print the JSON Schema of configurations, with which editors complete and check them");
  command->callback([arguments, &code] { code = check(*arguments); });
}

}  // namespace tailrace::impl
