#include "config/yaml/yaml_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/names/counted.hpp"
#include "base/names/utf8.hpp"

namespace tailrace::impl {
namespace {

// Returns the key itself: "layouts.field.shape[1]" → "[1]".
std::string last_part(const std::string& path) {
  const size_t at = path.find_last_of(".[");
  return at == std::string::npos ? path : path.substr(at);
}

}  // namespace

// An alias gives one value several paths, but one place.
void YamlReport::fault(YamlPlace place, const std::string& path, const Fault& fault) {
  if (full() || !wrong_.insert(path).second) return;
  if (!told_.insert({{place.line, place.column}, last_part(path)}).second) return;
  Mistake mistake{file_, place.line, place.column, path, fault.found, fault.expected, fault.hint, {}};
  mistake.message = fmt::format("{}:{}:{}: {}: found {}, expected {}", file_, place.line, place.column,
                                path.empty() ? "(top level)" : path, fault.found, fault.expected);
  if (!fault.hint.empty()) mistake.message += "; " + fault.hint;
  mistakes_.push_back(std::move(mistake));
}

bool YamlReport::doubts(const std::string& path) const {
  if (wrong_.empty()) return false;
  if (full()) return true;
  for (size_t end = path.size(); end != std::string::npos && end > 0; end = path.find_last_of(".[", end - 1)) {
    if (is_wrong(path.substr(0, end))) return true;
  }
  const auto has_part = [&](const std::string& prefix) {
    const auto next = wrong_.lower_bound(prefix);
    return next != wrong_.end() && next->starts_with(prefix);
  };
  return has_part(path + ".") || has_part(path + "[");
}

std::vector<Mistake> YamlReport::mistakes() const {
  std::vector<Mistake> sorted = mistakes_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Mistake& one, const Mistake& other) {
    return std::pair(one.line, one.column) < std::pair(other.line, other.column);
  });
  return sorted;
}

Status YamlReport::status() const {
  if (ok()) return Status();
  const std::vector<Mistake> sorted = mistakes();
  tailrace::impl::Fault out;
  out.code = TAILRACE_INVALID_CONFIG;
  out.operation = "configure";
  out.file = file_;
  out.message = sorted.front().message;
  const size_t more = sorted.size() - 1;
  if (more > 0) {
    out.message += fmt::format(" (and {}{}: 'tailrace check' shows all)", full() ? "at least " : "",
                               counted(more, "more mistake"));
  }
  return Status(std::move(out));
}

std::string printable(std::string_view text, size_t most) {
  std::string result;
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Character next = first_character(text.substr(at));
    if (at + std::max<size_t>(next.bytes, 1) > most) break;
    const bool shown = next.bytes > 0 && !next.is_control();
    if (!shown) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at++]));
      continue;
    }
    result += text.substr(at, next.bytes);
    at += next.bytes;
  }
  return at < text.size() ? result + "…" : result;
}

std::string in_quotes(std::string_view text) { return fmt::format("'{}'", printable(text)); }

std::string one_of(const std::vector<std::string_view>& words) {
  constexpr size_t most = 32;  // more would not be read
  std::string result;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i == most) return fmt::format("{} or one of {} more", result, words.size() - most);
    if (i > 0) result += i + 1 == words.size() ? " or " : ", ";
    result += printable(words[i], words[i].size());
  }
  return result;
}

}  // namespace tailrace::impl
