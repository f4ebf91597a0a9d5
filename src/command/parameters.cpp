#include "command/commands.hpp"

namespace tailrace::impl {
namespace {

std::pair<std::string, Number> parameter_of(const std::string& text) {
  const size_t equal = text.find('=');
  const std::string number = equal == std::string::npos ? "" : text.substr(equal + 1);
  int64_t whole = 0;
  double real = 0;
  if (equal != 0 && !number.empty() && CLI::detail::lexical_cast(number, whole))
    return {text.substr(0, equal), whole};
  if (equal != 0 && !number.empty() && CLI::detail::lexical_cast(number, real)) return {text.substr(0, equal), real};
  throw CLI::ConversionError("--parameter: expected NAME=NUMBER, such as nx=44, found '" + text + "'");
}

}  // namespace

CLI::Option* add_parameters(CLI::App& command, Parameters& to) {
  return command
      .add_option_function<std::vector<std::string>>(
          "--parameter",
          [&to](const std::vector<std::string>& given) {
            for (const std::string& one : given) to.push_back(parameter_of(one));
          },
          "a parameter that the program sets; may be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
}

}  // namespace tailrace::impl
