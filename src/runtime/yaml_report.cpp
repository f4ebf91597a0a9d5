#include "runtime/yaml_report.hpp"

#include <fmt/format.h>

namespace tailrace::impl {

void YamlReport::fault(YamlPlace place, const std::string& path, const Fault& fault) {
  if (!ok()) return;
  tailrace::impl::Fault out;
  out.code = TAILRACE_INVALID_CONFIG;
  out.operation = "configure";
  out.file = file_;
  out.message = fmt::format("{}:{}:{}: {}: found {}, expected {}", file_, place.line, place.column,
                            path.empty() ? "(top level)" : path, fault.found, fault.expected);
  if (!fault.hint.empty()) out.message += "; " + fault.hint;
  status_ = Status(std::move(out));
}

std::string printable(std::string_view text) {
  constexpr size_t most = 48;
  std::string result;
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return text.size() > most ? result + "…" : result;
}

std::string quoted(std::string_view text) { return fmt::format("'{}'", printable(text)); }

std::string one_of(const std::vector<std::string_view>& words) {
  std::string result;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) result += i + 1 == words.size() ? " or " : ", ";
    result += words[i];
  }
  return result;
}

}  // namespace tailrace::impl
